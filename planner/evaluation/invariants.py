"""Promises every plan must keep, checked from the request and the finished plan alone."""

from __future__ import annotations

from planner.channels.limits import Limits, build_limits
from planner.channels.model import ChannelPlan, SelectionRequest
from planner.evaluation.arms import Arm

_CENT_FRACTION = 1e-9


def kept(arm: Arm, request: SelectionRequest, plan: ChannelPlan) -> dict[str, bool]:
    """Promise -> whether the plan keeps it (rule EVA-1.6). The group cap does not bind an arm without groups."""
    planner = arm.planner
    reading = planner.catalog.read(request.query)
    limits, _ = build_limits(request, reading, planner.catalog, planner.settings, planner.env)
    channels = [pick.channel for pick in plan.channels]
    spent = plan.total_cost_usd + ((plan.usage.cost_usd or 0.0) if plan.usage else 0.0)
    return {
        "quota": _natives(channels, arm) >= _natives_owed(limits, arm),
        "never_empty": bool(channels) or not _open(limits, arm),
        "channel_cap": len(channels) <= limits.target,
        "group_cap": not arm.grouped or len(plan.groups) <= limits.max_groups,
        "cost_cap": limits.max_cost_usd is None or spent <= limits.max_cost_usd + _CENT_FRACTION,
        "skips_and_languages": not any(_refused(channel, limits, arm) for channel in channels),
        "no_channel_twice": len(set(channels)) == len(channels),
        "groups_fit_picks": {pick.group for pick in plan.channels} == {group.name for group in plan.groups},
    }


def _natives(channels: list[str], arm: Arm) -> int:
    return sum(channel in arm.planner.catalog.natives for channel in channels)


def _natives_owed(limits: Limits, arm: Arm) -> int:
    """As many as the guard wants and the user's own words and caps leave room for."""
    catalog = arm.planner.catalog
    allowed = [c for c in catalog.natives if catalog.leaf_by_channel[c].is_channel and not _refused(c, limits, arm)]
    costs = sorted(catalog.leaf_by_channel[channel].cost_usd for channel in allowed)
    affordable = sum(limits.affordable(sum(costs[: n + 1])) for n in range(len(costs)))
    return min(limits.guard, limits.target, affordable)


def _open(limits: Limits, arm: Arm) -> bool:
    leaves = [leaf for leaf in arm.planner.catalog.leaves if leaf.is_channel]
    return any(limits.affordable(leaf.cost_usd) and not _refused(leaf.channel, limits, arm) for leaf in leaves)


def _refused(channel: str, limits: Limits, arm: Arm) -> bool:
    catalog = arm.planner.catalog
    return limits.leaf_refusal(catalog.leaf_by_channel[channel], channel in catalog.natives) is not None
