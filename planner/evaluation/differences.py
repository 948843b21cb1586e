"""The queries on which two arms differ most, side by side, with the factors that made the difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner.channels.model import ChannelPick, ChannelPlan
from planner.evaluation.journal import Plans, Seen
from planner.evaluation.scoring import Scored

if TYPE_CHECKING:
    from planner.evaluation.ab import Inquiry

SHOWN = 12
SMALL = 0.005  # a score difference that explains nothing


def most_different(
    a: str,
    b: str,
    inquiry: Inquiry,
    plans: Mapping[str, Plans],
    scores: Scored,
    alike: Mapping[str, Mapping[str, float | None]],
    factors: Mapping[str, Seen],
) -> list[dict[str, Any]]:
    """At most 12 queries: by the difference in nDCG, then (or without labels) by overlap (rule EVA-1.10)."""
    one, other = scores.labels[a]["ndcg"], scores.labels[b]["ndcg"]
    weights = {arm.name: arm.planner.settings.selection.leaf_weights.model_dump() for arm in inquiry.arms}

    def gap(query: str) -> tuple[float, float]:
        return abs(one.get(query, 0.0) - other.get(query, 0.0)), -(alike[query]["rbo"] or 0.0)

    ranked = sorted((line for line in inquiry.lines if _differ(plans[line.id], a, b)), key=lambda x: gap(x.id))
    rows = []
    for line in ranked[::-1][:SHOWN]:
        of_a, of_b = plans[line.id][a], plans[line.id][b]
        rows.append(
            {
                "id": line.id,
                "ndcg": [one.get(line.id), other.get(line.id)],
                "rbo": alike[line.id]["rbo"],
                "picks": {a: _picks(of_a, weights[a]), b: _picks(of_b, weights[b])},
                "groups": {a: _groups(of_a), b: _groups(of_b)},
                "changes": _changes((a, of_a), (b, of_b), weights, factors[line.id]),
            }
        )
    return rows


def _differ(plans: Plans, a: str, b: str) -> bool:
    return [pick.channel for pick in plans[a].channels] != [pick.channel for pick in plans[b].channels]


def _picks(plan: ChannelPlan, weights: Mapping[str, float]) -> list[dict[str, Any]]:
    return [
        {"channel": pick.channel, "group": pick.group, "score": pick.score, "parts": _parts(pick.factors, weights)}
        for pick in plan.channels
    ]


def _parts(factors: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(weight * factors.get(name, 0.0), 6) for name, weight in weights.items()}


def _groups(plan: ChannelPlan) -> list[dict[str, Any]]:
    return [{"name": group.name, "score": group.score} for group in plan.groups]


def _changes(
    one: tuple[str, ChannelPlan],
    other: tuple[str, ChannelPlan],
    weights: Mapping[str, Mapping[str, float]],
    seen: Seen,
) -> list[dict[str, Any]]:
    """A row a channel that only one arm picked: why the other did not, and what each factor adds to the difference."""
    rows = []
    for (arm, plan), (lacking, without) in ((one, other), (other, one)):
        there = {pick.channel for pick in without.channels}
        for pick in plan.channels:
            if pick.channel not in there:
                mine = _parts(pick.factors, weights[arm])
                theirs = _parts(seen[lacking].get(pick.channel, {}), weights[lacking])
                rows.append(
                    {
                        "channel": pick.channel,
                        "only_in": arm,
                        "score": pick.score,
                        "score_elsewhere": round(max(0.0, sum(theirs.values())), 4),
                        "why_not": _why_not(pick, without),
                        "factors": _gaps(mine, theirs),
                    }
                )
    return rows


def _why_not(pick: ChannelPick, plan: ChannelPlan) -> str:
    beside = next((runner.kept_out_by for runner in plan.runners_up if runner.channel == pick.channel), None)
    if reason := plan.skip_reasons.get(pick.name) or beside:
        return reason
    if reason := plan.skip_reasons.get(pick.group):
        return f"its group {pick.group} was left out: {reason}"
    if pick.group not in {group.name for group in plan.groups}:
        return f"its group {pick.group} was not picked"
    return "ranked below every pick"


def _gaps(mine: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, float]:
    gaps = {name: round(mine[name] - theirs[name], 6) for name in mine}
    return {name: gap for name, gap in gaps.items() if abs(gap) >= SMALL}
