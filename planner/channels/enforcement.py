"""Enforcement: after any judge, the quota and the caps hold. Every change is written down in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from planner.channels.factors import ScoredLeaf
from planner.channels.limits import OVER_COST
from planner.channels.scoring import Context
from planner.channels.stages import has_evidence, rank_key

_MAX_NATIVES_TRIED = 40  # a catalog may hold thousands; the best and the cheapest are enough to find a fitting set


@dataclass(slots=True)
class Enforced:
    """The final picks in rank order; removed channels and why; natives the guard added; changes in words; the quota."""

    picks: list[ScoredLeaf]
    guarded: set[str] = field(default_factory=set)
    removed: dict[str, str] = field(default_factory=dict)
    adjustments: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    quota_met: bool | None = None


def enforce(
    draft: Sequence[ScoredLeaf], pool: Sequence[ScoredLeaf], group_scores: dict[str, float], context: Context
) -> Enforced:
    """The draft made to hold rules SEL-7.1 to SEL-7.5.

    `draft`: the picks so far, best first; not trusted. `pool`: every leaf that may be picked, under its best group,
    those of picked groups first in rank order.
    """
    result = Enforced(picks=[])
    clean = _known_and_allowed(draft, pool, result)
    natives = context.catalog.natives
    order = _native_order(clean, pool, natives, group_scores, context) if context.limits.guard else []
    reserved = _reserved(order, context)
    wanted = min(len(draft), context.limits.target)
    picks = _filled(reserved, clean, pool, wanted, context)
    _explain(clean, picks, reserved, natives, context, result)
    result.picks = sorted(picks, key=rank_key(context, group_scores))
    _quota(result, pool, natives, context)
    return result


def _known_and_allowed(draft: Sequence[ScoredLeaf], pool: Sequence[ScoredLeaf], result: Enforced) -> list[ScoredLeaf]:
    allowed = {leaf.channel: leaf for leaf in pool}
    kept: dict[str, ScoredLeaf] = {}
    for leaf in draft:
        if leaf.channel in kept:
            result.adjustments.append(f"dropped a second {leaf.channel}")
        elif leaf.channel not in allowed:
            result.adjustments.append(f"dropped {leaf.channel}: not in the catalog, or not allowed")
        else:
            kept[leaf.channel] = leaf
    return list(kept.values())


def _reserved(order: Sequence[ScoredLeaf], context: Context) -> list[ScoredLeaf]:
    """The natives that must be in: as many as quota and caps allow, the first of `order` first (rule SEL-7.3)."""
    for count in range(min(context.limits.guard, context.limits.target, len(order)), 0, -1):
        for chosen in combinations(order, count):
            groups = {leaf.group for leaf in chosen}
            if len(groups) <= context.limits.max_groups and context.limits.affordable(_cost(chosen, context)):
                return list(chosen)
    return []


def _native_order(
    clean: Sequence[ScoredLeaf],
    pool: Sequence[ScoredLeaf],
    natives: frozenset[str],
    group_scores: dict[str, float],
    context: Context,
) -> list[ScoredLeaf]:
    """Natives that may be in: those already picked, then the best of the others."""
    inside = [leaf for leaf in clean if leaf.channel in natives]
    known = {leaf.channel for leaf in inside}
    by_name = context.catalog.group_by_name
    key = rank_key(context, group_scores)

    def best_first(leaf: ScoredLeaf) -> tuple[object, ...]:
        native_group = by_name[leaf.group].native
        return (not native_group, -group_scores.get(leaf.group, 0.0), not _runnable(leaf, context), key(leaf))

    others = sorted((x for x in pool if x.channel in natives and x.channel not in known), key=best_first)
    if len(inside) + len(others) <= _MAX_NATIVES_TRIED:
        return inside + others
    cheapest = sorted(others, key=lambda x: context.catalog.leaf_by_channel[x.channel].cost_usd)[:8]
    return inside + list(dict.fromkeys([*others[:_MAX_NATIVES_TRIED], *cheapest]))


def _runnable(leaf: ScoredLeaf, context: Context) -> bool:
    return context.catalog.leaf_by_channel[leaf.channel].auth.satisfied(context.limits.env)


def _cost(leaves: Sequence[ScoredLeaf], context: Context) -> float:
    return sum(context.catalog.leaf_by_channel[leaf.channel].cost_usd for leaf in leaves)


def _filled(
    reserved: Sequence[ScoredLeaf],
    clean: Sequence[ScoredLeaf],
    pool: Sequence[ScoredLeaf],
    wanted: int,
    context: Context,
) -> list[ScoredLeaf]:
    """Reserved natives, then the draft in order, then the next best of the picked groups, while the caps allow it."""
    limits, minimum = context.limits, context.settings.selection.minimum_picks
    picks = list(reserved)

    def fits(leaf: ScoredLeaf) -> bool:
        groups = {pick.group for pick in picks} | {leaf.group}
        room = len(picks) < limits.target and leaf not in picks and len(groups) <= limits.max_groups
        return room and limits.affordable(_cost([*picks, leaf], context))

    for leaf in clean:
        if fits(leaf):
            picks.append(leaf)
    listed = {leaf.group for leaf in [*clean, *picks]}
    for leaf in pool:
        speaks = has_evidence(leaf, context) or len(picks) < minimum
        if len(picks) < wanted and leaf.group in listed and speaks and fits(leaf):
            picks.append(leaf)
    return picks


def _explain(
    clean: Sequence[ScoredLeaf],
    picks: Sequence[ScoredLeaf],
    reserved: Sequence[ScoredLeaf],
    natives: frozenset[str],
    context: Context,
    result: Enforced,
) -> None:
    before = {leaf.channel for leaf in clean}
    after = {leaf.channel for leaf in picks}
    result.guarded = {leaf.channel for leaf in reserved if leaf.channel not in before}
    over_cost = not context.limits.affordable(_cost(clean, context))
    for leaf in clean:
        if leaf.channel not in after:
            why = OVER_COST if over_cost else "replaced by a native channel (Chinese guard)"
            result.removed[leaf.channel] = why
            result.adjustments.append(f"removed {leaf.channel}: {why}")
    for leaf in picks:
        if leaf.channel in result.guarded:
            result.adjustments.append(
                f"added {leaf.channel}: native channel, the question has Han characters (Chinese guard)"
            )
        elif leaf.channel not in before:
            result.adjustments.append(f"added {leaf.channel}: filled a freed slot")


def _quota(result: Enforced, pool: Sequence[ScoredLeaf], natives: frozenset[str], context: Context) -> None:
    limits = context.limits
    if not context.catalog.native_groups:
        return
    wanted = context.settings.guard.native_minimum
    inside = [leaf for leaf in result.picks if leaf.channel in natives]
    if not context.reading.han or not limits.guard:
        result.quota_met = True
        return
    result.quota_met = len(inside) >= wanted
    if not result.quota_met:
        result.warnings.append(
            f"{len(inside)} of {wanted} native channels for a question with Han characters: "
            f"{_stopped_by(pool, natives, context)}"
        )
    runnable = sum(_runnable(leaf, context) for leaf in inside)
    if result.quota_met and runnable < wanted:
        result.warnings.append(f"only {runnable} of {wanted} native channels can run: the others' keys are missing")


def _stopped_by(pool: Sequence[ScoredLeaf], natives: frozenset[str], context: Context) -> str:
    limits, wanted = context.limits, context.settings.guard.native_minimum
    if limits.scope == "en_only":
        return "languages = en_only keeps native channels out"
    if limits.target < wanted:
        return f"max_channels = {limits.target} leaves no room"
    if sum(leaf.channel in natives for leaf in pool) < wanted:
        return "channel_skip and the language filters leave too few"
    if limits.max_cost_usd is not None:
        return f"max_cost_usd = {limits.max_cost_usd:g} does not reach"
    return f"max_groups = {limits.max_groups} leaves no room"
