"""When to stop: the rule as text in the plan, and as predicates over counted progress while it is carried out. Pure."""

from __future__ import annotations

from collections.abc import Callable

from planner.sources.events import Needs, Quality, StopReason, TrackState
from planner.sources.model import Branch, Language, StopRule
from planner.sources.rules import Rules


def stop_rule(branch: Branch, total: int, language: Language, rules: Rules) -> StopRule:
    """The branch's condition in words and its most rounds (rules RTE-5.1 and RTE-4.8). `total`: the budget."""
    rounds = rules.limits.max_rounds[branch]
    if total <= rules.limits.tight_budget:
        rounds = min(rounds, rules.limits.tight_rounds)
    return StopRule(condition=rules.say(f"condition.{branch}", language), max_rounds=rounds)


def stop_reason(state: TrackState) -> StopReason | None:
    """The first reason that holds, in the order of rule RTE-8.9, or None."""
    return next((reason for reason, holds in STOPS.items() if holds(state)), None)


def condition_holds(state: TrackState) -> bool:
    """Whether the plan's own stop condition holds (rule RTE-5.2); the default branch has none beside the backstops."""
    needs, progress = state.needs, state.progress
    return (
        needs != Needs()
        and all((getattr(progress, name) or 0) >= least for name, least in needs.counts.items())
        and state.high_distinct >= needs.high_results
        and all(
            tally.used >= min(needs.searches_each, tally.allocation) or not tally.left
            for tally in state.tallies.values()
        )
        and _gaps_covered(state)
    )


def is_low(quality: Quality, state: TrackState) -> bool:
    """Whether grade C makes up the low-quality share of enough results (rule RTE-8.7)."""
    return _reaches(quality.low, quality.total, state.limits.low_quality, state)


def may_stop_early(state: TrackState) -> bool:
    """Whether grades S and A make up the high-quality share of enough results (rule RTE-8.8)."""
    return _reaches(state.quality.high, state.quality.total, state.limits.high_quality, state)


def _reaches(part: int, total: int, ratio: tuple[int, int], state: TrackState) -> bool:
    return total >= state.limits.judged_results and part * ratio[1] >= ratio[0] * total


def _gaps_covered(state: TrackState) -> bool:
    covered = state.progress.gaps_covered
    if covered is None:
        return not (state.has_gaps and state.needs.gaps_covered)
    return covered >= state.needs.gaps_covered


def _all_spent(state: TrackState) -> bool:
    return not state.searching and not any(tally.left for tally in state.tallies.values())


STOPS: dict[StopReason, Callable[[TrackState], bool]] = {  # in their order
    "condition": condition_holds,
    "all_sources_failed": lambda state: _all_spent(state) and not state.quality.total,
    "budget_spent": _all_spent,
    "low_quality": lambda state: state.since_change is not None and is_low(state.since_change, state),
    "max_rounds": lambda state: state.rounds_ended >= state.plan.stop_rule.max_rounds,
    "no_new_high": lambda state: state.quiet_rounds >= state.limits.quiet_rounds,
}
