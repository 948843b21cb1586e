import json
import multiprocessing

import pytest

from planner.errors import InputError
from planner.routes import route_sources, rules_for
from planner.sources.events import RoundEnd, SearchReport
from planner.sources.tracking import advance, start
from planner.tracker import PlanTracker, begin, load, tracked

REQUEST = {
    "task_type": "entity_analysis", "primary_subject": "x", "goal_mode": "analyze", "freshness_required": "medium",
    "need_counter_evidence": False, "available_sources": ["web"], "budget_limit": 1000,
}  # fmt: skip
EACH = 40


def new_tracker(**changes):
    plan = route_sources({**REQUEST, **changes}, settings={}, env={})
    return PlanTracker(plan, settings={}, env={}, clock=lambda: "2026-01-01T00:00:00Z")


@pytest.fixture
def state(tmp_path):
    path = tmp_path / "track.json"
    begin(path, new_tracker())
    return path


def report_many(path, name):
    for number in range(EACH):
        with tracked(path) as tracker:
            tracker.record("web", "tavily_search", results=[{"grade": "B", "id": f"{name}-{number}"}])


@pytest.mark.rule("RTE-8.12")
def test_two_processes_at_once_lose_nothing(state):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=report_many, args=(state, name)) for name in ("one", "two")]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    tracked_state = load(state).state
    assert set(tracked_state.seen) == {f"{name}-{number}" for name in ("one", "two") for number in range(EACH)}
    assert tracked_state.tallies["web"].used == len(tracked_state.events) == 2 * EACH


@pytest.mark.rule("RTE-8.12")
def test_an_event_that_is_refused_leaves_the_file_alone(state):
    before = state.read_bytes()
    with pytest.raises(InputError), tracked(state) as tracker:
        tracker.record("vector", results=["A"])
    assert state.read_bytes() == before


@pytest.mark.rule("RTE-8.12")
def test_a_write_that_fails_leaves_the_file_alone(state, monkeypatch):
    before = state.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match=f"disk full.*{state.name}"), tracked(state) as tracker:
        tracker.record("web", results=["A"])
    assert state.read_bytes() == before
    assert [path.name for path in state.parent.iterdir() if path.name.startswith(".track")] == []


@pytest.mark.rule("RTE-8.12")
def test_a_plan_under_way_is_not_replaced_by_accident(state):
    with pytest.raises(InputError, match="--replace"):
        begin(state, new_tracker())
    begin(state, new_tracker(budget_limit=5), replace=True)
    assert load(state).state.tallies["web"].allocation == 5


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"version": 2}'])
def test_a_file_that_is_no_state_is_refused(text, tmp_path):
    path = tmp_path / "track.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match="state"), tracked(path):
        pass


@pytest.mark.rule("RTE-8.1")
def test_python_and_file_give_the_same_state(state):
    tracker = new_tracker()
    with tracked(state) as other:
        for each in (tracker, other):
            each.record("web", "tavily_search", failure="timeout_30s", at="t1")
            each.record("web", results=["A", {"grade": "B", "id": "u"}], progress={"entity_nodes": 2}, at="t2")
            each.end_round(at="t3")
    assert json.loads(state.read_text())["events"] == json.loads(tracker.to_json())["events"]
    assert load(state).directive == tracker.directive


@pytest.mark.rule("RTE-8.1")
def test_replaying_the_events_gives_the_same_state_byte_for_byte():
    tracker = new_tracker()
    tracker.record("web", failure="api_error")
    tracker.record("web", results=["C"])
    tracker.end_round()
    again = start(tracker.state.plan, rules_for({}, {}))
    for event in tracker.state.events:
        again = advance(again, event)
    assert PlanTracker.resume(again).to_json() == tracker.to_json()
    assert [type(event) for event in again.events] == [SearchReport, SearchReport, RoundEnd]


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda t: t.record("web", results=["D"]), "report.results.0.grade"),
        (lambda t: t.record("web", results=["A"], progress={"nodes": 1}), "report.progress.nodes"),
        (lambda t: t.record("web", results=["A"], progress={"gaps_covered": 80}), "report.progress.gaps_covered"),
        (lambda t: t.record("web", failure=""), "report.failure"),
        (lambda t: t.end_round(), "event"),
    ],
)
def test_a_report_that_cannot_be_read_is_refused_by_name(call, field):
    tracker = new_tracker()
    with pytest.raises(InputError) as error:
        call(tracker)
    assert error.value.field == field


@pytest.mark.parametrize("plan", [3, "no json", {"task_id": "SR-1"}, {"source_plan": {}}, [1]])
def test_a_plan_that_is_none_is_refused(plan):
    with pytest.raises(InputError, match="plan"):
        PlanTracker(plan, settings={}, env={})


def test_a_plan_may_come_as_json():
    plan = route_sources(REQUEST, settings={}, env={})
    for form in (plan.model_dump_json(), plan.model_dump(mode="json")):
        assert PlanTracker(form, settings={}, env={}).state.plan == plan
