import pytest

from planner.errors import InputError
from planner.sources.events import Progress, Result, RoundEnd, SearchReport, TrackState, WebChannel
from planner.sources.tracking import advance, start

ALL_C, HIGH = ("C", "C"), ("A", "S")


class Session:
    """A tracked plan that answers each directive; what it does not say is taken from the directive."""

    def __init__(self, plan, rules, **options):
        self.state = start(plan, rules, **options)

    @property
    def asked(self):
        return self.state.directive

    def answer(self, *grades, failure=None, progress=None, **fields):
        results = tuple(Result(grade=grade) for grade in grades)
        given = {"source": self.asked.source, "engine": self.asked.engine, "at": "t", **fields}
        given.setdefault("results", results)
        self.state = advance(self.state, SearchReport(failure=failure, progress=progress or Progress(), **given))
        return self.asked

    def end_round(self, **progress):
        self.state = advance(self.state, RoundEnd(at="t", progress=Progress(**progress)))
        return self.asked

    def sweep(self, *grades):
        while self.asked.action not in ("end_round", "stop"):
            self.answer(*grades)
        return self.asked


@pytest.fixture
def session(plan_of, rules):
    def begin(options=None, **changes):
        return Session(plan_of(**changes), rules, **(options or {}))

    return begin


@pytest.fixture
def web_only(session):
    return lambda budget=12, **options: session(
        options, task_type="entity_analysis", available_sources=["web"], budget_limit=budget
    )


@pytest.mark.rule("RTE-8.1")
def test_the_first_directive_is_the_first_search_of_the_plan(session):
    asked = session().asked
    assert (asked.action, asked.source, asked.engine, asked.round) == ("search", "web", "tavily_search", 1)
    assert asked.hints


@pytest.mark.rule("RTE-8.1")
def test_the_state_is_a_json_value_that_carries_on(session):
    track = session()
    track.answer("A")
    text = track.state.model_dump_json()
    assert TrackState.model_validate_json(text) == track.state
    assert TrackState.model_validate_json(text).model_dump_json() == text


@pytest.mark.rule("RTE-8.2", "RTE-8.11")
def test_a_search_falls_down_the_chain_and_costs_one(session):
    track = session()
    assert track.answer(failure="empty_results").engine == "bailian_web_search"
    asked = track.answer(failure="timeout_30s", query="AI芯片 市场份额")
    assert (asked.action, asked.engine, asked.why) == ("fall_back", "web_search", "timeout_30s")
    track.answer("A")
    assert track.state.tallies["web"].used == 1
    assert [(e.from_level, e.to_level, e.reason) for e in track.state.degradation_log] == [
        (1, 2, "empty_results"), (2, 3, "timeout_30s"),
    ]  # fmt: skip
    assert track.state.degradation_log[1].query_affected == "AI芯片 市场份额"


@pytest.mark.rule("RTE-8.2")
def test_an_empty_result_list_is_a_failure(session):
    asked = session().answer()
    assert (asked.action, asked.why) == ("fall_back", "empty_results")


@pytest.mark.rule("RTE-8.2", "RTE-8.9")
def test_the_last_search_of_the_budget_still_falls(web_only):
    track = web_only(budget=1)
    assert track.answer(failure="timeout_30s").action == "fall_back"
    assert track.answer("A").why == "budget_spent"


@pytest.mark.rule("RTE-8.7", "RTE-8.8")
def test_the_shares_of_grades_count_from_exactly_their_limit(web_only):
    assert web_only().answer(*"CCCCCCCBBB").action == "change_strategy"
    assert web_only().answer(*"CCCCCCBBBB").action == "search"
    assert web_only().answer(*"AASBBB").may_stop_early
    assert not web_only().answer(*"AASBBBB").may_stop_early


