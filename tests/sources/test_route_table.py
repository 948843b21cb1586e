"""The reviewed table of all default-budget plans with every source available. To renew it after a change of the rules:
`python tests/sources/test_route_table.py > tests/data/route-table.md`, and read the difference."""

from itertools import groupby, product
from pathlib import Path
from typing import get_args

from planner.settings import default_settings
from planner.sources.loading import load_rules
from planner.sources.model import Freshness, GoalMode, RoutingRequest, Source, TaskType
from planner.sources.routing import route_sources

TABLE = Path(__file__).parent.parent / "data" / "route-table.md"
HEAD = """# Every plan of 10 searches with all five sources available

Read a row as: for this task and freshness, with local material known or not, these goals (with or without a stated need
for counter-evidence) give this plan. The order is the search order; `→` leads to the next source.

| task | freshness | local known | goals | plan | rounds |
| --- | --- | --- | --- | --- | --- |
"""


def plan(task, freshness, known, goal, *, need, rules):
    request = RoutingRequest(
        task_type=task, goal_mode=goal, freshness_required=freshness, available_sources=get_args(Source),
        need_counter_evidence=need, known_local_material=known, primary_subject="x",
    )  # fmt: skip
    plan = route_sources(request, rules, task_id="SR-0", timestamp="t").plan
    return " → ".join(f"{s} {plan.budget_allocation[s]}" for s in plan.search_order), plan.stop_rule.max_rounds


def rows(rules):
    for task, freshness, known in product(get_args(TaskType), get_args(Freshness), (False, True)):
        cases = [
            (plan(task, freshness, known, goal, need=need, rules=rules), goal + (" + need" if need else ""))
            for goal, need in product(get_args(GoalMode), (False, True))
        ]
        for (order, rounds), group in groupby(sorted(cases), key=lambda case: case[0]):
            goals = [goal for _, goal in group]
            said = "any" if len(goals) == len(cases) else "all others" if len(goals) > 2 else ", ".join(goals)
            yield f"| {task} | {freshness} | {'yes' if known else 'no'} | {said} | {order} | {rounds} |"


def table():
    return HEAD + "\n".join(rows(load_rules(default_settings()))) + "\n"


def test_the_table_of_default_plans_is_the_reviewed_one():
    assert table() == TABLE.read_text("utf-8")


if __name__ == "__main__":
    print(table(), end="")
