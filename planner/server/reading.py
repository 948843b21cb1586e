"""Asks a running MCP server for its tools: started here over stdio, or reached by URL. Used by `catalog import`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from planner.catalog.importing.found import Source
from planner.catalog.importing.tools import read_tools
from planner.errors import InputError, shown

_PATIENCE_S = 60  # a server may have to load a model first
_PAGES = 1000  # of a paged list; a server that never ends it is cut off


def tools_of(command: Sequence[str]) -> Source:
    """The tools of a server started as a child process. Raises InputError when it does not answer."""
    from mcp import StdioServerParameters

    server = StdioServerParameters(command=command[0], args=list(command[1:]))
    return read_tools(_ask(server, " ".join(command)), _label(command))


def tools_at(url: str) -> Source:
    """The tools of a server reached over streamable HTTP. Raises InputError when it does not answer."""
    return read_tools(_ask(url, url), url)


def _label(command: Sequence[str]) -> str:
    words = [word for word in command if not word.startswith("-")]
    return words[-1].rsplit("/", 1)[-1]


def _ask(server: Any, source: str) -> list[dict[str, Any]]:
    import anyio

    client = logging.getLogger("mcp")
    level = client.level
    client.setLevel(logging.CRITICAL + 1)  # it logs whole tracebacks of what is told in one line below
    try:
        return anyio.run(_listed, server)
    except Exception as error:  # the client wraps whatever went wrong in groups of its own
        cause = _innermost(error)
        raise InputError("SOURCE", source, f"an MCP server that answers tools/list ({shown(cause)})") from None
    finally:
        client.setLevel(level)


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


async def _listed(server: Any) -> list[dict[str, Any]]:
    import anyio
    from mcp import Client

    tools: list[dict[str, Any]] = []
    cursor: str | None = None
    with anyio.fail_after(_PATIENCE_S):
        async with Client(server) as client:
            for _ in range(_PAGES):
                page = await client.list_tools(cursor=cursor)
                tools += [tool.model_dump(mode="json", by_alias=True) for tool in page.tools]
                cursor = page.next_cursor
                if not cursor:
                    break
    return tools
