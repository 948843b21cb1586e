import pytest
from routing_example import EXAMPLE

from planner.errors import SettingsError
from planner.routes import route_sources
from planner.settings import load_settings
from planner.sources.loading import load_rules


def rules_with(**own):
    return load_rules(load_settings({"sources": own}, {}))


def test_every_shipped_row_adds_up(rules):
    assert {sum(row.values()) for row in rules.shares.values()} == {100}


@pytest.mark.rule("RTE-7.3")
@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"shares": {"deep_research": {"web": 40}}}, "deep_research.*add up to 100"),
        ({"shares": {"deep_research": {"web": 30.5}}}, "deep_research.web"),
        ({"shares": {"deep_research": {"blog": 0}}}, "deep_research"),
        ({"shares": {"breaking": {"web": 100}}}, "breaking"),
        ({"shares": "many"}, "sources.shares"),
        ({"primary_floor": 1.5}, "floors.primary"),
        ({"primary_floor": 0}, "floors.primary"),
        ({"primary_floor": "half"}, "floors.primary"),
        ({"limits": {"counter_band": {"low": 0.5}}}, "counter_band"),
        ({"limits": {"default_budgets": 4}}, "default_budgets"),
        ({"available": ["email"]}, "available"),
        ({"chain": []}, "chain.*not open to settings"),
        ({"share": {}}, "did you mean shares"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_by_name(own, message):
    with pytest.raises(SettingsError, match=message):
        rules_with(**own)


@pytest.mark.rule("RTE-7.3")
def test_shares_floors_and_limits_may_be_changed():
    own = {
        "available": ["web", "vector"],
        "primary_floor": 0.3,
        "shares": {"deep_research": {"web": 20, "vector": 35}},
        "limits": {"default_budget": 20, "counter_band": {"low": 0.1}},
    }
    plan = route_sources({**EXAMPLE, "available_sources": None}, settings={"sources": own}, env={})
    assert plan.budget_allocation == {"total_budget": 20, "vector": 13, "web": 7}


@pytest.mark.rule("RTE-7.3")
def test_a_decimal_means_what_it_says():
    rules = rules_with(floors={"web_high": 0.15})
    assert rules.floors.web_high * 20 == 3


@pytest.mark.rule("RTE-7.3")
def test_a_variable_overrides_one_number():
    env = {"PLANNER_SOURCES__PRIMARY_FLOOR": "0.8"}
    assert route_sources(EXAMPLE, env=env).budget_allocation["web"] == 8


def test_the_users_file_is_read_again_when_it_changed(tmp_path):
    path = tmp_path / "planner.yaml"
    path.write_text("sources: {limits: {default_budget: 6}}")
    first = route_sources(EXAMPLE, settings=str(path), env={})
    path.write_text("sources: {limits: {default_budget: 123}}")
    second = route_sources(EXAMPLE, settings=str(path), env={})
    assert [plan.budget_allocation["total_budget"] for plan in (first, second)] == [6, 123]


@pytest.mark.rule("RTE-2.4")
@pytest.mark.parametrize(("changes", "joins"), [({"known_local_material": True}, True), ({}, False)])
def test_vector_joins_a_branch_whose_settings_leave_it_out(changes, joins):
    own = {"shares": {"entity_analysis": {"vector": 0, "web": 55}}}
    request = {**EXAMPLE, "task_type": "entity_analysis", **changes}
    plan = route_sources(request, settings={"sources": own}, env={})
    assert ("vector" in plan.search_order) is joins
