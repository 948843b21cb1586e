"""How likely searching a group pays, from the relevances of all leaves: one logistic regression a group.

x = [relevance of every leaf; relevance of each group's best and second leaf; the TOP highest relevances; what each
group holds of the discounted gain of the 8 best leaves; cues: language, named groups]; P = 1 / (1 + exp(-(b + w x))).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log2
from operator import mul
from typing import Any

TOP = 4
DEPTH = 8
DISCOUNTS = tuple(1 / log2(rank + 2) for rank in range(DEPTH))


def inputs_of(
    relevance: Sequence[float], cues: Sequence[str], members: Sequence[Sequence[int]], known: Mapping[str, int]
) -> list[float]:
    """The vector x; `members`: leaves of each group, `known`: cue -> place among the cues."""
    best = sorted(relevance, reverse=True)
    own = [[*sorted([relevance[leaf] for leaf in group], reverse=True)[:2], 0.0, 0.0] for group in members]
    flags = [0.0] * len(known)
    for cue in cues:
        if cue in known:
            flags[known[cue]] = 1.0
    return [
        *relevance,
        *(value for group in own for value in group[:2]),
        *best[:TOP],
        *_held(relevance, members),
        *flags,
    ]


def _held(relevance: Sequence[float], members: Sequence[Sequence[int]]) -> list[float]:
    ranked = sorted(range(len(relevance)), key=lambda leaf: -relevance[leaf])[:DEPTH]
    gain = {leaf: relevance[leaf] * discount for leaf, discount in zip(ranked, DISCOUNTS, strict=False)}
    return [sum(gain.get(leaf, 0.0) for leaf in group) for group in members]


class Payoff:
    """The regressions of a compiled record."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._members: list[list[int]] = record["members"]
        self._known = {cue: at for at, cue in enumerate(record["cues"])}
        self._models = list(zip(record["bias"], record["weights"], strict=True))

    def of(self, relevance: Sequence[float], cues: Sequence[str]) -> list[float]:
        """P for each group in the order fitted; 0 for one that was never worth searching."""
        x = inputs_of(relevance, cues, self._members, self._known)
        return [
            1.0 / (1.0 + exp(-(bias + sum(map(mul, weights, x))))) if weights else 0.0 for bias, weights in self._models
        ]
