"""A scorer that finds the few relevant leaves among many, and one for the small catalog cut to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.catalog.features import Features
from planner.catalog.pack import PackedTerms
from planner.catalog.postings import HALF, UNIT, affordable, length_of, looked_up
from planner.catalog.scorer import Evidence

SHOWN = "wbd"  # kinds of terms a person can read: words, pairs, CJK pairs


_Found = tuple[list[tuple[str, float, list[int]]], float]


class SparseScorer:
    """As a PostingsScorer scores, but it answers with the leaves it found instead of with a number for every leaf."""

    def __init__(self, terms: PackedTerms, leaves: int) -> None:
        self._terms, self._n = terms, leaves
        self._last: tuple[str, _Found] | None = None

    def relevance(self, features: Features) -> list[float]:
        """See Scorer."""
        found = self.sparse(features.text)
        return [found.get(place, 0.0) for place in range(self._n)]

    def payoff(self, features: Features, relevance: Sequence[float]) -> list[float] | None:
        """See Scorer: nothing was fitted."""
        return None

    def sparse(self, text: str) -> dict[int, float]:
        """Place -> relevance in 0..1 of every leaf that shares a term with a normalised text."""
        found, norm = self._found(text)
        total: dict[int, float] = {}
        for _, query_weight, rows in found:
            places = iter(rows)
            for place, share in zip(places, places, strict=True):
                total[place] = total.get(place, 0.0) + query_weight * share
        scale = HALF * UNIT * norm
        return {place: s / (s + scale) for place, s in total.items()}

    def _found(self, text: str) -> _Found:
        """What was found last is kept, for a query is explained leaf by leaf."""
        last = self._last
        if last is None or last[0] != text:
            asked = looked_up(text)
            known = [(term, *at) for term in asked if (at := self._terms.find(term))]
            norm = length_of(asked, {term: weight for term, weight, _ in known}, self._n)
            found = [(term, weight, self._terms.postings(at)) for term, weight, at in affordable(known)]
            self._last = last = (text, (found, norm))
        return last[1]

    def evidence(self, leaf: int, features: Features, limit: int) -> list[Evidence]:
        """Terms by their share of the cosine."""
        found, norm = self._found(features.text)
        shares = []
        for term, query_weight, rows in found:
            if term[0] in SHOWN and leaf in (places := rows[::2]):
                held = rows[2 * places.index(leaf) + 1]
                shares.append(Evidence(term[1:].strip(), query_weight * held / (UNIT * norm)))
        best: dict[str, Evidence] = {}
        for share in sorted(shares, key=lambda e: (-e.weight, e.feature)):
            best.setdefault(share.feature, share)
        return list(best.values())[:limit]


class Shortlisted:
    """The scorer of a cut catalog: what was found for the query already, in the order of its leaves."""

    def __init__(self, whole: SparseScorer, places: Sequence[int], text: str, found: Mapping[int, float]) -> None:
        self._whole, self._places, self._text, self._known = whole, places, text, found

    def relevance(self, features: Features) -> list[float]:
        """See Scorer."""
        found = self._known if features.text == self._text else self._whole.sparse(features.text)
        return [found.get(place, 0.0) for place in self._places]

    def payoff(self, features: Features, relevance: Sequence[float]) -> list[float] | None:
        """See Scorer: nothing was fitted."""
        return None

    def evidence(self, leaf: int, features: Features, limit: int) -> list[Evidence]:
        """See Scorer."""
        return self._whole.evidence(self._places[leaf], features, limit)
