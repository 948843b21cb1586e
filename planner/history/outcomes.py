"""What an agent reports about its searches: checked, and brought into the catalog's names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from planner.catalog.model import Catalog, Leaf
from planner.errors import InputError, nearest
from planner.sources.tracking import read
from planner.text import clean

EMPTY_FAILURES = frozenset({"empty", "empty_result", "empty_results", "no_results"})
MAX_OUTCOMES = 1_000
_REASON = re.compile(r"[\w.:\-]{1,80}")

Feedback = Literal["accepted", "rejected"]


def _count(value: object) -> object:
    if isinstance(value, bool | float):
        raise ValueError("a whole number from 0 to 1,000,000,000")
    return value


def _reason(value: object) -> object:
    if isinstance(value, str) and not _REASON.fullmatch(value):
        raise ValueError("a reason in one word of at most 80 characters, as in timeout_30s")
    return value


def _line(value: object) -> object:
    return " ".join(clean(value).split()) or None if isinstance(value, str) else value


class Outcome(BaseModel):
    """What one search of one channel gave.

    `channel`: any accepted spelling; `group`: under which it was picked, the first that holds it if None.
    `results`: how many. `failure`: why there are none, in one word; None: the channel answered.
    `pattern`: the way of asking that this speaks for or against. `feedback`: what the user or the rubric said of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    channel: str
    group: str | None = None
    results: Annotated[int, Field(ge=0, le=1_000_000_000), BeforeValidator(_count)] = 0
    failure: Annotated[str | None, BeforeValidator(_reason)] = None
    pattern: Annotated[Annotated[str, Field(max_length=300)] | None, BeforeValidator(_line)] = None
    feedback: Feedback | None = None

    @property
    def searched(self) -> bool:
        """Whether the channel was really searched: a failure is no search, unless it means an empty answer."""
        return self.failure is None or self.results > 0 or self.failure in EMPTY_FAILURES

    @property
    def succeeded(self) -> bool:
        """Whether there were results that nobody rejected."""
        return self.results > 0 and self.failure is None and self.feedback != "rejected"


def read_outcomes(given: Iterable[Outcome | Mapping[str, Any]], catalog: Catalog) -> tuple[Outcome, ...]:
    """The outcomes with bare channel names and their groups. Raises InputError that names the entry and the field."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError("outcomes", given, "a list of outcomes")
    listed = list(given)
    if not 1 <= len(listed) <= MAX_OUTCOMES:
        raise InputError("outcomes", f"{len(listed)} outcomes", f"1 to {MAX_OUTCOMES:,} of them")
    return tuple(
        _named(read(Outcome, item, f"outcomes.{n}"), catalog, f"outcomes.{n}") for n, item in enumerate(listed)
    )


def _named(outcome: Outcome, catalog: Catalog, at: str) -> Outcome:
    leaf = _leaf(outcome.channel, catalog, f"{at}.channel")
    group = outcome.group or leaf.groups[0]
    if group not in leaf.groups:
        raise InputError(f"{at}.group", group, ", ".join(leaf.groups))
    return outcome.model_copy(update={"channel": leaf.channel, "group": group})


def _leaf(name: str, catalog: Catalog, field: str) -> Leaf:
    found = catalog.channels_named(name)
    searchable = [leaf for c in found if (leaf := catalog.leaf_by_channel[c]).is_channel and leaf.groups]
    if len(searchable) == 1:
        return searchable[0]
    known = [leaf.channel for leaf in catalog.leaves if leaf.is_channel]
    hint = ", ".join(leaf.channel for leaf in searchable) or nearest(name, known)
    raise InputError(field, name, "a channel of the catalog" + (f"; did you mean {hint}?" if hint else ""))
