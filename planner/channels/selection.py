"""The two ways a plan comes about, step by step: picked by scores, or named by the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from planner.catalog.model import Leaf
from planner.channels.assembly import Outcome, assemble
from planner.channels.enforcement import Enforced, enforce
from planner.channels.factors import Judgement, ScoredGroup, ScoredLeaf
from planner.channels.limits import OVER_COST
from planner.channels.model import ChannelPlan
from planner.channels.scoring import Context, score_groups, score_leaf, trusted
from planner.channels.stages import Stage1, Stage2, candidates, pick_groups, pick_leaves
from planner.errors import InputError

Boost = Callable[[Sequence[Leaf], Context], frozenset[str]]


def select(judgement: Judgement, context: Context, warnings: Sequence[str], boost: Boost) -> ChannelPlan:
    """Stage 1, stage 2, enforcement. `boost` reads the digests of the leaves in picked groups."""
    judged = trusted(judgement, context)
    groups = score_groups(judged, context)
    stage1 = pick_groups(groups, context)
    scores = {g.name: g.score for g in groups}
    context = replace(context, boosted=boost(_members(stage1.kept, context), context))
    ranked = candidates(stage1.kept, judged, context, stage1)
    stage2 = pick_leaves(ranked, context, stage1)
    everything = _with_the_rest(ranked, groups, judged, context, stage1)
    pool = _pool(ranked, groups, judged, context, stage1)
    enforced = enforce(stage2.picks, pool, scores, context)
    return assemble(Outcome(judged, groups, stage1, stage2, enforced, everything), context, warnings)


def _members(kept: Sequence[ScoredGroup], context: Context) -> list[Leaf]:
    return list({leaf.channel: leaf for g in kept for leaf in context.catalog.members[g.name]}.values())


def _with_the_rest(
    ranked: Sequence[ScoredLeaf],
    groups: Sequence[ScoredGroup],
    judged: Judgement,
    context: Context,
    stage: Stage1,
) -> list[ScoredLeaf]:
    """Every allowed leaf by score: those of picked groups under them, the others under their best group left in."""
    inside = {leaf.channel for leaf in ranked}
    others = [g for g in groups if g.name not in {k.name for k in stage.kept} and g.name not in stage.skipped]
    rest = [leaf for leaf in candidates(others, judged, context, stage) if leaf.channel not in inside]
    return sorted([*ranked, *rest], key=lambda leaf: -leaf.score)


def _pool(
    ranked: Sequence[ScoredLeaf], groups: Sequence[ScoredGroup], judged: Judgement, context: Context, stage: Stage1
) -> list[ScoredLeaf]:
    """Leaves of picked groups, then natives under their native groups: the guard may need them."""
    if not context.limits.guard:
        return list(ranked)
    inside = {leaf.channel for leaf in ranked}
    by_name = context.catalog.group_by_name
    native = [g for g in groups if by_name[g.name].native and g.name not in stage.skipped]
    return [*ranked, *(x for x in candidates(native, judged, context, stage) if x.channel not in inside)]


def select_named(names: Sequence[str], judgement: Judgement, context: Context, warnings: Sequence[str]) -> ChannelPlan:
    """The channels the user named, in that order, neither judged nor re-ranked (rule SEL-3.3)."""
    wanted, notes = _known(names, context)
    judged = trusted(judgement, context)
    groups = score_groups(judged, context)
    scores = {g.name: g.score for g in groups}
    enforced = Enforced(picks=[])
    for channel in wanted:
        leaf = context.catalog.leaf_by_channel[channel]
        group = max(leaf.groups, key=lambda g: scores.get(g, 0.0), default="")
        _take(score_leaf(leaf, group, judged.leaves[channel], context), enforced, context)
    _guard_note(enforced, context)
    _unapplied_note(enforced, context)
    if not enforced.picks:
        enforced.warnings.append("nothing is left to search of explicit_channels")
    stage1 = Stage1(kept=[], skipped_leaves={c: "in channel_skip" for c in wanted if c in context.limits.skip})
    stage2 = Stage2(picks=list(enforced.picks), candidates=[])
    return assemble(Outcome(judged, groups, stage1, stage2, enforced, []), context, [*warnings, *notes])


def _known(names: Sequence[str], context: Context) -> tuple[list[str], list[str]]:
    found: dict[str, None] = {}
    unknown = []
    for name in names:
        channels = [c for c in context.catalog.channels_named(name) if context.catalog.leaf_by_channel[c].is_channel]
        found.update(dict.fromkeys(channels))
        if not channels:
            unknown.append(name)
    if not found:
        raise InputError(
            "explicit_channels", list(names), "at least one channel of the catalog (`planner catalog list`)"
        )
    return list(found), [f"explicit_channels: no channel is called {name!r}; it was ignored" for name in unknown]


def _take(leaf: ScoredLeaf, enforced: Enforced, context: Context) -> None:
    limits = context.limits
    spent = sum(context.catalog.leaf_by_channel[p.channel].cost_usd for p in enforced.picks)
    cost = context.catalog.leaf_by_channel[leaf.channel].cost_usd
    if leaf.channel in limits.skip:
        enforced.warnings.append(f"{leaf.channel} is in explicit_channels and in channel_skip: it was left out")
    elif len(enforced.picks) >= limits.max_channels:
        enforced.adjustments.append(f"left out {leaf.channel}: over the ceiling of {limits.max_channels} channels")
    elif not limits.affordable(spent + cost):
        enforced.removed[leaf.channel] = OVER_COST
        enforced.adjustments.append(f"left out {leaf.channel}: {OVER_COST}")
    else:
        enforced.picks.append(leaf)


def _unapplied_note(enforced: Enforced, context: Context) -> None:
    """Limits that the user's own choice of channels overrides are not overridden in silence."""
    limits, by_channel = context.limits, context.catalog.leaf_by_channel
    if len({leaf.group for leaf in enforced.picks}) > limits.max_groups:
        enforced.warnings.append(f"max_groups = {limits.max_groups} does not apply to explicit_channels")
    natives = context.catalog.natives
    outside = [x.channel for x in enforced.picks if limits.leaf_refusal(by_channel[x.channel], x.channel in natives)]
    if outside:
        told = f"languages = {limits.scope} does not apply to explicit_channels"
        enforced.warnings.append(f"{told}: kept {', '.join(outside)}")


def _guard_note(enforced: Enforced, context: Context) -> None:
    if not context.catalog.native_groups:
        return
    natives = context.catalog.natives
    held = sum(leaf.channel in natives for leaf in enforced.picks)
    enforced.quota_met = held >= context.limits.guard
    if not enforced.quota_met:
        enforced.warnings.append(
            f"{held} of {context.limits.guard} native channels, the question has Han: explicit_channels decide"
        )
