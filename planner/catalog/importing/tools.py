"""The tools of an MCP server: the answer to `tools/list`, asked for or saved."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.catalog.importing.found import Found, Remark, Source, lines_of, one_line
from planner.errors import InputError
from planner.paths import content_of

_ACCEPTED = "the answer to tools/list: a JSON object with a list `tools`, alone or under `result`"


def read_tools_file(path: Path) -> Source:
    """A saved `tools/list` (rule CAT-1.3). Raises InputError when there is no list of tools in it."""
    try:
        value = json.loads(content_of(path).decode("utf-8-sig"))
    except ValueError as error:
        raise InputError("SOURCE", str(path), f"{_ACCEPTED} ({error})") from None
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        value = value["result"]
    tools = value.get("tools") if isinstance(value, dict) else value
    if not isinstance(tools, list):
        raise InputError("SOURCE", str(path), _ACCEPTED)
    return read_tools(tools, path.stem)


def read_tools(tools: Sequence[Any], label: str) -> Source:
    """The tools as the server describes them; those without a name or a description are refused."""
    source = Source(label)
    for number, tool in enumerate(tools, 1):
        if isinstance(tool, dict):
            source.add(_card(tool, f"{label}: {tool.get('name') or f'tool {number}'}"))
        else:
            source.refused.append(Remark(f"{label}: tool {number}", "not a JSON object"))
    return source


def _card(tool: dict[str, Any], where: str) -> Found:
    annotations = tool.get("annotations")
    title = one_line(tool.get("title")) or one_line(annotations.get("title") if isinstance(annotations, dict) else "")
    return Found(
        name=one_line(tool.get("name")),
        description=one_line(tool.get("description")) or title,
        where=where,
        aliases=lines_of(title),
    )
