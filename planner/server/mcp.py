"""The MCP server: the planner's verbs as tools, its catalog and schemas as resources."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from mcp.server.mcpserver import MCPServer

from planner.pipeline import Planner
from planner.server.resources import add_resources
from planner.server.tools import Tools

_FIRST_ANSWER_S = 2.0  # loading competes for the processor: the client's first calls go first
INSTRUCTIONS = (
    "Plans where to search; it never searches. Ask plan_tool (or select_channels_tool for channels alone) before "
    "searching, carry the plan out with next_step_tool, and report what came of it with record_outcome_tool."
)


def build_server(planner: Planner) -> MCPServer[Any]:
    """The server over one planner; what the models need is loaded in the background, soon."""

    @asynccontextmanager
    async def lifespan(_server: MCPServer[Any]) -> AsyncIterator[None]:
        timer = threading.Timer(_FIRST_ANSWER_S, planner.ladders.of(None).warm_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    server = MCPServer(
        "search-planner",
        title="Search planner",
        version=version("search-planner"),
        instructions=INSTRUCTIONS,
        tools=Tools(planner).all(),
        lifespan=lifespan,
        log_level="WARNING",
        subscriptions=False,
    )
    add_resources(server, planner)
    return server