@pytest.mark.rule("RTE-8.3")
@pytest.mark.parametrize(
    ("reason", "closed"),
    [("quota_exhausted", True), ("api_error", True), ("gfw_blocked", True), ("solar_flare", True),
     ("empty_results", False), ("timeout_30s", False)],
)  # fmt: skip
def test_some_failures_close_an_engine_for_the_session(reason, closed, session):
    track = session()
    track.answer(failure=reason)
    asked = track.answer("B")
    assert (asked.source, asked.engine) == ("counter", "bailian_web_search" if closed else "tavily_search")


@pytest.mark.rule("RTE-8.4", "RTE-8.11")
def test_a_failed_source_leaves_its_searches_to_the_next_one_but_never_to_counter(session):
    track = session(task_type="entity_analysis", goal_mode="compare")  # graph 5, counter 2, web 2, vector 1
    asked = track.answer(failure="db_down")
    assert asked.source == "counter"
    assert {source: tally.allocation for source, tally in track.state.tallies.items()} == {
        "graph": 1, "counter": 2, "web": 6, "vector": 1,
    }  # fmt: skip
    entry = track.state.degradation_log[-1]
    assert (entry.from_level, entry.to_level, entry.reason, entry.query_affected) == (None, None, "db_down", "AI芯片")


@pytest.mark.rule("RTE-8.4")
def test_what_the_last_source_leaves_comes_round_to_the_first_unspent(session):
    track = session(task_type="entity_analysis")  # graph 5, web 3, vector 2
    while track.asked.source != "vector":
        track.answer("B")
    track.answer(failure="db_down")
    assert {source: tally.allocation for source, tally in track.state.tallies.items()} == {
        "graph": 6, "web": 3, "vector": 1,
    }  # fmt: skip


@pytest.mark.rule("RTE-8.4")
def test_when_every_engine_is_closed_counter_is_spent_too(session):
    track = session()
    for _ in range(5):
        asked = track.answer(failure="api_error")
    assert asked.source == "vector"
    assert track.state.tallies["counter"].left == 0
    assert len(track.state.degradation_log) == 5


@pytest.mark.rule("RTE-8.5")
def test_a_round_sweeps_the_sources_in_order_within_their_quota(session):
    track = session(task_type="internal_knowledge")  # local_file 5, vector 4, web 1 in three rounds
    swept = []
    while track.asked.action == "search":
        swept.append(track.asked.source)
        track.answer("B")
    assert swept == ["local_file", "local_file", "vector", "vector", "web"]
    assert track.asked.action == "end_round"
    assert (track.end_round().source, track.asked.round) == ("local_file", 2)


@pytest.mark.rule("RTE-8.5")
def test_a_round_may_be_ended_early_but_not_empty(session):
    track = session()
    with pytest.raises(InputError, match="empty round"):
        track.end_round()
    track.answer(failure="timeout_30s")
    assert track.end_round().round == 2
    assert (track.asked.action, track.asked.engine) == ("search", "tavily_search")


@pytest.mark.rule("RTE-8.6")
def test_web_results_all_of_grade_c_are_retried_narrower_twice(web_only):
    track = web_only()
    assert track.answer("C").action == "retry_narrower"
    assert track.answer("C").action == "retry_narrower"
    assert track.answer("C").action == "search"
    assert track.state.tallies["web"].used == 3
    assert track.state.tallies["web"].in_round == 1


@pytest.mark.rule("RTE-8.6")
def test_no_retry_where_no_search_is_left_or_the_source_is_not_web(session, web_only):
    assert web_only(budget=1).answer("C").action == "stop"
    track = session(task_type="internal_knowledge")
    assert track.answer("C").action == "search"


@pytest.mark.rule("RTE-8.7")
def test_mostly_grade_c_changes_the_strategy_once_before_any_retry(web_only):
    track = web_only()
    asked = track.answer("C", "C", "C", "C", "A")
    assert (asked.action, asked.source, asked.why) == ("change_strategy", "web", "mostly_grade_c")
    assert track.answer("C", "C", "C", "A").action == "search"
    asked = track.answer("C")
    assert (asked.action, asked.why) == ("stop", "low_quality")


