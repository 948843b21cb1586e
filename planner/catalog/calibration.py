"""Relevances of leaves → how well each group's domain and scenario fit, so that .4 falls where searching it pays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from planner.catalog.features import Features
from planner.catalog.model import Catalog

Knots = tuple[tuple[float, float], ...]
# What a group without a fitted payoff is worth. More than .05 for the second leaf, and among a hundred groups three
# with two fair leaves each keep the one with the best leaf out: .98 to .95 of recall@5 over 10,000 leaves.
BEST, SECOND = 0.95, 0.05

# (payoff or leaf relevance, factor), linear between. A group of the right surface passes .4 with a factor of .417, a
# neutral one with .542, one of another language with .667: steep there, so that what decides is the payoff, which
# already knows the language.
FITTED: Knots = ((0.0, 0.0), (0.21, 0.41), (0.25, 0.67), (1.0, 1.0))
UNFITTED: Knots = ((0.0, 0.0), (0.14, 0.41), (0.18, 0.67), (1.0, 1.0))


def group_factors(catalog: Catalog, features: Features, relevance: Sequence[float]) -> list[float]:
    """The factor of each group in 0..1, in catalog order; 0 for one without channels."""
    payoff = catalog.scorer.payoff(features, relevance)
    if payoff is not None:
        return [interpolated(p, FITTED) for p in payoff]
    index = catalog.leaf_index
    return [
        interpolated(_two_best([relevance[index[leaf.channel]] for leaf in catalog.members[group.name]]), UNFITTED)
        for group in catalog.groups
    ]


def _two_best(values: Sequence[float]) -> float:
    best = sorted(values, reverse=True)[:2]
    return sum(share * value for share, value in zip((BEST, SECOND), best, strict=False))


def interpolated(value: float, knots: Knots) -> float:
    """The monotone map through the knots, constant outside them."""
    for (x0, y0), (x1, y1) in pairwise(knots):
        if value <= x1:
            return y0 + (y1 - y0) * (max(value, x0) - x0) / (x1 - x0)
    return knots[-1][1]
