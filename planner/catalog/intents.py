"""The query-intent lexicon: what a query wants and what it is about, by terms and patterns (rule SEL-4.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from planner.catalog.features import ends
from planner.catalog.matcher import Matcher
from planner.catalog.reading import Reading
from planner.text import normalise

SECTIONS = ("scenarios", "domains", "topics")
_LISTS = ("en", "zh", "other")
_CODE = "code"
_GATED = "?"
_FULL = 2  # terms of one intent from which its strength is 1


def intents_record(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The lexicon as the compiled file holds it: id -> normalised terms; `?id` for terms that need code context."""
    context = raw.get("code_context") or {}
    terms = {"": _terms(raw.get("shadow")), _CODE: _terms(context.get("terms"))}
    patterns = [[_CODE, pattern] for pattern in _flat(context.get("patterns"))]
    for section in SECTIONS:
        for name, entry in (raw.get(section) or {}).items():
            terms[name] = [term for key in _LISTS for term in _terms(entry.get(key))]
            terms[_GATED + name] = _terms(entry.get("code"))
            patterns += [[name, pattern] for pattern in _flat(entry.get("patterns"))]
    return {
        "scenarios": list(raw.get("scenarios") or {}),
        "terms": {name: list(dict.fromkeys(found)) for name, found in terms.items() if found},
        "patterns": patterns,
    }


class Intents:
    """Reads intents out of normalised text. Immutable; its cost grows with the text, not with the lexicon."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._scenarios = frozenset(record.get("scenarios", ()))
        self._meanings: dict[str, list[str]] = {}
        for name, terms in record.get("terms", {}).items():
            for term in terms:
                meanings = self._meanings.setdefault(term, [])
                if name:
                    meanings.append(name)
        self._ids = frozenset(record.get("terms", ())) - {"", _CODE}
        self._matcher = Matcher(self._meanings)
        self._patterns = [(name, re.compile(pattern)) for name, pattern in record.get("patterns", ())]

    def read(self, reading: Reading) -> dict[str, Any]:
        """The fields of a reading that the lexicon fills: `intents` and `wanted`."""
        wanted = self.wanted(ends(reading.text))
        return {
            "intents": {name: min(1.0, len(t) / _FULL) for name, t in wanted.items() if name in self._scenarios},
            "wanted": wanted,
        }

    def knows(self, name: str) -> bool:
        """Whether it is the id of an intent, domain or topic."""
        return name in self._ids

    def wanted(self, text: str) -> dict[str, tuple[str, ...]]:
        """Id of every intent, domain and topic in a normalised text -> the terms that showed it, each once."""
        found: dict[str, dict[str, None]] = {}
        for match in self._matcher.find(text):
            for name in self._meanings[match.term]:
                found.setdefault(name, {})[match.term] = None
        for name, pattern in self._patterns:
            if hit := pattern.search(text):
                found.setdefault(name, {})[hit.group().strip()] = None
        code = _CODE in found or "software" in found
        for name in [n for n in found if n.startswith(_GATED)]:
            terms = found.pop(name)
            if code:
                found.setdefault(name[len(_GATED) :], {}).update(terms)
        return {name: tuple(terms) for name, terms in found.items()}


def _terms(value: object) -> list[str]:
    return [" ".join(normalise(term).split()) for term in _flat(value)]


def _flat(value: object) -> Iterable[str]:
    """Terms of a string, a list, or a list of lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Iterable):
        for item in value:
            yield from _flat(item)
