import pytest
from routing_example import EXAMPLE

from planner.settings import default_settings
from planner.sources.loading import load_rules
from planner.sources.request import build_request
from planner.sources.routing import route_sources


@pytest.fixture(scope="session")
def rules():
    return load_rules(default_settings())


@pytest.fixture(scope="session")
def routed(rules):
    """Routes the example request with some fields changed."""

    def route(**changes):
        request, notes = build_request({**EXAMPLE, **changes}, rules)
        return route_sources(request, rules, task_id="SR-00000000", timestamp="2026-01-01T00:00:00Z", notes=notes)

    return route


@pytest.fixture(scope="session")
def plan_of(routed):
    return lambda **changes: routed(**changes).plan


@pytest.fixture(scope="session")
def numbers_of(plan_of):
    """The searches per source, without the total."""

    def numbers(**changes):
        given = dict(plan_of(**changes).budget_allocation)
        del given["total_budget"]
        return given

    return numbers
