"""Many terms without an automaton: windows of the text are looked up in a table. For catalogs of thousands of leaves,
where building an automaton would take longer than everything else; the cost grows with the text alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from planner.catalog.matcher import Match, term_end, untangled, wordy


def beginnings(terms: Iterable[str]) -> dict[str, int]:
    """First word, or first character that is none -> characters of the longest term that begins so."""
    found: dict[str, int] = {}
    for term in terms:
        first = _first(term, 0)
        found[first] = max(found.get(first, 0), len(term))
    return found


def _first(text: str, start: int) -> str:
    end = start + 1
    if wordy(text[start]):
        while end < len(text) and wordy(text[end]):
            end += 1
    return text[start:end]


class Lookup:
    """Finds what a Matcher over the same terms would. `longest`: see `beginnings`."""

    def __init__(self, terms: Container[str], longest: Mapping[str, int], strong: Container[str]) -> None:
        self._terms, self._longest, self._strong = terms, longest, strong

    def find(self, text: str) -> list[Match]:
        """Matches in text order, none overlapping another."""
        found = []
        starts, ends = _edges(text)
        longest = self._longest
        for start in starts:
            first = _first(text, start)
            reach = max(longest.get(first, 0), longest.get(first.removesuffix("s"), 0))
            for end in _within(ends, start + 1, start + reach) if reach else ():
                term = text[start:end]
                if term in self._terms and (stop := term_end(text, start, end)) is not None:
                    found.append(Match(start, stop, term))
        return untangled(found, self._strong)


def _edges(text: str) -> tuple[list[int], list[int]]:
    """Where a term may start, and where one may end: at the borders of words, and beside every CJK character."""
    word = [wordy(char) for char in text]
    size = len(text)
    starts = [at for at in range(size) if text[at] != " " and (not word[at] or at == 0 or not word[at - 1])]
    free = [at == size or not word[at] for at in range(size + 1)]
    ends = [at for at in range(1, size) if free[at] or not word[at - 1] or (text[at] == "s" and free[at + 1])]
    return starts, [*ends, size]


def _within(ends: list[int], low: int, high: int) -> Iterable[int]:
    from bisect import bisect_left, bisect_right

    return ends[bisect_left(ends, low) : bisect_right(ends, high)]
