"""The tools: each parses nothing, decides nothing, and calls one public verb. Their docstrings are what models read."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from anyio import to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import Field

from planner.channels.model import Languages, Mode, Recency
from planner.combined import CombinedPlan
from planner.errors import InputError
from planner.history.outcomes import Outcome
from planner.pipeline import Planner
from planner.routes import explain_route
from planner.server import judging
from planner.server.answers import ChannelAnswer, RecordedAnswer, Step, channel_answer
from planner.server.arguments import (
    Engines,
    Explicit,
    Json,
    JudgeName,
    Names,
    OptionalCount,
    OptionalDollars,
    Priority,
    Rubrics,
    Skip,
    Sources,
    TrackEvent,
)  # fmt: skip
from planner.server.strict import strict_tool
from planner.sources.model import Freshness, GoalMode, Language, SourcePlan, TaskType
from planner.tracker import PlanTracker

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ASKS = _READS.model_copy(update={"open_world_hint": True})  # a configured model may be asked
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)


class Tools:
    """The tools over one planner."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner

    def all(self) -> list[Tool]:
        """The tools in the order they are listed."""
        return [
            strict_tool(self.select_channels_tool, "Select search channels", _ASKS),
            strict_tool(self.route_sources_tool, "Budget searches over sources", _READS),
            strict_tool(self.plan_tool, "Plan sources and channels", _ASKS),
            strict_tool(self.next_step_tool, "Next step of a plan", _READS),
            strict_tool(self.record_outcome_tool, "Record what searches gave", _WRITES),
        ]

    async def select_channels_tool(
        self,
        ctx: Context[Any, Any],
        query: Annotated[str, Field(description="The question, 1 to 4,000 characters")],
        channel_priority: Priority = [],  # noqa: B006 - pydantic copies defaults
        channel_skip: Skip = [],  # noqa: B006
        mode: Mode = "fast",
        query_type: str = "",
        rubrics: Rubrics = [],  # noqa: B006
        languages: Languages = "all",
        recency: Recency = "any",
        max_channels: OptionalCount = None,
        max_groups: OptionalCount = None,
        max_cost_usd: OptionalDollars = None,
        explicit_channels: Explicit = [],  # noqa: B006
        judge: JudgeName = None,
    ) -> ChannelAnswer:
        """Decide which channels to search for a question. It plans; it does not search.
        Pass `channels` to your search tool in their order."""
        budget = {"max_channels": max_channels, "max_groups": max_groups, "max_cost_usd": max_cost_usd}
        arguments = {
            "query": query,
            "clarify_result": {
                "mode": mode, "query_type": query_type, "rubrics": rubrics,
                "channel_priority": channel_priority, "channel_skip": channel_skip,
            },
            "scope": {"languages": languages, "recency": recency, "budget": budget},
            "explicit_channels": explicit_channels,
            "judge": judge,
        }  # fmt: skip
        return channel_answer(await judging.select(self.planner, ctx.report_progress, arguments))

    async def route_sources_tool(
        self,
        task_type: TaskType,
        primary_subject: str,
        goal_mode: GoalMode = "analyze",
        freshness_required: Freshness = "medium",
        need_counter_evidence: bool = False,
        available_sources: Sources = None,
        information_gaps: Names = [],  # noqa: B006
        budget_limit: OptionalCount = None,
        preferred_domains: Names = [],  # noqa: B006
        known_local_material: bool = False,
        available_engines: Engines = None,
        task_description: str = "",
        language: Language | None = None,
    ) -> SourcePlan:
        """Split a budget of searches over kinds of sources: order, numbers, stop rule, fallback chain."""
        request = {
            "task_type": task_type, "primary_subject": primary_subject, "goal_mode": goal_mode,
            "freshness_required": freshness_required, "need_counter_evidence": need_counter_evidence,
            "available_sources": available_sources, "information_gaps": information_gaps,
            "budget_limit": budget_limit, "preferred_domains": preferred_domains,
            "known_local_material": known_local_material, "available_engines": available_engines,
            "task_description": task_description, "language": language,
        }  # fmt: skip
        return self._routed(request)

    async def plan_tool(
        self,
        ctx: Context[Any, Any],
        question: str,
        budget_limit: OptionalCount = None,
        available_sources: Sources = None,
        available_engines: Engines = None,
        channel_priority: Priority = [],  # noqa: B006
        channel_skip: Skip = [],  # noqa: B006
        mode: Mode = "fast",
        languages: Languages = "all",
        recency: Recency = "any",
        judge: JudgeName = None,
    ) -> CombinedPlan:
        """Both for a question in free text: the source plan, and the channels behind its web searches.
        Carry it out with next_step_tool."""
        arguments = {
            "question": question,
            "budget_limit": budget_limit,
            "available_sources": available_sources,
            "available_engines": available_engines,
            "clarify_result": {"mode": mode, "channel_priority": channel_priority, "channel_skip": channel_skip},
            "scope": {"languages": languages, "recency": recency},
            "judge": judge,
        }
        return await judging.plan(self.planner, ctx.report_progress, arguments)

    async def next_step_tool(
        self,
        plan: Annotated[Json, Field(description="To begin: an answer of plan_tool or route_sources_tool")] = None,
        state: Annotated[Json, Field(description="To go on: the state of the last answer")] = None,
        event: Annotated[TrackEvent | None, Field(description="What has happened since")] = None,
    ) -> Step:
        """Say the next step while a plan is carried out. Give a plan, or a state and an event."""
        tracker = self._tracker(plan, state)
        if event is not None:
            _report(tracker, event)
        return Step(directive=tracker.directive, state=tracker.state)

    async def record_outcome_tool(
        self,
        outcomes: list[Outcome],
        session: Annotated[str | None, Field(description="Of the last answer; none begins one")] = None,
        query: Annotated[str, Field(description="Only its kind is kept, unless the user allows more")] = "",
    ) -> RecordedAnswer:
        """Record what searches of channels gave, so that later plans learn from it."""
        record = partial(self.planner.history.record, outcomes, session=session, query=query or None)
        done = await to_thread.run_sync(record)
        return RecordedAnswer(
            session=done.session,
            recorded=done.recorded,
            empty_sessions=done.empty_sessions,
            warnings=list(done.warnings),
        )

    def _routed(self, request: dict[str, Any]) -> SourcePlan:
        given = {key: value for key, value in request.items() if value is not None}
        return explain_route(given, settings=self.planner.settings, env=self.planner.env).plan

    def _tracker(self, plan: dict[str, Any] | None, state: dict[str, Any] | None) -> PlanTracker:
        if (plan is None) == (state is None):
            raise InputError("plan", plan and "both", "either a plan or a state")
        if state is not None:
            return PlanTracker.resume(state)
        assert plan is not None
        return PlanTracker(plan, settings=self.planner.settings, env=self.planner.env)


def _report(tracker: PlanTracker, event: TrackEvent) -> None:
    if event.type == "round":
        tracker.end_round(progress=event.progress)
        return
    source = event.source or tracker.directive.source
    if source is None:
        raise InputError("event.source", None, "the source that was searched")
    tracker.record(
        source,
        event.engine,
        results=event.results,
        failure=event.failure,
        progress=event.progress,
        query=event.query,
    )
