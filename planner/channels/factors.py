"""Factors: what a judge fills in, and the complete tables scoring multiplies by the weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class GroupJudgement(NamedTuple):
    """Semantic factors of a group, each in 0..1, and why in a few words."""

    domain: float = 0.0
    scenario: float = 0.0
    reason: str = ""


class LeafJudgement(NamedTuple):
    """Semantic factors of a leaf, each in 0..1, and why in a few words."""

    scenario: float = 0.0
    keyword: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer, by group name and bare channel name; whatever is left out is 0. Names are not yet trusted.

    `explain`: works a reason out for a name when one is asked for, where giving one for every name would cost time.
    """

    groups: Mapping[str, GroupJudgement] = field(default_factory=dict)
    leaves: Mapping[str, LeafJudgement] = field(default_factory=dict)
    explain: Callable[[str], str] | None = None

    def reason(self, name: str) -> str:
        """Why the judge found this group or channel relevant; empty when it did not say."""
        if self.explain is not None:
            return self.explain(name)
        judged = self.leaves.get(name) or self.groups.get(name)
        return judged.reason if judged else ""


NO_GROUP = GroupJudgement()
NO_LEAF = LeafJudgement()


class GroupFactors(NamedTuple):
    """All factors of a group, each in 0..1 (rule SEL-4.1)."""

    domain: float
    scenario: float
    language: float
    priority: float
    recency: float


class LeafFactors(NamedTuple):
    """All factors of a leaf; each in 0..1 but auth, which is -0.5 when a key is missing (rule SEL-4.2)."""

    priority: float
    scenario: float
    keyword: float
    auth: float
    experience: float


class ScoredGroup(NamedTuple):
    """A group with its factors and score. `order` is the score that decides its place (history may lower it)."""

    name: str
    factors: GroupFactors
    score: float
    order: float


class ScoredLeaf(NamedTuple):
    """A leaf under the group it would be picked for."""

    channel: str
    group: str
    factors: LeafFactors
    score: float
