"""score = Σ weight × factor, for every judge alike. Judges fill in the semantic factors; the rest is computed here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul

from planner.catalog.model import Catalog, Group, Leaf
from planner.catalog.reading import Reading
from planner.channels.factors import (
    NO_GROUP,
    NO_LEAF,
    GroupFactors,
    GroupJudgement,
    Judgement,
    LeafFactors,
    LeafJudgement,
    ScoredGroup,
    ScoredLeaf,
)
from planner.channels.limits import Limits, speaks
from planner.settings import Settings


@dataclass(frozen=True, slots=True)
class Context:
    """What scoring knows besides the judgement.

    `boosted`: channels whose digest has a recent Active Rule that matches. `empty_sessions`: group -> consecutive
    sessions in which it was searched and yielded nothing.
    """

    reading: Reading
    limits: Limits
    catalog: Catalog
    settings: Settings
    boosted: frozenset[str] = frozenset()
    empty_sessions: Mapping[str, int] | None = None

    def after_paying(self, cost_usd: float | None) -> Context:
        """With what is left of `max_cost_usd` once the planning call is paid; an unknown cost takes nothing."""
        if not cost_usd or self.limits.max_cost_usd is None:
            return self
        left = max(0.0, self.limits.max_cost_usd - cost_usd)
        return replace(self, limits=replace(self.limits, max_cost_usd=left))


def unit(value: object) -> float:
    """A judge's number as a factor in 0..1; what is not a finite number is 0."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return min(1.0, max(0.0, float(value)))


def _is_unit(value: object) -> bool:
    return type(value) is float and 0.0 <= value <= 1.0


def trusted(judgement: Judgement, context: Context) -> Judgement:
    """The judgement with numbers clamped and the naming rule applied, which no judge can overrule (rule SEL-4.4)."""
    catalog, reading = context.catalog, context.reading
    groups = {g.name: _clean_group(judgement.groups.get(g.name, NO_GROUP)) for g in catalog.groups}
    leaves = {x.channel: _clean_leaf(judgement.leaves.get(x.channel, NO_LEAF)) for x in catalog.leaves}
    named = named_channels(reading, leaves)
    if not named and not reading.named_groups:
        return Judgement(groups, leaves, judgement.explain)
    damping = context.settings.selection.named_damping
    return Judgement(
        {name: _named_group(j, name in reading.named_groups, damping) for name, j in groups.items()},
        {channel: _named_leaf(j, channel in named, damping) for channel, j in leaves.items()},
        judgement.explain,
    )


def named_channels(reading: Reading, leaves: Mapping[str, LeafJudgement]) -> dict[str, None]:
    """Channels named by the query; of a family, the one the judge finds most relevant."""
    named = dict.fromkeys(reading.named)
    for members in reading.families.values():
        if named.keys().isdisjoint(members):
            named[max(members, key=lambda m: (leaves.get(m, NO_LEAF).scenario, -members.index(m)))] = None
    return named


def _clean_group(given: GroupJudgement) -> GroupJudgement:
    if _is_unit(given[0]) and _is_unit(given[1]):
        return given
    return GroupJudgement(unit(given.domain), unit(given.scenario), given.reason)


def _clean_leaf(given: LeafJudgement) -> LeafJudgement:
    if _is_unit(given[0]) and _is_unit(given[1]):
        return given
    return LeafJudgement(unit(given.scenario), unit(given.keyword), given.reason)


def _named_group(given: GroupJudgement, named: bool, damping: float) -> GroupJudgement:
    if named:
        return GroupJudgement(1.0, 1.0, given.reason)
    return GroupJudgement(given.domain * damping, given.scenario * damping, given.reason)


def _named_leaf(given: LeafJudgement, named: bool, damping: float) -> LeafJudgement:
    if named:
        return LeafJudgement(1.0, 1.0, given.reason)
    return LeafJudgement(given.scenario * damping, 0.0, given.reason)


def weighted(weights: Sequence[float], factors: Sequence[float]) -> float:
    """Σ weight × factor, never below 0; unrounded. Both in the order of the factor's fields."""
    return max(0.0, math.fsum(map(mul, weights, factors)))


def score_groups(judgement: Judgement, context: Context) -> list[ScoredGroup]:
    """All groups in catalog order, with factors, score and the score that orders them (rules SEL-4.1, SEL-5.1)."""
    return [_score_group(group, judgement.groups[group.name], context) for group in context.catalog.groups]


def _score_group(group: Group, judged: GroupJudgement, context: Context) -> ScoredGroup:
    limits, history = context.limits, context.settings.history
    held = len(set(limits.priority).intersection(group.members)) if limits.priority else 0
    factors = GroupFactors(
        domain=judged.domain,
        scenario=judged.scenario,
        language=speaks(group, limits),
        priority=held / len(limits.priority) if held else 0.0,
        recency=float(group.recency_sensitive and limits.fresh),
    )
    score = weighted(context.settings.selection.group_weights.in_order, factors)
    demoted = (context.empty_sessions or {}).get(group.name, 0) >= history.empty_sessions
    return ScoredGroup(group.name, factors, score, score * (history.demotion if demoted else 1.0))


def score_leaf(leaf: Leaf, group: str, judged: LeafJudgement, context: Context) -> ScoredLeaf:
    """A leaf under a group (rule SEL-4.2)."""
    chosen = context.settings.selection
    factors = LeafFactors(
        priority=float(leaf.channel in context.limits.priority),
        scenario=judged.scenario,
        keyword=judged.keyword,
        auth=1.0 if leaf.auth.satisfied(context.limits.env) else chosen.auth_missing,
        experience=chosen.experience_boost if leaf.channel in context.boosted else 0.0,
    )
    return ScoredLeaf(leaf.channel, group, factors, weighted(chosen.leaf_weights.in_order, factors))
