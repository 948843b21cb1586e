"""When to stop: the rule as text in the plan, and as least counts while the plan is carried out. Pure."""

from __future__ import annotations

from planner.sources.model import Branch, Language, StopRule
from planner.sources.rules import Rules


def stop_rule(branch: Branch, total: int, language: Language, rules: Rules) -> StopRule:
    """The branch's condition in words and its most rounds (rules RTE-5.1 and RTE-4.8). `total`: the budget."""
    rounds = rules.limits.max_rounds[branch]
    if total <= rules.limits.tight_budget:
        rounds = min(rounds, rules.limits.tight_rounds)
    return StopRule(condition=rules.say(f"condition.{branch}", language), max_rounds=rounds)
