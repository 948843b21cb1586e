import pytest

RELATIONS = [
    "梳理它的上下游",
    "利益相关方",
    "關係圖譜",
    "the supply chain of it",
    "supply-chain risk",
    "用Network看",
    "its RELATIONSHIPS",
]
NOT_RELATIONS = ["神经网络的发展", "网络安全态势", "a neural network model", "networking events", "supplychain", ""]


@pytest.mark.rule("RTE-2.1", "RTE-4.1")
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"task_type": "breaking_news"}, {"web": 7, "counter": 2, "local_file": 1}),
        ({"task_type": "breaking_news", "freshness_required": "low"}, {"web": 7, "counter": 2, "local_file": 1}),
        ({}, {"web": 5, "counter": 2, "vector": 1, "graph": 1, "local_file": 1}),
        ({"freshness_required": "low"}, {"vector": 5, "counter": 2, "web": 1, "graph": 1, "local_file": 1}),
        ({"task_type": "entity_analysis"}, {"graph": 5, "web": 3, "vector": 2}),
        ({"task_type": "internal_knowledge"}, {"local_file": 5, "vector": 4, "web": 1}),
        ({"task_type": "internal_knowledge", "freshness_required": "low"}, {"local_file": 5, "vector": 4, "web": 1}),
        ({"task_type": "tech_evaluation"}, {"web": 5, "counter": 2, "vector": 2, "local_file": 1}),
        ({"available_sources": ["web", "local_file", "graph", "counter"]},
         {"web": 5, "counter": 2, "graph": 2, "local_file": 1}),
    ],
)  # fmt: skip
def test_worked_examples_at_ten_searches(changes, expected, numbers_of):
    assert list(numbers_of(**changes).items()) == list(expected.items())


@pytest.mark.rule("RTE-4.2", "RTE-4.4", "RTE-4.8")
@pytest.mark.parametrize(
    ("total", "need", "expected"),
    [
        (1, False, {"web": 1}),
        (3, False, {"web": 3}),
        (4, False, {"web": 3, "local_file": 1}),
        (5, False, {"web": 4, "local_file": 1}),
        (2, True, {"web": 1, "counter": 1}),
        (3, True, {"web": 2, "counter": 1}),
        (5, True, {"web": 4, "counter": 1}),
    ],
)
def test_worked_examples_of_small_budgets(total, need, expected, plan_of):
    plan = plan_of(task_type="breaking_news", budget_limit=total, need_counter_evidence=need)
    assert plan.budget_allocation == {"total_budget": total, **expected}
    assert plan.stop_rule.max_rounds == 2


@pytest.mark.rule("RTE-2.1")
@pytest.mark.parametrize("task", ["deep_research", "entity_analysis", "internal_knowledge", "tech_evaluation"])
def test_high_freshness_comes_before_the_kind_of_task(task, plan_of):
    plan = plan_of(task_type=task, freshness_required="high")
    assert plan.branch == "high_freshness"
    assert plan.budget_allocation["web"] >= 7


@pytest.mark.rule("RTE-2.2", "RTE-2.3")
@pytest.mark.parametrize(
    ("changes", "other"),
    [
        ({"task_type": "breaking_news"}, "local_file"),
        ({"task_type": "entity_analysis"}, "graph"),
        ({"task_type": "internal_knowledge"}, "vector"),
        ({"task_type": "breaking_news", "information_gaps": ["利益相关方"]}, "graph"),
        ({"task_type": "breaking_news", "available_sources": ["web", "graph", "vector"]}, "vector"),
        ({"task_type": "breaking_news", "available_sources": ["web", "graph"]}, "graph"),
    ],
)
def test_the_other_of_a_fresh_question(changes, other, numbers_of):
    numbers = numbers_of(freshness_required="high", goal_mode="analyze", **changes)
    assert set(numbers) - {"web", "counter"} == {other}


@pytest.mark.rule("RTE-2.4")
@pytest.mark.parametrize("text", RELATIONS)
def test_graph_joins_where_relations_are_asked_for(text, numbers_of):
    assert "graph" in numbers_of(task_type="tech_evaluation", task_description=text)
    assert "graph" in numbers_of(task_type="internal_knowledge", information_gaps=[text])


