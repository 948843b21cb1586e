"""Graded relevance of leaves at run time, in pure Python: one small interface, two scorers behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from planner.catalog.compiled import LEARNED
from planner.catalog.features import Features
from planner.catalog.model import Leaf


class Evidence(NamedTuple):
    """A feature that spoke for a leaf, and by how much of the relevance scale (0..1)."""

    feature: str
    weight: float


class Scorer(Protocol):
    """How relevant each leaf is to a query."""

    def relevance(self, features: Features) -> list[float]:
        """About the expected grade / 3 of each leaf, in 0..1, in catalog order."""
        ...

    def payoff(self, features: Features, relevance: Sequence[float]) -> list[float] | None:
        """How likely searching each group pays, in 0..1, in catalog order; None: read it off the best leaves."""
        ...

    def evidence(self, leaf: int, features: Features, limit: int) -> list[Evidence]:
        """The features that carried a leaf most, heaviest first; only those that spoke for it."""
        ...


def scorer_from(record: Mapping[str, Any], leaves: Sequence[Leaf]) -> Scorer:
    """The scorer a compiled record holds; one fitted on other leaves is not used."""
    channels = [leaf.channel for leaf in leaves]
    if record.get("kind") == LEARNED and record["channels"] == channels:
        from planner.catalog.learned import LearnedScorer

        return LearnedScorer(record)
    from planner.catalog.postings import PostingsScorer

    return PostingsScorer(record, len(channels))
