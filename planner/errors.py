"""The error tree. Everything a caller can be told is one of these; each knows the exit code of the command line.

PlannerError
├── InputError        exit 2: the request is wrong; names the field, what was given, what is accepted
│   └── MissingError         … because required fields were not given; names them all
├── CatalogError      exit 3: the catalog cannot be used at all
├── SettingsError     exit 3: the settings cannot be used
├── HistoryError      exit 1: outcome history cannot be written or read; plans go on without it
└── ReplayMiss        exit 1: a recording was asked for and is not there
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_SHOWN = 80
_SECRET = re.compile(
    r"(://)[^\s'\"]*@|((?:password|key|token|secret)=)[^\s&'\"]+|\b(sk-|AKIA)[A-Za-z0-9_-]{4,}", re.IGNORECASE
)


class PlannerError(Exception):
    """Base of all errors this package raises on purpose."""

    exit_code = 1


class InputError(PlannerError):
    """A request that cannot be planned. `field` is dotted (`scope.budget.max_channels`)."""

    exit_code = 2

    def __init__(self, field: str, given: object, accepted: str) -> None:
        self.field, self.given, self.accepted = field, shown(given), accepted
        super().__init__(field, self.given, accepted)

    def __str__(self) -> str:
        return f"{self.field}: got {self.given}; accepted: {self.accepted}"

    def call_fields(self, name: Callable[[str], str]) -> None:
        """Name fields as the caller knows them."""
        self.field = name(self.field)


class MissingError(InputError):
    """Required fields that were not given, all of them; `field` is the first. `missing`: field -> what is accepted."""

    def __init__(self, missing: Mapping[str, str]) -> None:
        self.missing = dict(missing)
        first = next(iter(self.missing))
        super().__init__(first, None, self.missing[first])

    def __str__(self) -> str:
        return "missing: " + "; ".join(f"{field} ({accepted})" for field, accepted in self.missing.items())

    def call_fields(self, name: Callable[[str], str]) -> None:
        """Name fields as the caller knows them."""
        super().call_fields(name)
        self.missing = {name(field): accepted for field, accepted in self.missing.items()}


class CatalogError(PlannerError):
    """The catalog folder is missing, or nothing in it can be used."""

    exit_code = 3


class SettingsError(PlannerError):
    """The settings file or a PLANNER_* variable is wrong. The message names the file or variable, field and value."""

    exit_code = 3


class HistoryError(PlannerError):
    """The store of outcome history cannot be written or read. The message holds no part of a database URL."""


class ReplayMiss(PlannerError):  # noqa: N818 - what happened, in the words of the field
    """No recorded answer fits the request; the message says what is nearest and how to record it."""


def shown(value: object) -> str:
    """A value as error messages show it: its repr, at most 80 characters, safe to print, no password of a URL."""
    try:
        text = repr(value)
    except Exception:  # nested too deeply, a number too long to print, a repr of the caller's that fails
        text = f"a {type(value).__name__} that cannot be shown"
    text = _SECRET.sub(r"\1\2\3…", text.encode("utf-8", "backslashreplace").decode("utf-8"))
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def nearest(word: str, known: list[str]) -> str | None:
    """The known word a user probably meant, or None."""
    from difflib import get_close_matches

    found = get_close_matches(word, known, n=1, cutoff=0.7)
    return found[0] if found else None
