import pytest


@pytest.mark.rule("RTE-3.1", "RTE-3.4")
@pytest.mark.parametrize(
    ("changes", "trigger"),
    [
        ({"need_counter_evidence": True, "goal_mode": "compare"},
         "need_counter_evidence + goal_mode=compare + task_type=deep_research"),
        ({"task_type": "entity_analysis", "need_counter_evidence": True}, "need_counter_evidence"),
        ({"task_type": "entity_analysis", "goal_mode": "evaluate"}, "goal_mode=evaluate"),
        ({"task_type": "internal_knowledge", "goal_mode": "investigate"}, "goal_mode=investigate"),
        ({"task_type": "breaking_news", "freshness_required": "low"}, "task_type=breaking_news"),
        ({"task_type": "tech_evaluation"}, "task_type=tech_evaluation"),
        ({}, "task_type=deep_research"),
    ],
)  # fmt: skip
def test_the_trigger_names_every_condition_that_fired(changes, trigger, plan_of):
    plan = plan_of(**changes)
    assert plan.counter_search_enabled
    assert plan.counter_trigger == trigger


@pytest.mark.rule("RTE-3.3", "RTE-3.4")
def test_an_untriggered_counter_is_off_and_its_share_goes_to_the_others(plan_of):
    plan = plan_of(task_type="entity_analysis")
    assert not plan.counter_search_enabled
    assert plan.counter_trigger is None
    assert plan.budget_allocation == {"total_budget": 10, "graph": 5, "web": 3, "vector": 2}


@pytest.mark.rule("RTE-3.2")
@pytest.mark.parametrize(
    ("total", "need", "on"), [(5, False, False), (5, True, True), (1, True, False), (6, False, True)]
)
def test_small_budgets_spend_on_counter_only_when_asked(total, need, on, plan_of):
    assert plan_of(budget_limit=total, need_counter_evidence=need).counter_search_enabled is on


@pytest.mark.rule("RTE-3.2")
def test_a_single_search_is_countersearched_only_when_nothing_else_is_there(plan_of):
    alone = plan_of(budget_limit=1, need_counter_evidence=True, available_sources=["counter"])
    assert alone.budget_allocation == {"total_budget": 1, "counter": 1}


@pytest.mark.rule("RTE-3.5")
@pytest.mark.parametrize(
    "changes", [{"available_sources": ["web"]}, {"budget_limit": 3}, {"budget_limit": 1, "need_counter_evidence": True}]
)
def test_a_condition_without_effect_is_a_warning(changes, plan_of):
    plan = plan_of(**changes)
    assert plan.counter_trigger is None
    assert any("task_type=deep_research" in warning for warning in plan.warnings)


@pytest.mark.rule("RTE-4.3")
@pytest.mark.parametrize(
    ("task", "total", "expected"),
    [("deep_research", 6, 1), ("deep_research", 7, 1), ("deep_research", 12, 2), ("tech_evaluation", 12, 3),
     ("breaking_news", 1000, 200), ("tech_evaluation", 1000, 250), ("internal_knowledge", 1000, 150)],
)  # fmt: skip
def test_counter_stays_in_its_band(task, total, expected, numbers_of):
    assert numbers_of(task_type=task, goal_mode="compare", budget_limit=total)["counter"] == expected
