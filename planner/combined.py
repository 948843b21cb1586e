"""The combined plan: a question read into a routing request, its source plan, and channels for the web searches."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.channels.model import ChannelPlan, Degradation, Tier, Usage
from planner.intake import Reading, read_question, reading_way
from planner.job import Job
from planner.judges.base import Verdict
from planner.judges.intake import Fields
from planner.judges.ladder import Way, aclimb, climb
from planner.pipeline import Planner
from planner.routes import explain_route
from planner.sources.events import WebChannel
from planner.sources.model import Record, SourcePlan

_CHANNEL_OPTIONS = ("clarify_result", "scope", "explicit_channels")


class Reader(Record):
    """Who read the question (rule RTE-9.6). `fields`: those that a model filled in; the others were given, or are the
    heuristic's. `degradations`: steps down until somebody answered.
    """

    tier: Tier = "heuristic"
    model: str | None = None
    fields: tuple[str, ...] = ()
    degradations: tuple[Degradation, ...] = ()
    cached: bool = False

    def core(self) -> dict[str, Any]:
        """Without measurements."""
        return self.model_dump(mode="json", exclude={"cached": True, "degradations": {"__all__": {"after_ms"}}})


class CombinedPlan(Record):
    """Both plans of a question (rules RTE-9.3 to RTE-9.6).

    `request`: the routing request as read or given. `channels`: None where web has no search. `web_channels`: what each
    web search searches, in rank order; `by_engine`: a channel of the fallback group, served by the engine chain.
    `usage`: of all that models were asked for this plan; None where none answered.
    """

    question: str
    request: dict[str, Any]
    reader: Reader = Reader()
    source_plan: SourcePlan
    channels: ChannelPlan | None
    web_channels: tuple[WebChannel, ...] = ()
    usage: Usage | None = None
    warnings: tuple[str, ...] = ()

    def core(self) -> dict[str, Any]:
        """The plan without ids, times and measurements: what equality and replay compare."""
        return {
            "question": self.question,
            "request": self.request,
            "reader": self.reader.core(),
            "source_plan": self.source_plan.core(),
            "channels": self.channels.core() if self.channels else None,
            "web_channels": [channel.model_dump() for channel in self.web_channels],
            "warnings": list(self.warnings),
        }


def plan(
    question: str,
    *,
    planner: Planner | None = None,
    settings: Any = None,
    env: Mapping[str, str] | None = None,
    judge: str | None = None,
    **options: Any,
) -> CombinedPlan:
    """Where to search for a question, and how often.

    `options`: fields of RoutingRequest, which win over what is read from the question, and `clarify_result`, `scope`,
    `explicit_channels` for the channel selection. `judge`: who reads the question and judges channels, as in
    `channel_selection`. `planner` holds catalog and settings ready for many calls.
    Raises InputError for a question or option, SettingsError or CatalogError for what cannot be used.
    """
    draft = _draft(question, planner or _planner(settings, env), judge, options)
    return _finished(draft, climb(draft.ways, draft.planner.settings.llm))


async def aplan(
    question: str,
    *,
    planner: Planner | None = None,
    settings: Any = None,
    env: Mapping[str, str] | None = None,
    judge: str | None = None,
    **options: Any,
) -> CombinedPlan:
    """As `plan`, on the caller's event loop."""
    draft = _draft(question, planner or _planner(settings, env), judge, options)
    return _finished(draft, await aclimb(draft.ways, draft.planner.settings.llm))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A combined plan before anybody is asked. `ways`: who reads the question; then, where web may be searched, who
    judges channels: the two do not wait for each other, since the source plan only says how many channels there are.
    """

    planner: Planner
    reading: Reading
    source_plan: SourcePlan
    job: Job
    ways: tuple[Way[Any], ...]


def _draft(question: str, planner: Planner, judge: str | None, options: Mapping[str, Any]) -> _Draft:
    own = {key: options[key] for key in _CHANNEL_OPTIONS if key in options}
    reading = read_question(question, {key: value for key, value in options.items() if key not in own})
    source_plan = _routed(reading, planner)
    job = planner.job(reading.request["task_description"], **own)
    cap = job.question.request.scope.budget.max_cost_usd
    reader = reading_way(reading, planner.ladders.of(judge), planner.settings.llm, planner.env, cap)
    web = "web" in source_plan.budget_allocation
    if reader.rungs:  # whatever a model reads, web is searched only where it can be
        web = all(entry.reason != "web_unavailable" for entry in source_plan.degradation_log)
    return _Draft(planner, reading, source_plan, job, (reader, planner.way(job, judge)) if web else (reader,))


def _finished(draft: _Draft, verdicts: Sequence[Verdict[Any]]) -> CombinedPlan:
    read, *judged = verdicts
    reading = draft.reading.with_fields(read.judgement)
    source_plan = _routed(reading, draft.planner) if read.judgement else draft.source_plan
    channels = None
    if searches := source_plan.budget_allocation.get("web"):
        paid = (read.usage.cost_usd if read.usage else None) or 0.0
        channels = draft.planner.chosen(draft.job.capped(searches), judged[0], paid)
    missing = () if channels else ("web has no search in the source plan: no channels are selected",)
    return CombinedPlan(
        question=str(reading.request["task_description"]),
        request=reading.request,
        reader=_reader(read, draft.reading.given),
        source_plan=source_plan,
        channels=channels,
        web_channels=_served(channels, draft.planner) if channels else (),
        usage=_total(verdicts),
        warnings=(*read.warnings, *missing),
    )


def _routed(reading: Reading, planner: Planner) -> SourcePlan:
    return explain_route(reading.request, settings=planner.settings, env=planner.env).plan


def _reader(read: Verdict[Fields], given: frozenset[str]) -> Reader:
    return Reader(
        tier=read.tier,
        model=read.model,
        fields=tuple(field for field in read.judgement if field not in given),
        degradations=read.degradations,
        cached=read.cached,
    )


def _total(verdicts: Sequence[Verdict[Any]]) -> Usage | None:
    used = [verdict.usage for verdict in verdicts if verdict.usage]
    if not used:
        return None
    sums = {key: [getattr(usage, key) for usage in used] for key in Usage.model_fields}
    return Usage(**{key: None if None in values else sum(values) for key, values in sums.items()})


def _planner(settings: Any, env: Mapping[str, str] | None) -> Planner:
    return Planner(settings=settings, env=os.environ if env is None else env)


def _served(channels: ChannelPlan, planner: Planner) -> tuple[WebChannel, ...]:
    fallback = {group.name for group in planner.catalog.groups if group.fallback}
    return tuple(WebChannel(channel=pick.channel, by_engine=pick.group in fallback) for pick in channels.channels)
