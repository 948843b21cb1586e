"""Text that should be JSON → the object in it, where the meaning is plain. Reads; never judges."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

MAX_ANSWER = 1_000_000  # characters; a longer answer is not read at all
_MAX_MENDED = 64_000  # mending is slower than reading
_THINK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[A-Za-z]*\s*\n?(.*?)```", re.DOTALL)
_DEPTH = 4


class NoJsonError(ValueError):
    """There is no JSON object or list in the text at all."""


def read_json(text: str) -> Any:
    """The first object or list in `text`: as it is, out of a fence, out of prose, or mended. Raises NoJsonError."""
    if len(text) > MAX_ANSWER:
        raise NoJsonError("the answer is too long")
    for candidate in _candidates(text):
        found = _load(candidate)
        if isinstance(found, dict | list):
            return found
    return _mended(text)


def unwrap(value: Any, fields: Collection[str]) -> Any:
    """The object that has one of `fields`, however it is wrapped ({"parameter": {...}}, [{...}], a JSON string)."""
    for inner in _inside(value, 0):
        if isinstance(inner, dict) and any(name in inner for name in fields):
            return inner
    return value


def _candidates(text: str) -> Iterator[str]:
    yield text
    bare = _THINK.sub("", text)
    yield from (match.group(1) for match in _FENCE.finditer(bare))
    for source in (bare, text):
        if span := _outermost(source):
            yield span


def _outermost(text: str) -> str | None:
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    return text[min(starts) : end + 1] if starts and end > min(starts) else None


def _load(text: str) -> Any:
    try:
        # strict=False: raw control characters inside strings are the commonest slip of small models
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _mended(text: str) -> Any:
    span = _outermost(_THINK.sub("", text)) or _outermost(text)
    if span is None:
        raise NoJsonError("there is no JSON object in the answer")
    if len(span) > _MAX_MENDED:
        raise NoJsonError("the JSON is broken and too long to mend")
    from json_repair import repair_json

    try:
        found = repair_json(span, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict | list) or not found:
        raise NoJsonError("the JSON is broken")
    return found


def _inside(value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, str) and value[:1] in "{[" and depth:
        value = _load(value)
    yield value
    if depth >= _DEPTH:
        return
    if isinstance(value, Mapping):
        for inner in list(value.values())[:20]:
            yield from _inside(inner, depth + 1)
    elif isinstance(value, list) and len(value) == 1:
        yield from _inside(value[0], depth + 1)
