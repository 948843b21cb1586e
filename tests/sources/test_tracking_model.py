"""Whatever engines answer, the tracker keeps its promises: a model-based test over whole sessions."""

from typing import get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from routing_example import EXAMPLE

from planner.errors import InputError
from planner.settings import default_settings
from planner.sources.events import Progress, Result, RoundEnd, SearchReport, TrackState, WebChannel
from planner.sources.loading import load_rules
from planner.sources.model import Freshness, GoalMode, Source, TaskType
from planner.sources.request import build_request
from planner.sources.routing import route_sources
from planner.sources.tracking import advance, start

RULES = load_rules(default_settings())
REASONS = ["quota_exhausted", "api_error", "gfw_blocked", "empty_results", "timeout_30s", "something_new"]
results = st.lists(
    st.builds(Result, grade=st.sampled_from("SABCC"), id=st.none() | st.sampled_from(["u", "v", "w"])), max_size=6
)
progress = st.builds(
    Progress,
    local_hits=st.none() | st.integers(0, 6),
    gaps_covered=st.none() | st.floats(0, 1),
    independent_confirmations=st.none() | st.integers(0, 3),
)


class TrackedPlan(RuleBasedStateMachine):
    """Answers directives with anything an engine may return, ends rounds early, and sends nonsense."""

    @initialize(
        task=st.sampled_from(get_args(TaskType)),
        goal=st.sampled_from(get_args(GoalMode)),
        freshness=st.sampled_from(get_args(Freshness)),
        sources=st.lists(st.sampled_from(get_args(Source)), unique=True),
        budget=st.integers(1, 30),
        channels=st.lists(st.builds(WebChannel, channel=st.sampled_from("abcdef"), by_engine=st.booleans()),
                          max_size=4, unique_by=lambda known: known.channel),
        gaps=st.booleans(),
    )  # fmt: skip
    def begin(self, *, task, goal, freshness, sources, budget, channels, gaps):
        wanted = {"task_type": task, "goal_mode": goal, "freshness_required": freshness, "available_sources": sources}
        request, _ = build_request({**EXAMPLE, **wanted, "budget_limit": budget}, RULES)
        self.plan = route_sources(request, RULES, task_id="SR-0", timestamp="t").plan
        self.first = start(self.plan, RULES, channels=channels, has_gaps=gaps)
        self.state, self.failures, self.calls, self.total = self.first, 0, 0, budget

    def stopped(self):
        return self.state.directive.action == "stop"

    def searching(self):
        return self.state.directive.source is not None and not self.stopped()

    def send(self, event):
        self.state = advance(self.state, event)

    @precondition(searching)
    @rule(found=results, counts=progress)
    def answer(self, found, counts):
        asked = self.state.directive
        self.failures += not found
        self.calls += 1
        self.send(SearchReport(source=asked.source, engine=asked.engine, results=found, progress=counts, at="t"))

    @precondition(searching)
    @rule(reason=st.sampled_from(REASONS))
    def fail(self, reason):
        asked = self.state.directive
        self.failures += 1
        self.calls += 1
        self.send(SearchReport(source=asked.source, engine=asked.engine, failure=reason, at="t"))

    @precondition(lambda self: not self.stopped() and self.state.calls_in_round)
    @rule(counts=progress)
    def end_round(self, counts):
        self.send(RoundEnd(at="t", progress=counts))

    @rule(event=st.sampled_from([
        SearchReport(source="email", failure="api_error", at="t"),
        SearchReport(source="web", engine="altavista", failure="api_error", at="t"),
    ]))  # fmt: skip
    def nonsense(self, event):
        before = self.state.model_dump_json()
        with pytest.raises(InputError):
            self.send(event)
        assert self.state.model_dump_json() == before

    @invariant()
    def the_budget_is_never_exceeded(self):
        tallies = self.state.tallies.values()
        assert sum(tally.used for tally in tallies) <= sum(tally.allocation for tally in tallies) <= self.total
        assert all(tally.used <= tally.allocation for tally in tallies)

    @invariant()
    def it_ends(self):
        levels = len(self.plan.fallback_chain) + 1
        assert self.state.rounds_ended <= self.plan.stop_rule.max_rounds
        assert self.calls <= self.total * (levels + 1)
        if self.state.rounds_ended == self.plan.stop_rule.max_rounds:
            assert self.stopped()

    @invariant()
    def every_failure_is_logged_once(self):
        assert len(self.state.degradation_log) == len(self.plan.degradation_log) + self.failures

    @invariant()
    def a_directive_can_be_carried_out(self):
        asked = self.state.directive
        if asked.action in ("search", "retry_narrower", "change_strategy"):
            assert self.state.tallies[asked.source].left
            assert asked.source not in ("web", "counter") or asked.engine or asked.channel
        assert asked.engine not in self.state.closed

    def teardown(self):
        if not hasattr(self, "first"):
            return
        replayed = self.first
        for event in self.state.events:
            replayed = advance(replayed, event)
        text = self.state.model_dump_json()
        assert replayed.model_dump_json() == text
        assert TrackState.model_validate_json(text).model_dump_json() == text


TrackedPlan.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)


@pytest.mark.rule("RTE-8.1", "RTE-8.4", "RTE-8.5", "RTE-8.11")
class TestTrackedPlan(TrackedPlan.TestCase):
    pass


@pytest.mark.slow
class TestTrackedPlanAtLength(TrackedPlan.TestCase):
    settings = settings(max_examples=1500, stateful_step_count=80, deadline=None)
