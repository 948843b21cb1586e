"""A tool that refuses arguments it does not know, and says errors in the planner's own words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from planner.errors import PlannerError, nearest, shown

_ERRORS_TOLD = 3
_BY_NAME = ("properties", "$defs")  # their keys are names, not keywords


class StrictTool(Tool):
    """The library ignores unknown arguments and answers with pydantic's texts; this one does neither (rule MCP-1.3)."""

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        self._check(arguments)
        try:
            result = await super().run(arguments, context, convert_result)
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, PlannerError):
                raise ToolError(str(error.__cause__)) from None
            raise
        return _told_twice(result) if isinstance(result, CallToolResult) else result

    def _check(self, arguments: dict[str, Any]) -> None:
        known = list(self.parameters["properties"])
        if problems := [unknown(key, known) for key in arguments if key not in known]:
            raise ToolError("; ".join(problems[:_ERRORS_TOLD]))
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            told = [problem(detail) for detail in error.errors(include_url=False)]
            raise ToolError("; ".join(dict.fromkeys(told[:_ERRORS_TOLD]))) from None


def strict_tool(function: Callable[..., Any], title: str, annotations: ToolAnnotations) -> Tool:
    """The tool of a function; its docstring is the description."""
    tool = StrictTool.from_function(function, title=title, annotations=annotations, description=_described(function))
    slim = _slim(tool.parameters) | {"additionalProperties": False}
    return tool.model_copy(update={"parameters": slim})


def unknown(key: str, known: list[str]) -> str:
    """The refusal of an unknown argument."""
    hint = next((name for name in known if name.startswith(f"{key}_")), None) or nearest(key, known)
    return f"{shown(key)} is not an argument" + (f"; did you mean {hint}?" if hint else f"; known: {', '.join(known)}")


def problem(detail: Any) -> str:
    """One of pydantic's errors, as InputError would say it."""
    field = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "missing":
        return f"{field}: is required"
    if detail["type"] == "extra_forbidden":
        return f"{field}: is not a known field"
    expected = detail.get("ctx", {}).get("expected")
    text = expected or detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return f"{field}: got {shown(detail['input'])}; accepted: {text}"


def _described(function: Callable[..., Any]) -> str:
    return " ".join((function.__doc__ or "").split())


def _slim(schema: Any) -> Any:
    """The schema without titles, which repeat names, and without null for "left out": tokens in every conversation."""
    if isinstance(schema, list):
        return [_slim(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if len(choices := [item for item in schema.get("anyOf", ()) if item != {"type": "null"}]) == 1:
        schema = {**{key: value for key, value in schema.items() if key != "anyOf"}, **choices[0]}
    return {
        key: _slim_all(value) if key in _BY_NAME else _slim(value) for key, value in schema.items() if _says(key, value)
    }


def _slim_all(named: dict[str, Any]) -> dict[str, Any]:
    return {name: _slim(schema) for name, schema in named.items()}


def _says(key: str, value: Any) -> bool:
    """Whether a keyword tells a model more than it would guess; validation does not need it said."""
    if key == "default":
        return value not in (None, [], "")
    return key != "title" and (key, value) not in (("additionalProperties", True), ("minimum", 0))


def _told_twice(result: CallToolResult) -> CallToolResult:
    """The result with a text block equal to its structured content, for clients that read only text (rule MCP-1.2)."""
    text = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    return result.model_copy(update={"content": [TextContent(type="text", text=text)]})
