import pytest
from routing_example import EXAMPLE

from planner.errors import InputError
from planner.sources.request import build_request


@pytest.mark.rule("RTE-1.1")
@pytest.mark.parametrize(
    "field", ["task_type", "primary_subject", "goal_mode", "freshness_required", "need_counter_evidence"]
)
def test_a_missing_field_is_named(field, rules):
    with pytest.raises(InputError) as error:
        build_request({key: value for key, value in EXAMPLE.items() if key != field}, rules)
    assert error.value.field == field


@pytest.mark.rule("RTE-1.1")
@pytest.mark.parametrize(
    ("field", "value", "accepted"),
    [
        ("task_type", "evaluate", "breaking_news, deep_research, entity_analysis"),
        ("goal_mode", "Analyze", "analyze, evaluate, compare, investigate"),
        ("freshness_required", None, "high, medium, low"),
        ("available_sources", ["web", "email"], "web, local_file, vector, graph, counter"),
        ("available_engines", ["bing"], "tavily_search"),
        ("need_counter_evidence", "yes", "true or false"),
        ("known_local_material", 1, "true or false"),
        ("primary_subject", " \n", "non-empty text"),
        ("primary_subject", 7, "non-empty text"),
        ("budget_limit", 0, "from 1 to 1000"),
        ("budget_limit", 1001, "from 1 to 1000"),
        ("budget_limit", True, "whole number"),
        ("budget_limit", 2.5, "whole number"),
        ("budget_limit", "10", "whole number"),
        ("information_gaps", [1], "a list of text"),
        ("preferred_domains", ["two words"], "host names"),
        ("language", "fr", "zh, en"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_accepted(field, value, accepted, rules):
    with pytest.raises(InputError) as error:
        build_request({**EXAMPLE, field: value}, rules)
    assert error.value.field == field
    assert accepted in error.value.accepted


@pytest.mark.rule("RTE-1.1")
@pytest.mark.parametrize("request_", ["text", None, 3, ["task_type"]])
def test_a_request_is_a_mapping_or_a_model(request_, rules):
    with pytest.raises(InputError, match="request"):
        build_request(request_, rules)


def test_a_model_passes_through_the_same_checks(rules):
    built, _ = build_request(EXAMPLE, rules)
    assert build_request(built, rules) == (built, ())
    with pytest.raises(InputError, match="budget_limit"):
        build_request(built.model_copy(update={"budget_limit": 0}), rules)


@pytest.mark.rule("RTE-1.2")
def test_order_and_repeats_of_sources_do_not_matter(rules):
    one, _ = build_request({**EXAMPLE, "available_sources": ["vector", "web", "vector"]}, rules)
    other, _ = build_request({**EXAMPLE, "available_sources": ("web", "vector")}, rules)
    assert one == other


@pytest.mark.rule("RTE-1.2")
def test_a_setting_stands_in_for_sources_that_are_left_out(plan_of):
    assert set(plan_of(available_sources=None).search_order) == {"web", "local_file", "counter"}


@pytest.mark.rule("RTE-1.3")
def test_the_default_budget_is_ten(plan_of):
    assert plan_of().budget_allocation["total_budget"] == 10
    assert plan_of(budget_limit=1000).budget_allocation["total_budget"] == 1000


@pytest.mark.rule("RTE-1.4")
def test_text_where_a_list_belongs_is_one_entry(rules):
    built, _ = build_request(
        {**EXAMPLE, "information_gaps": "价格", "preferred_domains": "https://Example.com/a"}, rules
    )
    assert built.information_gaps == ("价格",)
    assert built.preferred_domains == ("example.com",)


def test_an_unknown_key_is_ignored_with_a_note(plan_of):
    assert any(
        "budget_limits" in warning and "budget_limit?" in warning for warning in plan_of(budget_limits=3).warnings
    )


def test_a_lone_surrogate_does_not_break_the_plan(plan_of):
    plan_of(primary_subject="a\ud800b").model_dump_json().encode("utf-8")


@pytest.mark.rule("RTE-1.5")
@pytest.mark.parametrize(
    ("subject", "language", "word"),
    [("AI芯片", None, "份额"), ("AI chips", None, "share"), ("AI芯片", "en", "share"), ("AI chips", "zh", "份额")],
)
def test_the_plan_speaks_the_language_of_the_subject(subject, language, word, plan_of):
    plan = plan_of(primary_subject=subject, language=language)
    assert word in plan.selected_sources[-1].rationale