@pytest.mark.rule("RTE-2.4")
@pytest.mark.parametrize("text", NOT_RELATIONS)
def test_graph_does_not_join_for_words_that_only_look_like_it(text, numbers_of):
    assert "graph" not in numbers_of(task_type="tech_evaluation", task_description=text)


@pytest.mark.rule("RTE-2.4")
@pytest.mark.parametrize(
    "changes",
    [
        {"known_local_material": True},
        {"available_sources": ["web", "graph", "local_file"]},
        {"available_sources": ["vector", "graph", "local_file"]},
    ],
)
def test_local_files_join_an_entity_analysis_with_a_reason_only(changes, numbers_of):
    assert "local_file" in numbers_of(task_type="entity_analysis", **changes)
    assert "local_file" not in numbers_of(task_type="entity_analysis")


@pytest.mark.rule("RTE-2.5")
@pytest.mark.parametrize("gap", ["最新进展", "近期動態", "the latest prices", "看current状态"])
def test_a_gap_that_asks_for_recent_things_lifts_web(gap, numbers_of):
    lifted = numbers_of(task_type="internal_knowledge", freshness_required="low", information_gaps=[gap])
    assert lifted == {"local_file": 5, "vector": 3, "web": 2}
    assert numbers_of(freshness_required="low", information_gaps=[gap])["web"] == 5


@pytest.mark.rule("RTE-2.5")
@pytest.mark.parametrize("gap", ["currently unknown", "recently", "价格"])
def test_other_gaps_leave_the_freshness_alone(gap, numbers_of):
    assert numbers_of(freshness_required="low", information_gaps=[gap])["web"] == 1


@pytest.mark.rule("RTE-2.6", "RTE-6.5")
def test_web_without_an_engine_counts_as_not_available(plan_of):
    plan = plan_of(available_engines=["local_cache"])
    assert "web" not in plan.search_order
    assert [entry.reason for entry in plan.degradation_log] == ["web_unavailable"]
    assert any("web" in warning for warning in plan.warnings)
    assert [level.source for level in plan.fallback_chain] == ["local_cache"]


@pytest.mark.rule("RTE-2.7")
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"task_type": "tech_evaluation", "available_sources": ["graph"]}, {"graph": 10}),
        ({"task_type": "breaking_news", "available_sources": ["vector", "graph", "local_file"]},
         {"vector": 5, "local_file": 3, "graph": 2}),
        ({"task_type": "entity_analysis", "available_sources": ["local_file"]}, {"local_file": 10}),
        ({"available_sources": ["counter"]}, {"counter": 10}),
    ],
)  # fmt: skip
def test_the_default_shares_stand_in_with_a_warning(changes, expected, plan_of):
    plan = plan_of(**changes)
    assert plan.branch == "default"
    assert plan.budget_allocation == {"total_budget": 10, **expected}
    assert plan.warnings


@pytest.mark.rule("RTE-2.7", "RTE-6.3")
@pytest.mark.parametrize(
    "changes",
    [
        {"available_sources": []},
        {"task_type": "entity_analysis", "available_sources": ["counter"]},
        {"available_sources": ["web"], "available_engines": []},
    ],
)
def test_the_last_resort_is_the_local_cache(changes, plan_of):
    plan = plan_of(**changes)
    assert plan.budget_allocation == {"total_budget": 10, "local_file": 10}
    assert plan.selected_sources[0].engine == "local_cache"
    assert [level.model_dump() for level in plan.fallback_chain] == [
        {"level": 1, "source": "local_cache", "trigger_fallback": None, "fallback_to": None}
    ]
    assert [entry.reason for entry in plan.degradation_log] == ["web_unavailable", "no_sources_available"]
    assert plan.warnings


@pytest.mark.rule("RTE-2.8")
def test_fresh_internal_knowledge_goes_to_the_web_with_a_warning(plan_of):
    plan = plan_of(task_type="internal_knowledge", freshness_required="high")
    assert plan.search_order[0] == "web"
    assert any("internal_knowledge" in warning for warning in plan.warnings)
