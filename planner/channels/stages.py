"""Stage 1 picks groups, stage 2 picks leaves inside them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.catalog.model import Group, Leaf
from planner.channels.factors import Judgement, ScoredGroup, ScoredLeaf
from planner.channels.limits import OVER_COST
from planner.channels.scoring import Context, score_leaf

TOLERANCE = 1e-9
OUTSIDE = "the question is outside its domain"


@dataclass(slots=True)
class Stage1:
    """The kept groups, best first; which of them came in by a hint; what was left out and why; warnings."""

    kept: list[ScoredGroup]
    hinted: str | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    skipped_leaves: dict[str, str] = field(default_factory=dict)
    adjustments: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def pick_groups(scored: Sequence[ScoredGroup], context: Context) -> Stage1:
    """Filter, keep the best that pass, then the guard, then the hint (rules SEL-5.1 to SEL-5.5)."""
    stage = Stage1(kept=[])
    open_groups = _filtered(scored, context, stage) or _revived(scored, stage)
    threshold = context.settings.selection.group_threshold - TOLERANCE
    ranked = sorted(open_groups, key=lambda g: (-g.order, -g.score))
    stage.kept = [g for g in ranked if g.score >= threshold][: context.limits.max_groups]
    if not stage.kept and ranked:
        stage.kept = _fallback(ranked, context, stage)
    _guard(ranked, context, stage)
    _hint(ranked, context, stage)
    return stage


def _filtered(scored: Sequence[ScoredGroup], context: Context, stage: Stage1) -> list[ScoredGroup]:
    natives = context.catalog.natives
    for leaf in context.catalog.leaves if context.limits.refuse_leaves else ():
        if leaf.is_channel and (reason := context.limits.leaf_refusal(leaf, leaf.channel in natives)):
            stage.skipped_leaves[leaf.channel] = reason
    kept = []
    for group in scored:
        if reason := _refusal(context.catalog.group_by_name[group.name], group, context, stage):
            stage.skipped[group.name] = reason
        else:
            kept.append(group)
    return kept


def _revived(scored: Sequence[ScoredGroup], stage: Stage1) -> list[ScoredGroup]:
    """When no group is left, those the user did not rule out: never an empty plan while a channel is allowed."""
    return [group for group in scored if stage.skipped.get(group.name) == OUTSIDE and stage.skipped.pop(group.name)]


def _refusal(group: Group, scored: ScoredGroup, context: Context, stage: Stage1) -> str | None:
    limits, chosen = context.limits, context.settings.selection
    members = context.catalog.members[group.name]
    if not members:
        return "holds no channel"
    if all(leaf.channel in limits.skip for leaf in members):
        return "all its channels are in channel_skip"
    if group.requires_domain_match and not any(leaf.channel in limits.priority for leaf in members):
        low = scored.factors.domain < chosen.domain_floor - TOLERANCE
        if low and scored.factors.scenario < chosen.scenario_floor - TOLERANCE:
            return OUTSIDE
    if limits.scope == "en_only" and group.native:
        return "native group, and only English is wanted"
    if limits.scope == "zh_only" and group.surface == "en":
        return "English group, and only Chinese is wanted"
    if all(leaf.channel in stage.skipped_leaves for leaf in members):
        return "none of its channels is allowed"
    return None


def _fallback(ranked: Sequence[ScoredGroup], context: Context, stage: Stage1) -> list[ScoredGroup]:
    threshold = context.settings.selection.group_threshold
    for group in ranked:
        if context.catalog.group_by_name[group.name].fallback:
            stage.adjustments.append(f"no group reached {threshold:g}: fell back to {group.name}")
            return [group]
    has_fallback = any(g.fallback for g in context.catalog.groups)
    best = list(ranked[: 1 if has_fallback else context.limits.max_groups])
    if not has_fallback:
        stage.warnings.append("nothing in the catalog matches the question: the picks are only the nearest there is")
    stage.adjustments.append(f"no group reached {threshold:g}: kept the best, {', '.join(g.name for g in best)}")
    return best


def _guard(ranked: Sequence[ScoredGroup], context: Context, stage: Stage1) -> None:
    """Chinese guard, group side (rule SEL-5.3): looks at scores, never at yield history."""
    limits, by_name = context.limits, context.catalog.group_by_name
    if not limits.guard or any(by_name[g.name].native for g in stage.kept):
        return
    natives = sorted((g for g in ranked if by_name[g.name].native), key=lambda g: -g.score)
    if not natives:
        return
    enough = [g for g in natives if _allowed_count(by_name[g.name], context, stage) >= limits.guard]
    best = (enough or natives)[0]
    if len(stage.kept) >= limits.max_groups:
        out = stage.kept.pop()
        stage.skipped[out.name] = f"gave its slot to {best.name} (Chinese guard)"
        stage.adjustments.append(f"{best.name} took the slot of {out.name} (Chinese guard)")
        if limits.max_groups == 1:
            stage.warnings.append(f"the Chinese guard took the only group slot for {best.name}")
    else:
        stage.adjustments.append(f"{best.name} was added (Chinese guard)")
    stage.kept.append(best)


def _allowed_count(group: Group, context: Context, stage: Stage1) -> int:
    return sum(leaf.channel not in stage.skipped_leaves for leaf in context.catalog.members[group.name])


def _hint(ranked: Sequence[ScoredGroup], context: Context, stage: Stage1) -> None:
    """Priority leaves that no kept group holds bring their best group in (rule SEL-5.4)."""
    by_name = context.catalog.group_by_name
    wanted = [c for c in context.limits.priority if c not in stage.skipped_leaves]
    if wanted and not any(c in by_name[g.name].members for g in stage.kept for c in wanted):
        holders = [g for g in ranked if any(c in by_name[g.name].members for c in wanted)]
        if holders:
            _take_slot(holders[0], context, stage)
    outside = [c for c in context.limits.priority if not any(c in by_name[g.name].members for g in stage.kept)]
    if outside:
        stage.warnings.append(f"channel_priority left outside the picked groups: {', '.join(outside)}")


def _take_slot(group: ScoredGroup, context: Context, stage: Stage1) -> None:
    if len(stage.kept) >= context.limits.max_groups:
        by_name = context.catalog.group_by_name
        others = [g for g in stage.kept if not by_name[g.name].native]
        if len(stage.kept) < 2 or not others:
            return
        out = others[-1]
        stage.kept.remove(out)
        stage.skipped[out.name] = f"gave its slot to {group.name} (channel_priority)"
        stage.adjustments.append(f"{group.name} took the slot of {out.name} (channel_priority)")
    else:
        stage.adjustments.append(f"{group.name} was added (channel_priority)")
    stage.hinted = group.name
    stage.kept.append(group)


@dataclass(slots=True)
class Stage2:
    """Picks in rank order, every candidate in order, fillers among the picks, and why candidates were passed over."""

    picks: list[ScoredLeaf]
    candidates: list[ScoredLeaf]
    fillers: set[str] = field(default_factory=set)
    passed_over: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def rank_key(context: Context, group_scores: Mapping[str, float]) -> Callable[[ScoredLeaf], tuple[Any, ...]]:
    """The total order of leaves: score, group score, place in channel_priority, prior, catalog order (rule SEL-6.1)."""
    ties = context.catalog.tie_breaks
    place = {channel: n for n, channel in enumerate(context.limits.priority)}
    last = len(place)
    # rounded, so that sums that differ in the last bit tie and the next key decides
    of_group = {name: -round(score, 9) for name, score in group_scores.items()}

    def key(leaf: ScoredLeaf) -> tuple[Any, ...]:
        channel = leaf.channel
        return -round(leaf.score, 9), of_group.get(leaf.group, 0.0), place.get(channel, last), ties[channel]

    return key


def candidates(
    groups: Sequence[ScoredGroup], judgement: Judgement, context: Context, stage: Stage1
) -> list[ScoredLeaf]:
    """Allowed leaves of these groups, each once, under its highest-scored group, in rank order."""
    key = rank_key(context, {g.name: g.score for g in groups})
    found: dict[str, ScoredLeaf] = {}
    for group in sorted(groups, key=lambda g: (g.name == stage.hinted, -g.score)):
        for leaf in context.catalog.members[group.name]:
            if leaf.channel not in found and leaf.channel not in stage.skipped_leaves:
                found[leaf.channel] = score_leaf(leaf, group.name, judgement.leaves[leaf.channel], context)
    return sorted(found.values(), key=key)


def has_evidence(leaf: ScoredLeaf, context: Context) -> bool:
    """Whether a leaf says anything for itself: priority, keyword, or enough scenario (rule SEL-6.2)."""
    factors = leaf.factors
    floor = context.settings.selection.evidence - TOLERANCE
    return factors.priority > 0 or factors.keyword > 0 or factors.scenario >= floor


def pick_leaves(ranked: Sequence[ScoredLeaf], context: Context, stage: Stage1) -> Stage2:
    """From the top up to the target, under the cost cap (rules SEL-6.1 to SEL-6.4)."""
    limits, minimum = context.limits, context.settings.selection.minimum_picks
    result = Stage2(picks=[], candidates=list(ranked))
    room = _hinted_room(ranked, context, stage)
    spent = 0.0
    for leaf in ranked:
        reason = _passed(leaf, context, stage, len(result.picks), room)
        cost = _leaf(leaf, context).cost_usd
        if reason is None and not limits.affordable(spent + cost):
            reason = OVER_COST
        if reason:
            result.passed_over[leaf.channel] = reason
            continue
        room -= leaf.group == stage.hinted
        spent += cost
        result.picks.append(leaf)
    _fill(result, min(minimum, limits.target), spent, context)
    if len(result.picks) < min(minimum, limits.target):
        found = f"only {len(result.picks)} channel(s)" if result.picks else "no channel"
        result.warnings.append(f"{found} could be picked: skips, filters and caps leave no more")
    return result


def _passed(leaf: ScoredLeaf, context: Context, stage: Stage1, picked: int, room: int) -> str | None:
    if picked >= context.limits.target:
        return f"the target of {context.limits.target} was reached"
    if leaf.group == stage.hinted and leaf.factors.priority == 0:
        return f"{leaf.group} was added for its channel_priority leaves only"
    if leaf.group == stage.hinted and room <= 0:
        return "the query's own groups fill the rest"
    if picked >= context.settings.selection.minimum_picks and not has_evidence(leaf, context):
        return "no evidence: no priority, no keyword, scenario too low"
    return None


def _hinted_room(ranked: Sequence[ScoredLeaf], context: Context, stage: Stage1) -> int:
    """How many leaves of the hinted group may be picked (rule SEL-6.3)."""
    target = context.limits.target
    own = sum(leaf.group != stage.hinted and has_evidence(leaf, context) for leaf in ranked)
    return max(1, target // 2, target - own)


def _fill(result: Stage2, wanted: int, spent: float, context: Context) -> None:
    for leaf in result.candidates:
        if len(result.picks) >= wanted:
            return
        cost = _leaf(leaf, context).cost_usd
        if leaf not in result.picks and context.limits.affordable(spent + cost):
            spent += cost
            result.picks.append(leaf)
            result.fillers.add(leaf.channel)
            result.passed_over.pop(leaf.channel, None)


def _leaf(scored: ScoredLeaf, context: Context) -> Leaf:
    return context.catalog.leaf_by_channel[scored.channel]
