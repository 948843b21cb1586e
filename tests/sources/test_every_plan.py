"""Every combination of task, goal, freshness, sources, counter need, known material and budgets 1 to 12: 92,160 plans.

Each is held against an independent reading of the rules, in their order of force.
"""

from itertools import combinations, product
from typing import get_args

import allocation_oracle as rule
import pytest

from planner.sources.model import Freshness, GoalMode, RoutingRequest, Source, TaskType
from planner.sources.routing import route_sources

SUBSETS = [subset for size in range(6) for subset in combinations(get_args(Source), size)]
EVERY = list(
    product(get_args(TaskType), get_args(GoalMode), get_args(Freshness), SUBSETS, (False, True), (False, True))
)


def test_there_are_92160_combinations():
    assert len(EVERY) * 12 == 92_160


@pytest.mark.rule("RTE-4.1", "RTE-4.2", "RTE-4.3", "RTE-4.4", "RTE-4.5", "RTE-4.6", "RTE-4.7", "RTE-4.8", "RTE-3.1")
@pytest.mark.parametrize("task", get_args(TaskType))
def test_every_plan_follows_the_rules_in_their_order_of_force(task, rules):
    for case in EVERY:
        if case[0] == task:
            for total in range(1, 13):
                check(case, total, rules)


def check(case, total, rules):
    task, goal, freshness, sources, need, known = case
    request = RoutingRequest.model_construct(
        task_type=task, goal_mode=goal, freshness_required=freshness, available_sources=sources,
        need_counter_evidence=need, known_local_material=known, budget_limit=total, primary_subject="x", language="en",
    )  # fmt: skip
    plan = route_sources(request, rules, task_id="SR-0", timestamp="t").plan
    got = {source: number for source, number in plan.budget_allocation.items() if source != "total_budget"}
    available = set(sources)
    fired = rule.counter_conditions(task, goal, need)
    on = rule.counter_is_on(fired, total, available)
    where = (case, total, got)

    assert sum(got.values()) == total == plan.budget_allocation["total_budget"], where
    assert min(got.values()) >= 1, where
    assert list(got) == list(plan.search_order) == [entry.source for entry in plan.selected_sources], where
    assert plan.counter_search_enabled is on is ("counter" in got), where
    assert plan.counter_trigger == (" + ".join(fired) if on else None), where

    if not available - {"counter"}:
        assert got == ({"counter": total} if on else {"local_file": total}), where
        return
    assert set(got) <= available, where

    branch, row = rule.branch_and_row(task, freshness, available)
    assert plan.branch == branch, where
    freshness = "high" if branch == "high_freshness" else freshness
    shares = rule.shares_in_play(branch, row, available, known)
    order = rule.priority_order(task, branch, row, shares, freshness)
    counter = rule.counter_number(total, row.get("counter", 0), alone=False) if on else 0
    rest = total - counter
    least = rule.floor_of(total, rest, freshness, order[0])
    kept = (order[:2] if total <= 5 else order)[: 1 + rest - least]
    cap = rule.cap_of_web(total, freshness, len(kept))
    first = rule.primary_number(shares, kept, rest, least, cap)
    numbers = rule.spread_over_others(shares, kept, rest, first, cap) if kept[1:] else {kept[0]: rest}

    assert got.get("counter", 0) == counter, where
    assert set(got) - {"counter"} == set(kept), where
    assert got[kept[0]] >= least, where
    assert {source: number for source, number in got.items() if source != "counter"} == numbers, where
    assert list(plan.search_order) == rule.search_order(kept, numbers, counter, known, freshness), where
    usual = rules.limits.max_rounds[branch]
    assert plan.stop_rule.max_rounds == (min(2, usual) if total <= 5 else usual), where
