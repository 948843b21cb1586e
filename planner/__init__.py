"""search-planner: decides where an AI research agent should search. It plans; it never searches.

>>> from planner import channel_selection
>>> selection = channel_selection(query="小红书有没有人用 Cursor 做编程")
>>> [leaf.name for leaf in selection.channels[:6]]

Names are imported on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "channel_selection": "planner.pipeline",
    "achannel_selection": "planner.pipeline",
    "Planner": "planner.pipeline",
    "route_sources": "planner.routes",
    "explain_route": "planner.routes",
    "plan": "planner.combined",
    "aplan": "planner.combined",
    "PlanTracker": "planner.tracker",
    "ChannelPlan": "planner.channels.model",
    "SelectionRequest": "planner.channels.model",
    "SourcePlan": "planner.sources.model",
    "RoutingRequest": "planner.sources.model",
    "CombinedPlan": "planner.combined",
    "Directive": "planner.sources.events",
    "Progress": "planner.sources.events",
    "Result": "planner.sources.events",
    "TrackState": "planner.sources.events",
    "ScriptedJudge": "planner.judges.scripted",
    "PlannerError": "planner.errors",
    "InputError": "planner.errors",
    "CatalogError": "planner.errors",
    "SettingsError": "planner.errors",
    "ReplayMiss": "planner.errors",
}

__all__ = [
    "CatalogError",
    "ChannelPlan",
    "CombinedPlan",
    "Directive",
    "InputError",
    "PlanTracker",
    "Planner",
    "PlannerError",
    "Progress",
    "ReplayMiss",
    "Result",
    "RoutingRequest",
    "ScriptedJudge",
    "SelectionRequest",
    "SettingsError",
    "SourcePlan",
    "TrackState",
    "achannel_selection",
    "aplan",
    "channel_selection",
    "explain_route",
    "plan",
    "replay",
    "route_sources",
]

if TYPE_CHECKING:
    from planner import replay
    from planner.channels.model import ChannelPlan, SelectionRequest
    from planner.combined import CombinedPlan, aplan, plan
    from planner.errors import CatalogError, InputError, PlannerError, ReplayMiss, SettingsError
    from planner.judges.scripted import ScriptedJudge
    from planner.pipeline import Planner, achannel_selection, channel_selection
    from planner.routes import explain_route, route_sources
    from planner.sources.events import Directive, Progress, Result, TrackState
    from planner.sources.model import RoutingRequest, SourcePlan
    from planner.tracker import PlanTracker


def __getattr__(name: str) -> Any:
    if name == "replay":  # a room of its own: planner.replay.replay(…) records and replays model calls
        return import_module("planner.replay")
    if name not in _HOMES:
        raise AttributeError(f"module 'planner' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