@pytest.mark.rule("RTE-8.7")
def test_the_change_is_judged_on_the_results_since(web_only):
    track = web_only()
    track.answer("C", "C", "C", "C", "C")
    assert track.answer("B", "B", "B", "C", "C").action == "search"


@pytest.mark.rule("RTE-8.7")
def test_a_change_that_is_due_waits_for_a_search_that_is_left(session):
    track = session(task_type="internal_knowledge", budget_limit=5)  # local_file 3, vector 2 in two rounds
    track.answer("C", "C"), track.answer("C", "C")
    track.end_round()
    asked = track.answer("C", "C")
    assert (asked.action, asked.source) == ("change_strategy", "vector")


@pytest.mark.rule("RTE-8.8")
def test_high_quality_says_that_stopping_early_is_allowed(session):
    track = session()
    assert not track.answer("A", "S", "B", "C").may_stop_early
    assert track.answer("A").may_stop_early


@pytest.mark.rule("RTE-8.8")
def test_a_result_is_new_if_its_id_was_not_seen(session):
    track = session()
    twice = (Result(grade="A", id="u"), Result(grade="A", id="u"), Result(grade="S"), Result(grade="S"))
    track.answer(results=twice)
    track.answer(results=(Result(grade="A", id="u"), Result(grade="B", id="v")))
    assert track.state.high_distinct == 3


@pytest.mark.rule("RTE-5.2")
@pytest.mark.parametrize(
    ("changes", "short", "enough"),
    [
        ({"freshness_required": "high"}, {"independent_confirmations": 2}, {"independent_confirmations": 3}),
        ({"task_type": "entity_analysis"}, {"entity_nodes": 9, "relation_types": 2}, {"relation_types": 3}),
        ({"task_type": "internal_knowledge"}, {"local_hits": 4}, {"local_hits": 5}),
        ({"task_type": "internal_knowledge"}, {"local_hits": 5, "gaps_covered": 0.79}, {"gaps_covered": 0.8}),
        ({"task_type": "tech_evaluation"}, {"benchmark_reports": 2, "supporting": 1}, {"opposing": 1}),
    ],
)
def test_the_condition_is_a_predicate_over_the_latest_counts(changes, short, enough, session):
    track = session(**changes)
    assert track.answer("B", progress=Progress(**short)).action == "search"
    asked = track.answer("B", progress=Progress(**enough))
    assert (asked.action, asked.why) == ("stop", "condition")


@pytest.mark.rule("RTE-5.2")
def test_named_gaps_must_be_reported_as_covered(session):
    track = session({"has_gaps": True}, task_type="internal_knowledge")
    assert track.answer("B", progress=Progress(local_hits=5)).action == "search"
    assert track.answer("B", progress=Progress(gaps_covered=1)).why == "condition"


@pytest.mark.rule("RTE-5.2")
def test_deep_research_needs_ten_distinct_high_results_and_every_source_covered(session):
    track = session()
    track.answer(*["A"] * 12)
    assert track.sweep("B").action == "end_round"
    track.end_round()
    assert track.answer("B").action == "search"
    assert track.answer("B").why == "condition"  # web 2 of 5, counter 2 of 2, the others spent


@pytest.mark.rule("RTE-8.9")
def test_nothing_ever_returned_anything(session):
    track = session(available_sources=["vector", "local_file"])
    track.answer(failure="api_error")
    asked = track.answer(failure="api_error")
    assert (asked.action, asked.why) == ("stop", "all_sources_failed")


@pytest.mark.rule("RTE-8.9")
def test_the_budget_is_spent(web_only):
    track = web_only(budget=2)
    track.answer("B")
    track.end_round()
    assert track.answer("A").why == "budget_spent"


