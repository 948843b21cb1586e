"""What agents may read: the catalog, and the schemas of plans."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from pydantic import BaseModel

from planner.catalog.model import Group, Leaf
from planner.channels.model import ChannelPlan
from planner.combined import CombinedPlan
from planner.errors import nearest
from planner.pipeline import Planner
from planner.sources.events import TrackState
from planner.sources.model import SourcePlan

_JSON = "application/json"
_SCHEMAS: dict[str, type[BaseModel]] = {
    "channel-plan": ChannelPlan,
    "source-plan": SourcePlan,
    "combined-plan": CombinedPlan,
    "track-state": TrackState,
}


def add_resources(server: MCPServer[Any], planner: Planner) -> None:
    """`catalog://channels`, `catalog://groups/{name}`, `plan-schema://…` (rule MCP-2.1)."""

    @server.resource("catalog://channels", name="channels", description="All channels, by group.", mime_type=_JSON)
    def channels() -> str:
        catalog = planner.catalog
        rows = [channel_record(leaf, planner) for leaf in catalog.leaves if leaf.is_channel]
        return _json({"version": catalog.version, "channels": rows})

    @server.resource("catalog://groups/{name}", name="group", description="A group and its channels.", mime_type=_JSON)
    def group(name: str) -> str:
        groups = planner.catalog.group_by_name
        if name not in groups:
            hint = nearest(name, list(groups))
            suffix = f"did you mean {hint}?" if hint else f"known: {', '.join(groups)}"
            raise ResourceNotFoundError(f"no group is called {name}; {suffix}")
        return _json(group_record(groups[name], planner))

    for name, model in _SCHEMAS.items():
        _add_schema(server, name, model)


def _add_schema(server: MCPServer[Any], name: str, model: type[BaseModel]) -> None:
    @server.resource(f"plan-schema://{name}", name=name, description=f"JSON Schema of a {name}.", mime_type=_JSON)
    def schema() -> str:
        return _json({"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()})


def channel_record(leaf: Leaf, planner: Planner) -> dict[str, Any]:
    """What an agent needs to know of a channel; key names, never a value."""
    return {
        "channel": leaf.channel, "name": leaf.name, "groups": list(leaf.groups), "description": leaf.description,
        "languages": list(leaf.languages), "aliases": list(leaf.aliases), "cost_usd": leaf.cost_usd,
        "auth": leaf.auth.label(planner.env), "runnable": leaf.auth.satisfied(planner.env),
    }  # fmt: skip


def group_record(group: Group, planner: Planner) -> dict[str, Any]:
    """A group and its channels."""
    return {
        "name": group.name, "description": group.description, "domains": list(group.domains),
        "scenarios": list(group.scenarios), "surface": group.surface, "native": group.native,
        "fallback": group.fallback, "recency_sensitive": group.recency_sensitive,
        "channels": [channel_record(leaf, planner) for leaf in planner.catalog.members[group.name]],
    }  # fmt: skip


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
