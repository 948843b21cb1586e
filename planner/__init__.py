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
    "ChannelPlan": "planner.channels.model",
    "SelectionRequest": "planner.channels.model",
    "PlannerError": "planner.errors",
    "InputError": "planner.errors",
    "CatalogError": "planner.errors",
    "SettingsError": "planner.errors",
    "ReplayMiss": "planner.errors",
}

__all__ = [
    "CatalogError",
    "ChannelPlan",
    "InputError",
    "Planner",
    "PlannerError",
    "ReplayMiss",
    "SelectionRequest",
    "SettingsError",
    "achannel_selection",
    "channel_selection",
]

if TYPE_CHECKING:
    from planner.channels.model import ChannelPlan, SelectionRequest
    from planner.errors import CatalogError, InputError, PlannerError, ReplayMiss, SettingsError
    from planner.pipeline import Planner, achannel_selection, channel_selection


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'planner' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
