"""The combined plan: a question read into a routing request, its source plan, and channels for the web searches."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from planner.channels.model import ChannelPlan
from planner.errors import InputError
from planner.intake import Reading, read_question
from planner.pipeline import Planner
from planner.routes import explain_route
from planner.sources.events import WebChannel
from planner.sources.model import Record, SourcePlan

_CHANNEL_OPTIONS = ("clarify_result", "scope", "explicit_channels", "judge")


class CombinedPlan(Record):
    """Both plans of a question (rules RTE-9.3 to RTE-9.5).

    `request`: the routing request as read or given. `channels`: None where web has no search. `web_channels`: what each
    web search searches, in rank order; `by_engine`: a channel of the fallback group, served by the engine chain.
    """

    question: str
    request: dict[str, Any]
    source_plan: SourcePlan
    channels: ChannelPlan | None
    web_channels: tuple[WebChannel, ...] = ()
    warnings: tuple[str, ...] = ()

    def core(self) -> dict[str, Any]:
        """The plan without ids, times and measurements: what equality and replay compare."""
        return {
            "question": self.question,
            "request": self.request,
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
    **options: Any,
) -> CombinedPlan:
    """Where to search for a question, and how often.

    `options`: fields of RoutingRequest, which win over what is read from the question, and `clarify_result`, `scope`,
    `explicit_channels`, `judge` for the channel selection. `planner` holds catalog and settings ready for many calls.
    Raises InputError for a question or option, SettingsError or CatalogError for what cannot be used.
    """
    own = {key: options.pop(key) for key in _CHANNEL_OPTIONS if key in options}
    planner = planner or Planner(settings=settings, env=os.environ if env is None else env)
    return plan_reading(read_question(question, options), planner, own)


def plan_reading(reading: Reading, planner: Planner, channel_options: Mapping[str, Any]) -> CombinedPlan:
    """The combined plan of a question that has been read, whoever read it."""
    sketch = outline(reading, planner, channel_options)
    return combine(sketch, planner.select(**sketch.selection) if sketch.selection else None, planner)


@dataclass(frozen=True, slots=True)
class Outline:
    """A combined plan before its channels. `selection`: what to ask the channel selection; None: web has no search."""

    reading: Reading
    source_plan: SourcePlan
    selection: dict[str, Any] | None


def outline(reading: Reading, planner: Planner, channel_options: Mapping[str, Any]) -> Outline:
    """The source plan, and the arguments of `Planner.select` or `aselect` that its web searches call for."""
    source_plan = explain_route(reading.request, settings=planner.settings, env=planner.env).plan
    if not (searches := source_plan.budget_allocation.get("web", 0)):
        return Outline(reading, source_plan, None)
    scope = _capped(channel_options.get("scope"), searches, planner)
    question = str(reading.request["task_description"])
    return Outline(reading, source_plan, {**channel_options, "query": question, "scope": scope})


def combine(sketch: Outline, channels: ChannelPlan | None, planner: Planner) -> CombinedPlan:
    """The outline and the channels selected for it, as one plan."""
    request = sketch.reading.request
    missing = "web has no search in the source plan: no channels are selected"
    return CombinedPlan(
        question=str(request["task_description"]),
        request=request,
        source_plan=sketch.source_plan,
        channels=channels,
        web_channels=_served(channels, planner) if channels else (),
        warnings=() if channels else (missing,),
    )


def _capped(scope: Any, searches: int, planner: Planner) -> dict[str, Any]:
    """The caller's scope with one channel per web search as its cap, or the caller's own cap where that is lower."""
    most = min(searches, planner.settings.selection.max_channels)
    values = _as_dict(scope)
    budget = _as_dict(values.get("budget"))
    own = budget.get("max_channels")
    lower = own if isinstance(own, int) and own < most else most
    return {**values, "budget": {**budget, "max_channels": lower}}


def _as_dict(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, BaseModel):
        return value.model_dump()
    raise InputError("scope", value, "a mapping or a Scope")


def _served(channels: ChannelPlan, planner: Planner) -> tuple[WebChannel, ...]:
    fallback = {group.name for group in planner.catalog.groups if group.fallback}
    return tuple(WebChannel(channel=pick.channel, by_engine=pick.group in fallback) for pick in channels.channels)
