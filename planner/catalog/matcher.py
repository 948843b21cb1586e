"""One automaton over many terms. Latin terms match on word boundaries that also hold beside CJK, CJK terms anywhere."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple


class Match(NamedTuple):
    """A term found at text[start:end]."""

    start: int
    end: int
    term: str


class Matcher:
    """Finds normalised terms in normalised text; the longest term wins where several overlap (rule SEL-4.6)."""

    def __init__(self, terms: Iterable[str], strong: Container[str] = ()) -> None:
        import ahocorasick

        self._strong = strong
        self._automaton: Any = ahocorasick.Automaton()
        count = 0
        for term in terms:
            self._automaton.add_word(term, term)
            count += 1
        if count:
            self._automaton.make_automaton()
        self._empty = count == 0

    def find(self, text: str) -> list[Match]:
        """Matches in text order, none overlapping another."""
        if self._empty:
            return []
        found = []
        for last, term in self._automaton.iter(text):
            if (end := term_end(text, last - len(term) + 1, last + 1)) is not None:
                found.append(Match(last - len(term) + 1, end, term))
        return untangled(found, self._strong)


def term_end(text: str, start: int, end: int) -> int | None:
    """Where the match ends, a plural s included; None when it stands inside another Latin word."""
    if wordy(text[start]) and start and wordy(text[start - 1]):
        return None
    if text[start] == "." and start and wordy(text[start - 1]):
        return None
    if not wordy(text[end - 1]) or end == len(text) or not wordy(text[end]):
        return end
    plural = text[end] == "s" and end - start >= 4 and (end + 1 == len(text) or not wordy(text[end + 1]))
    return end + 1 if plural else None


def wordy(char: str) -> bool:
    """Letters and digits of scripts that put spaces between words; CJK characters are not."""
    return char < "\u02b0" and (char.isalnum() or char == "_")


def untangled(found: list[Match], strong: Container[str]) -> list[Match]:
    """A match inside a longer one is dropped; of two that overlap in part a strong one stays, else the longer."""
    if len(found) < 2:
        return found
    outer: list[Match] = []
    for match in sorted(found, key=lambda m: (m.start, -m.end)):
        if not outer or match.end > outer[-1].end:
            outer.append(match)
    taken: list[Match] = []
    for match in sorted(outer, key=lambda m: (m.term not in strong, m.start - m.end, m.start)):
        at = bisect(taken, match)  # those taken do not overlap: only its neighbours can overlap it
        before, after = taken[at - 1 : at] if at else [], taken[at : at + 1]
        if all(o.end <= match.start for o in before) and all(o.start >= match.end for o in after):
            taken.insert(at, match)
    return taken


def term_table(entries: Iterable[tuple[str, Any]]) -> Mapping[str, list[Any]]:
    """Entries grouped by normalised term."""
    table: dict[str, list[Any]] = {}
    for term, entry in entries:
        bucket = table.setdefault(term, [])
        if entry not in bucket:
            bucket.append(entry)
    return table
