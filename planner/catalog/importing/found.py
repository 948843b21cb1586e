"""What a reader finds in a source: cards, groups the source itself has, and what it could not read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from planner.catalog.model import Auth
from planner.text import clean


@dataclass(frozen=True, slots=True)
class Found:
    """One tool or skill, in the words of its source. `where`: the file, line or tool it came from."""

    name: str
    description: str
    where: str
    groups: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    auth: Auth = field(default_factory=Auth)
    model_tier: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """A group the source itself has."""

    name: str
    description: str = ""
    domains: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    native: bool = False
    surface: str = "neutral"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something a person should know: what was left out and why, or what was understood how."""

    where: str
    reason: str


@dataclass(slots=True)
class Source:
    """Everything a reader found. `refused`: could not be read, or says too little; `notes`: read, with a caveat."""

    label: str
    found: list[Found] = field(default_factory=list)
    groups: list[FoundGroup] = field(default_factory=list)
    refused: list[Remark] = field(default_factory=list)
    notes: list[Remark] = field(default_factory=list)

    def add(self, found: Found) -> None:
        """Takes a card in, unless it has no name or says nothing about itself."""
        if not found.name.strip():
            self.refused.append(Remark(found.where, "it has no name"))
        elif not found.description.strip():
            self.refused.append(Remark(found.where, f"{found.name} has no description"))
        else:
            self.found.append(found)


def one_line(value: object) -> str:
    """Text on one line, without control and invisible characters; empty for None and for what is no text."""
    return " ".join(clean(value).split()) if isinstance(value, str) else ""


def lines_of(value: object) -> tuple[str, ...]:
    """The distinct texts of a list, each on one line; a single text is a list of one."""
    items: Iterable[object] = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else ()
    return tuple(dict.fromkeys(line for item in items if (line := one_line(item))))
