"""A lexicon whose tables come out of a pack, each record made when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.catalog.lexicon import Lexicon, Names, by_start
from planner.catalog.lookup import Lookup
from planner.catalog.model import Leaf
from planner.catalog.naming import Cues


class ByChannel(Mapping[str, Leaf]):
    """Leaves by bare channel name."""

    def __init__(self, leaves: Sequence[Leaf], places: Mapping[str, int]) -> None:
        self._leaves, self._places = leaves, places

    def __getitem__(self, channel: str) -> Leaf:
        return self._leaves[self._places[channel]]

    def __contains__(self, channel: object) -> bool:
        return channel in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _PackedNames(Mapping[str, Names]):
    """Term -> what it names; the records are made when they are asked for."""

    def __init__(self, head: Mapping[str, Any]) -> None:
        self._channels, self._plain, self._cued = head["channels"], head["names"], head["cued"]
        self._families = head["families"]

    def __contains__(self, term: object) -> bool:
        return term in self._cued or term in self._plain or term in self._families

    def __getitem__(self, term: str) -> Names:
        if (at := self._cued.get(term)) is not None:
            return Names((self._channels[at],), None, family=False, cued=True)
        if (at := self._plain.get(term)) is not None:
            return Names((self._channels[at],), None, family=False)
        channels, group = self._families[term]
        return Names(tuple(channels), group, family=True)

    def __iter__(self) -> Iterator[str]:
        yield from self._plain
        yield from self._cued
        yield from self._families

    def __len__(self) -> int:
        return len(self._plain) + len(self._cued) + len(self._families)


class _Known:
    """The terms of two tables."""

    def __init__(self, names: _PackedNames, soft: Mapping[str, Any]) -> None:
        self._names, self._soft = names, soft

    def __contains__(self, term: object) -> bool:
        return term in self._names or term in self._soft


class _GroupsOf(Mapping[str, tuple[str, ...]]):
    def __init__(self, leaves: Mapping[str, Leaf]) -> None:
        self._leaves = leaves

    def __getitem__(self, channel: str) -> tuple[str, ...]:
        return self._leaves[channel].groups

    def __iter__(self) -> Iterator[str]:
        return iter(self._leaves)

    def __len__(self) -> int:
        return len(self._leaves)


class LargeLexicon(Lexicon):
    """A lexicon whose tables come out of a pack."""

    def __init__(self, head: Mapping[str, Any], leaves: Mapping[str, Leaf], cues: Cues) -> None:
        self._cues = cues
        self._groups_of = _GroupsOf(leaves)
        self._names = names = _PackedNames(head)
        self._terms = head["soft"]
        self._matcher = Lookup(_Known(names, head["soft"]), head["longest"], strong=names)
        self._hosts = head["hosts"]
        self._patterns = [(re.compile(pattern), channel) for pattern, channel in head["patterns"]]
        self._spellings = by_start(head["spellings"])
