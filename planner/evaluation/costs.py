"""What planning itself cost: time, tokens, money, and how often an arm fell back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from planner.channels.model import ChannelPlan
from planner.evaluation.statistics import percentile


def latency_ms(plan: ChannelPlan) -> float:
    """Milliseconds a plan took, without the one-time import of model libraries."""
    return max(0.0, plan.elapsed_ms - plan.warmup_ms)


def planning_cost(plans: Sequence[ChannelPlan]) -> dict[str, Any]:
    """Latency p50 and p95 in ms; tokens and US dollars of all planning calls, None when any is unknown; falls."""
    times = [latency_ms(plan) for plan in plans]
    degraded = [plan for plan in plans if plan.degradations]
    return {
        "latency_p50_ms": percentile(times, 0.50),
        "latency_p95_ms": percentile(times, 0.95),
        "tokens_in": _total(plans, "tokens_in"),
        "tokens_out": _total(plans, "tokens_out"),
        "cost_usd": _total(plans, "cost_usd"),
        "degraded": len(degraded) / len(plans) if plans else 0.0,
        "why": dict(Counter(_steps(plan) for plan in degraded).most_common()),
        "cached": sum(plan.cached for plan in plans) / len(plans) if plans else 0.0,
        "answered": dict(Counter(_who(plan) for plan in plans).most_common()),
    }


def _total(plans: Sequence[ChannelPlan], field: str) -> float | None:
    values = [getattr(plan.usage, field) for plan in plans if plan.usage is not None]
    return None if None in values else sum(values)


def _steps(plan: ChannelPlan) -> str:
    return "; ".join(f"{step.from_} → {step.to}: {step.reason}" for step in plan.degradations)


def _who(plan: ChannelPlan) -> str:
    return plan.judge.model or plan.judge.tier
