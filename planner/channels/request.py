"""Whatever a caller hands over → a valid request, or an InputError that names the field. Odd input is a note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from planner.channels.model import Budget, ClarifyResult, Scope, SelectionRequest
from planner.errors import InputError, nearest, shown

MAX_QUERY = 4_000
_LISTS = ("rubrics", "channel_priority", "channel_skip")


def build_request(
    query: object,
    clarify_result: object = None,
    scope: object = None,
    explicit_channels: object = None,
) -> tuple[SelectionRequest, list[str]]:
    """The request and notes about ignored keys (rules SEL-3.1 to SEL-3.5).

    `query` may also be a whole request, as a mapping or model; `clarify_result` and `scope` may be mappings, models, or
    any object with these attributes.
    Raises InputError for a blank or over-long query, a wrong type, an unknown enum value, a number out of range.
    """
    if isinstance(query, SelectionRequest):
        return _whole(query.model_dump())
    if isinstance(query, Mapping):
        return _whole(query)
    notes: list[str] = []
    clarify = _fields(clarify_result, ClarifyResult, "clarify_result", notes)
    limits = _fields(scope, Scope, "scope", notes)
    if limits.get("budget") is not None:
        limits["budget"] = _fields(limits["budget"], Budget, "scope.budget", notes)
    for key in _LISTS:
        if key in clarify:
            clarify[key] = _text_list(clarify[key], f"clarify_result.{key}")
    values = {
        "query": _query(query),
        "clarify_result": clarify,
        "scope": limits,
        "explicit_channels": _text_list(explicit_channels, "explicit_channels"),
    }
    return _validated(values), notes


def _whole(raw: Mapping[str, Any]) -> tuple[SelectionRequest, list[str]]:
    known = list(SelectionRequest.model_fields)
    notes = [_ignored(str(key), "request", known) for key in raw if key not in known]
    query, *rest = (raw.get(key) for key in known)
    if isinstance(query, Mapping | SelectionRequest):
        raise InputError("query", query, f"text of 1 to {MAX_QUERY} characters")
    request, more = build_request(query, *rest)
    return request, notes + more


def _query(query: object) -> str:
    if not isinstance(query, str):
        raise InputError("query", query, f"text of 1 to {MAX_QUERY} characters")
    # a lone surrogate cannot be written anywhere: it would fail the caller later, in JSON or on the terminal
    trimmed = query.encode("utf-8", "replace").decode("utf-8").strip()
    if not trimmed or len(trimmed) > MAX_QUERY:
        given = f"{len(trimmed)} characters" if trimmed else query
        raise InputError("query", given, f"text of 1 to {MAX_QUERY} characters after trimming")
    return trimmed


def _fields(given: object, model: type[BaseModel], where: str, notes: list[str]) -> dict[str, Any]:
    known = list(model.model_fields)
    if given is None:
        return {}
    if isinstance(given, Mapping):
        notes += [_ignored(str(key), where, known) for key in given if key not in known]
        found = {key: given[key] for key in known if key in given}
    elif isinstance(given, str | bytes | int | float | list | tuple):
        raise InputError(where, given, f"a mapping or object with {', '.join(known)}")
    else:
        found = {key: getattr(given, key) for key in known if hasattr(given, key)}
    return {key: value for key, value in found.items() if value is not None}


def _ignored(key: str, where: str, known: list[str]) -> str:
    hint = nearest(key, known)
    return f"{where}: unknown field {shown(key)} was ignored" + (f"; did you mean {hint}?" if hint else "")


def _text_list(given: object, where: str) -> tuple[str, ...]:
    if given is None:
        return ()
    items = [given] if isinstance(given, str) else given
    if not isinstance(items, Iterable) or isinstance(items, Mapping | bytes):
        raise InputError(where, given, "a list of text")
    texts = []
    for item in items:
        if not isinstance(item, str):
            raise InputError(where, item, "a list of text")
        if stripped := item.encode("utf-8", "replace").decode("utf-8").strip():
            texts.append(stripped)
    return tuple(dict.fromkeys(texts))


def _validated(values: dict[str, Any]) -> SelectionRequest:
    try:
        return SelectionRequest.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(field, first["input"], _accepted(first)) from None


def _accepted(problem: Any) -> str:
    message = str(problem["msg"])
    expected = problem.get("ctx", {}).get("expected")
    plain = message.removeprefix("Value error, ").removeprefix("Input should be ").removeprefix("a valid ")
    return str(expected or plain)