@pytest.mark.rule("RTE-8.9")
def test_the_rounds_are_over(web_only):
    track = web_only()
    for _ in range(4):
        track.answer("A")
        track.end_round()
    assert (track.asked.action, track.asked.why) == ("stop", "max_rounds")


@pytest.mark.rule("RTE-8.9")
def test_two_rounds_without_a_new_high_result(web_only):
    track = web_only()
    track.answer(results=(Result(grade="A", id="u"),))
    track.end_round()
    track.answer(results=(Result(grade="A", id="u"),))
    track.end_round()
    track.answer("B")
    assert track.end_round().why == "no_new_high"


@pytest.mark.rule("RTE-8.9")
def test_the_condition_comes_before_every_other_reason(web_only):
    track = web_only(budget=1)
    assert track.answer("C", progress=Progress(entity_nodes=5, relation_types=3)).why == "condition"


@pytest.mark.rule("RTE-8.10")
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"source": "email"}, "source"),
        ({"source": "vector", "engine": None}, "source"),
        ({"engine": "web_search"}, "engine"),
        ({"failure": "api_error", "results": (Result(grade="A"),)}, "failure"),
    ],
)
def test_an_event_that_makes_no_sense_leaves_the_state_alone(fields, field, session):
    track = session()
    before = track.state.model_dump_json()
    with pytest.raises(InputError) as error:
        track.answer("A", **fields)
    assert error.value.field == field
    assert track.state.model_dump_json() == before


@pytest.mark.rule("RTE-8.10")
def test_nothing_comes_after_a_stop_and_no_search_after_the_sweep(web_only):
    track = web_only(budget=2)
    track.answer("B")
    with pytest.raises(InputError, match="end of the round"):
        track.answer("B", source="web")
    track.end_round()
    track.answer("B")
    for event in (lambda: track.answer("B", source="web"), track.end_round):
        with pytest.raises(InputError, match="stopped"):
            event()


@pytest.mark.rule("RTE-8.10")
def test_a_plan_that_does_not_fit_together_is_refused(plan_of, rules):
    plan = plan_of()
    for changes in (
        {"budget_allocation": {**plan.budget_allocation, "web": 6}},
        {"budget_allocation": {"total_budget": 10}},
        {"search_order": ()},
        {"fallback_chain": ()},
    ):
        with pytest.raises(InputError, match="plan"):
            start(plan.model_copy(update=changes), rules)


CHANNELS = (WebChannel(channel="zhihu"), WebChannel(channel="bing", by_engine=True), WebChannel(channel="hn"))


@pytest.mark.rule("RTE-9.4")
def test_each_web_search_is_one_channel_in_rank_order(web_only):
    track = web_only(channels=CHANNELS)
    asked = [track.asked, track.answer("B"), track.answer("B")]
    track.answer("B")
    asked.append(track.end_round())
    assert [(a.channel, a.engine) for a in asked] == [
        ("zhihu", None), ("bing", "tavily_search"), ("hn", None), ("zhihu", None),
    ]  # fmt: skip


@pytest.mark.rule("RTE-9.4")
def test_a_channel_that_fails_is_served_by_the_chain(web_only):
    track = web_only(channels=CHANNELS[:1])
    asked = track.answer(failure="api_error")
    assert (asked.action, asked.channel, asked.engine) == ("fall_back", "zhihu", "tavily_search")
    asked = track.answer("C")
    assert (asked.action, asked.channel, asked.engine) == ("retry_narrower", "zhihu", "tavily_search")
    assert track.state.degradation_log[0].from_level is None
    assert track.state.degradation_log[0].to_level == 1


@pytest.mark.rule("RTE-9.4")
def test_past_the_last_level_web_is_spent_with_channels_too(web_only):
    track = web_only(channels=CHANNELS)
    track.answer("B")
    for _ in range(4):
        asked = track.answer(failure="api_error")
    assert track.state.tallies["web"].failed
    assert (asked.action, asked.why) == ("stop", "budget_spent")
