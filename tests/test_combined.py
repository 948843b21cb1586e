import pytest

from planner.combined import plan
from planner.errors import InputError
from planner.tracker import PlanTracker

ZH = "小红书上大家怎么评价用 Cursor 写代码"
EN = "Compare Kafka and Pulsar for multi-tenant event streaming"


@pytest.mark.rule("RTE-9.3")
@pytest.mark.parametrize("question", [ZH, EN, "今天特斯拉股价为什么暴跌？"])
def test_there_are_at_most_as_many_channels_as_web_searches(question, planner):
    for budget in (1, 3, 10, 40):
        made = plan(question, planner=planner, budget_limit=budget)
        assert 1 <= len(made.channels.channels) <= min(8, made.source_plan.budget_allocation["web"])
        assert [pick.channel for pick in made.channels.channels] == [known.channel for known in made.web_channels]


@pytest.mark.rule("RTE-9.3")
def test_the_callers_own_lower_cap_holds(planner):
    made = plan(ZH, planner=planner, scope={"languages": "zh_only", "budget": {"max_channels": 2}})
    assert len(made.channels.channels) == 2
    assert not made.channels.warnings


@pytest.mark.rule("RTE-9.2", "RTE-9.3")
def test_options_win_over_the_text(planner):
    made = plan(EN, planner=planner, task_type="deep_research", available_sources=["web", "graph"], budget_limit=20)
    assert made.request["task_type"] == made.source_plan.task_type == "deep_research"
    assert made.source_plan.budget_allocation["total_budget"] == 20


@pytest.mark.rule("RTE-9.5")
def test_without_web_there_are_no_channels_and_a_warning_says_so(planner):
    made = plan(EN, planner=planner, available_sources=["vector", "local_file"])
    assert made.channels is None
    assert made.web_channels == ()
    assert any("web" in warning for warning in made.warnings)


@pytest.mark.rule("RTE-9.4")
def test_channels_of_the_fallback_group_are_served_by_the_engines(planner):
    fallback = {group.name for group in planner.catalog.groups if group.fallback}
    made = plan("inflation rate of Argentina", planner=planner)
    assert any(known.by_engine for known in made.web_channels)
    for pick, known in zip(made.channels.channels, made.web_channels, strict=True):
        assert known.by_engine is (pick.group in fallback)


@pytest.mark.rule("RTE-9.4")
def test_the_tracker_names_the_channel_of_each_web_search(planner):
    made = plan(ZH, planner=planner)
    tracker = PlanTracker(made, settings={}, env={})
    asked = []
    while tracker.directive.action == "search" and tracker.directive.source == "web":
        asked.append(tracker.directive.channel)
        tracker.record("web", results=["B"])
    ranked = [pick.channel for pick in made.channels.channels]
    assert asked
    assert asked == [ranked[number % len(ranked)] for number in range(len(asked))]


def test_gaps_that_were_read_must_be_covered(planner):
    made = plan("我们公司内部的报销流程，尤其是审批额度和时限", planner=planner)
    assert made.request["information_gaps"]
    assert PlanTracker(made, settings={}, env={}).state.has_gaps


def test_equal_questions_give_equal_plans_beside_measurements(planner):
    assert plan(EN, planner=planner).core() == plan(EN, planner=planner).core()


@pytest.mark.parametrize(
    ("question", "options", "field"),
    [("", {}, "question"), (EN, {"task_type": "news"}, "task_type"), (EN, {"budget_limit": 0}, "budget_limit"),
     (EN, {"scope": 3}, "scope"), (EN, {"judge": "oracle"}, "judge")],
)  # fmt: skip
def test_bad_input_names_the_field(question, options, field, planner):
    with pytest.raises(InputError) as error:
        plan(question, planner=planner, **options)
    assert error.value.field == field
