"""Why a request finds no recording: the nearest one, what differs, and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from planner.errors import ReplayMiss, shown

_MOST = 4


def same_body(one: Any, other: Any) -> bool:
    """vcr's matcher: bodies are compared as values, so that neither key order nor spaces matter."""
    return bool(_parsed(one.body) == _parsed(other.body))


def check(path: Path, cassette: Any, request: Any) -> None:
    """Raises ReplayMiss, explained, unless a recording that was not played yet fits the request."""
    # vcr would raise an error of its own that the layers above turn into a server's failure
    for at, (recorded, _) in enumerate(cassette.data):
        if not cassette.play_counts[at] and _fits(recorded, request):
            return
    raise ReplayMiss(_miss(path, cassette, request))


def unplayed(path: Path, cassette: Any) -> str:
    """What to say when recordings were left over."""
    left = sum(1 for at in range(len(cassette)) if not cassette.play_counts[at])
    return (
        f"{path}: {left} of {len(cassette)} recorded answers were never asked for: fewer calls were made than recorded"
        f", or none at all (is a model configured?). {_HOW}"
    )


_HOW = "If the change is meant, record again: `planner replay record`, or pytest --planner-record."


def _fits(recorded: Any, request: Any) -> bool:
    return recorded.method == request.method and recorded.path == request.path and same_body(recorded, request)


def _miss(path: Path, cassette: Any, request: Any) -> str:
    if any(_fits(recorded, request) for recorded, _ in cassette.data):
        why = "the recording that fits was played already: more calls are made than were recorded"
        return f"{path}: no recording is left for {request.method} {request.path}; {why}. {_HOW}"
    ranked = sorted(
        (len(differences), at, differences)
        for at, differences in enumerate(_differences(recorded, request) for recorded, _ in cassette.data)
    )
    if not ranked:
        return f"{path}: no recording fits {request.method} {request.path}; the file holds none. {_HOW}"
    _, at, found = ranked[0]
    listed = "; ".join(found[:_MOST]) + ("; …" if len(found) > _MOST else "")
    return (
        f"{path}: no recording fits {request.method} {request.path}; the nearest is number {at + 1}: {listed}. {_HOW}"
    )


def _differences(recorded: Any, request: Any) -> list[str]:
    found = [
        f"{name}: recorded {shown(getattr(recorded, name))}, now {shown(getattr(request, name))}"
        for name in ("method", "path")
        if getattr(recorded, name) != getattr(request, name)
    ]
    return found + list(_between(_parsed(recorded.body), _parsed(request.body), ""))


def _between(old: Any, new: Any, at: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(k for k in new if k not in old)]:
            yield from _between(old.get(key), new.get(key), f"{at}.{key}" if at else str(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for n, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _between(before, after, f"{at}[{n}]")
    elif old != new:
        before, after = _around(old, new)
        yield f"{at or 'body'}: recorded {shown(before)}, now {shown(after)}"


def _around(old: Any, new: Any) -> tuple[Any, Any]:
    # two long texts: show them where they part
    if not isinstance(old, str) or not isinstance(new, str):
        return old, new
    parted = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, parted - 15)
    return old[start : start + 50], new[start : start + 50]


def _parsed(body: Any) -> Any:
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body or ""
    try:
        return json.loads(text)
    except ValueError:
        return text
