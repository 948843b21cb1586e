"""Everything the steps found → the plan a caller gets: scores to 4 decimals, rationales, what was left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.channels.enforcement import Enforced
from planner.channels.factors import GroupFactors, Judgement, LeafFactors, ScoredGroup, ScoredLeaf
from planner.channels.limits import OVER_COST
from planner.channels.model import ChannelPick, ChannelPlan, GroupPick, RunnerUp
from planner.channels.scoring import Context
from planner.channels.stages import Stage1, Stage2

_RUNNERS_UP = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the steps produced, in their order. `everything`: all allowed leaves in rank order, picked or not."""

    judgement: Judgement
    groups: Sequence[ScoredGroup]
    stage1: Stage1
    stage2: Stage2
    enforced: Enforced
    everything: Sequence[ScoredLeaf]


def assemble(outcome: Outcome, context: Context, warnings: Sequence[str]) -> ChannelPlan:
    """The plan without measurements (rule SEL-8.1)."""
    picks = outcome.enforced.picks
    listed = {leaf.group for leaf in picks}
    groups = [g for g in sorted(outcome.groups, key=lambda g: -g.score) if g.name in listed]
    empty = {g.name: "kept, but none of its channels was picked" for g in outcome.stage1.kept if g.name not in listed}
    reasons = _skip_reasons(outcome, context)
    catalog = context.catalog
    return ChannelPlan(
        groups=tuple(_group_pick(g, outcome, context) for g in groups),
        channels=tuple(_channel_pick(leaf, outcome, context) for leaf in picks),
        chinese_native_quota_met=outcome.enforced.quota_met,
        skipped_groups=tuple(outcome.stage1.skipped),
        skipped_channels=tuple(n for n in reasons if n not in outcome.stage1.skipped),
        skip_reasons=dict(outcome.stage1.skipped) | empty | reasons,
        runners_up=tuple(_runners_up(outcome, context)),
        adjustments=(
            *outcome.stage1.adjustments,
            *outcome.enforced.adjustments,
            *_named_and_left_out(outcome, context),
        ),
        warnings=tuple(
            dict.fromkeys([*warnings, *outcome.stage1.warnings, *outcome.stage2.warnings, *outcome.enforced.warnings])
        ),
        total_cost_usd=round(sum(catalog.leaf_by_channel[leaf.channel].cost_usd for leaf in picks), 6),
        catalog_version=catalog.version,
    )


def _skip_reasons(outcome: Outcome, context: Context) -> dict[str, str]:
    """Skill name -> why a filter, skip, cap or the guard removed it."""
    picked = {leaf.channel for leaf in outcome.enforced.picks}
    over = {c: why for c, why in outcome.stage2.passed_over.items() if why == OVER_COST}
    removed = {**outcome.stage1.skipped_leaves, **over, **outcome.enforced.removed}
    names = context.catalog.leaf_by_channel
    return {names[c].name: why for c, why in removed.items() if c in names and c not in picked}


def _named_and_left_out(outcome: Outcome, context: Context) -> list[str]:
    """Channels that the question names and the plan lacks: the reader must not have to look for why."""
    picked = {leaf.channel for leaf in outcome.enforced.picks}
    known = {**outcome.stage2.passed_over, **outcome.stage1.skipped_leaves, **outcome.enforced.removed}
    return [
        f"left out {channel}, which the question names: {known[channel]}"
        for channel in context.reading.named
        if channel not in picked and channel in known
    ]


def _group_pick(group: ScoredGroup, outcome: Outcome, context: Context) -> GroupPick:
    found = []
    if group.name in context.reading.named_groups:
        found.append("the question names " + ", ".join(_names_in(group.name, context)))
    elif reason := outcome.judgement.reason(group.name):
        found.append(reason)
    if group.name == outcome.stage1.hinted or group.factors.priority:
        found.append("holds channel_priority leaves")
    return GroupPick(
        name=group.name,
        score=round(group.score, 4),
        rationale="; ".join([*found, factor_line(group.factors)]),
        factors=rounded(group.factors),
    )


def _names_in(group: str, context: Context) -> list[str]:
    members = context.catalog.group_by_name[group].members
    named = [c for c in context.reading.named if c in members]
    return named + [alias for alias, family in context.reading.families.items() if set(family) & set(members)]


def _channel_pick(leaf: ScoredLeaf, outcome: Outcome, context: Context) -> ChannelPick:
    record, env = context.catalog.leaf_by_channel[leaf.channel], context.limits.env
    return ChannelPick(
        name=record.name,
        channel=record.channel,
        group=leaf.group,
        score=round(leaf.score, 4),
        model_tier=record.model_tier,
        auth=record.auth.label(env),
        rationale="; ".join([*_reasons(leaf, outcome, context), factor_line(leaf.factors)]),
        factors=rounded(leaf.factors),
        cost_usd=record.cost_usd,
        runnable=record.auth.satisfied(env),
    )


def _reasons(leaf: ScoredLeaf, outcome: Outcome, context: Context) -> list[str]:
    found = []
    if leaf.factors.priority:
        found.append("in channel_priority")
    terms = context.reading.keywords.get(leaf.channel, ())
    if leaf.channel in context.reading.named:
        found.append(f"the question names it ({', '.join(terms)})")
    elif leaf.factors.keyword and terms:
        found.append(f"keyword {', '.join(terms)}")
    if reason := outcome.judgement.reason(leaf.channel):
        found.append(reason)
    if leaf.factors.experience:
        found.append("a recent rule of its experience digest fits")
    if leaf.channel in outcome.stage2.fillers:
        found.append("filler: too few channels spoke for themselves")
    if leaf.channel in outcome.enforced.guarded:
        found.append("added by the Chinese guard")
    return found


def _runners_up(outcome: Outcome, context: Context) -> list[RunnerUp]:
    picked = {leaf.channel for leaf in outcome.enforced.picks}
    rest = [leaf for leaf in outcome.everything if leaf.channel not in picked]
    known = {**outcome.stage2.passed_over, **outcome.enforced.removed}
    return [
        RunnerUp(
            name=context.catalog.leaf_by_channel[leaf.channel].name,
            channel=leaf.channel,
            group=leaf.group,
            score=round(leaf.score, 4),
            kept_out_by=known.get(leaf.channel) or _not_picked(leaf, outcome),
            factors=rounded(leaf.factors),
        )
        for leaf in rest[:_RUNNERS_UP]
    ]


def _not_picked(leaf: ScoredLeaf, outcome: Outcome) -> str:
    group = next(g for g in outcome.groups if g.name == leaf.group)
    return f"its group {group.name} ({group.score:.2f}) was not picked"


def rounded(factors: GroupFactors | LeafFactors) -> dict[str, float]:
    """Factors by name, to 4 decimals."""
    return {name: round(value, 4) for name, value in zip(factors._fields, factors, strict=True)}


def factor_line(factors: GroupFactors | LeafFactors) -> str:
    """The factors that count, in words: `scenario 0.62, auth 1`."""
    shown = [f"{name} {value:.2g}" for name, value in zip(factors._fields, factors, strict=True) if value]
    return ", ".join(shown) or "no factor speaks for it"
