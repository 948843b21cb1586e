"""Whatever a caller hands over → a valid routing request, or an InputError that names the field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from planner.errors import InputError, MissingError, nearest, shown
from planner.sources.model import Engine, RoutingRequest, Source
from planner.sources.rules import Rules

_FIELDS = tuple(RoutingRequest.model_fields)
_REQUIRED = tuple(name for name, field in RoutingRequest.model_fields.items() if field.is_required())
_HOST = re.compile(r"\.?[\w-]+(\.[\w-]+)*(:\d+)?", re.ASCII | re.IGNORECASE)


def build_request(raw: object, rules: Rules) -> tuple[RoutingRequest, tuple[str, ...]]:
    """The request and notes about ignored keys (rules RTE-1.1 to RTE-1.4); a model passes through the same checks.

    Raises InputError for a missing or blank field, a wrong type, an unknown value, a budget out of range.
    """
    values = raw.model_dump() if isinstance(raw, RoutingRequest) else raw
    if not isinstance(values, Mapping):
        raise InputError("request", raw, f"a JSON object with {', '.join(_REQUIRED)}")
    notes = tuple(_ignored(str(key)) for key in values if key not in _FIELDS)
    given = {key: values[key] for key in _FIELDS if values.get(key) is not None}
    if missing := [field for field in _REQUIRED if field not in given]:
        raise MissingError({field: _accepted(field) for field in missing})
    given["primary_subject"] = _subject(given["primary_subject"])
    for field in ("information_gaps", "preferred_domains"):
        given[field] = _texts(given.get(field), field)
    given["preferred_domains"] = tuple(_host(domain) for domain in given["preferred_domains"])
    for field, known in (("available_sources", get_args(Source)), ("available_engines", get_args(Engine))):
        if field in given:
            given[field] = _subset(given[field], field, known)
    return _checked(given, rules), notes


def _checked(given: Mapping[str, Any], rules: Rules) -> RoutingRequest:
    try:
        request = RoutingRequest.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(str(first["loc"][0]), first["input"], _accepted(str(first["loc"][0]))) from None
    most = rules.limits.max_budget
    if request.budget_limit is not None and not 1 <= request.budget_limit <= most:
        raise InputError("budget_limit", request.budget_limit, f"a whole number from 1 to {most}")
    return request


def _accepted(field: str) -> str:
    choices = get_args(RoutingRequest.model_fields[field].annotation)
    words = [choice for choice in choices if isinstance(choice, str)]
    words = words or [word for choice in choices for word in get_args(choice) if isinstance(word, str)]
    if words:
        return ", ".join(words)
    kinds = {"primary_subject": "non-empty text", "task_description": "text", "budget_limit": "a whole number"}
    return kinds.get(field, "true or false")


def _ignored(key: str) -> str:
    hint = nearest(key, list(_FIELDS))
    return f"request: unknown field {shown(key)} was ignored" + (f"; did you mean {hint}?" if hint else "")


def _subject(given: object) -> str:
    if not isinstance(given, str) or not (text := writable(given)):
        raise InputError("primary_subject", given, "non-empty text")
    return text


def writable(text: str) -> str:
    """The text trimmed, lone surrogates replaced: it would fail the caller later, in JSON or on the terminal."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def _texts(given: object, field: str) -> tuple[str, ...]:
    items = [given] if isinstance(given, str) else given or ()
    if not isinstance(items, Iterable) or isinstance(items, Mapping | bytes):
        raise InputError(field, given, "a list of text")
    texts = []
    for item in items:
        if not isinstance(item, str):
            raise InputError(field, item, "a list of text")
        texts.append(writable(item))
    return tuple(dict.fromkeys(filter(None, texts)))


def _subset(given: object, field: str, known: tuple[str, ...]) -> tuple[str, ...]:
    wanted = _texts(given, field)
    for word in wanted:
        if word not in known:
            auto = "; or auto" if field == "available_engines" else ""
            raise InputError(field, word, f"a list of {', '.join(known)}{auto}")
    return tuple(word for word in known if word in wanted)


def _host(domain: str) -> str:
    host = re.sub(r"^[a-z][a-z0-9+.-]*://", "", domain.encode("idna").decode() if _is_idn(domain) else domain)
    host = host.split("/")[0]
    if not _HOST.fullmatch(host):
        raise InputError("preferred_domains", domain, "host names such as example.com")
    return host.lower()


def _is_idn(domain: str) -> bool:
    return not domain.isascii()
