"""The lines of a query file: what can be planned, and what is wrong with the rest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.channels.model import SelectionRequest
from planner.channels.request import build_request
from planner.errors import InputError, shown

MAX_GRADE = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A query to be planned. `gold`: bare channel -> grade 0 to 3. `labels`: language and shape where the file says."""

    number: int
    id: str
    request: SelectionRequest
    gold: Mapping[str, int] = field(default_factory=dict)
    gold_groups: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was skipped. `number` counts from 1."""

    number: int
    problem: str


def read_queries(content: bytes, mode: str | None = None) -> tuple[list[Line], list[BadLine]]:
    """The lines of a JSON Lines file, blank ones left out (rule EVA-1.7). `mode`: for lines that name none."""
    good: dict[str, Line] = {}
    bad: list[BadLine] = []
    for number, raw in _numbered(content):
        try:
            line = _line(number, raw, mode)
            if line.id in good:
                raise InputError("id", line.id, f"an id of its own; line {good[line.id].number} has it")
        except (InputError, ValueError) as error:
            bad.append(BadLine(number, str(error)))
        else:
            good[line.id] = line
    return list(good.values()), bad


def _numbered(content: bytes) -> Iterable[tuple[int, bytes]]:
    rows = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return ((number, row) for number, row in enumerate(rows, 1) if row.strip())


def _line(number: int, raw: bytes, mode: str | None) -> Line:
    value = _object(raw)
    request, _ = build_request(value.get("query"), _clarified(value.get("clarify_result"), mode), value.get("scope"))
    labels = {name: value[name] for name in ("lang", "query_shape") if isinstance(value.get(name), str)}
    return Line(number, _id(value), request, _gold(value.get("gold")), _groups(value.get("gold_groups")), labels)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(value, dict):
        raise InputError("line", value, "a JSON object")
    return value


def _clarified(given: Any, mode: str | None) -> Any:
    if mode is None or not isinstance(given, dict | None):
        return given
    return {"mode": mode, **(given or {})}


def _id(value: Mapping[str, Any]) -> str:
    given = value.get("id")
    if isinstance(given, bool) or not isinstance(given, str | int) or not str(given).strip():
        raise InputError("id", given, "text or a whole number")
    return str(given)


def _gold(given: Any) -> dict[str, int]:
    if not isinstance(given, dict | None):
        raise InputError("gold", given, "an object {channel: grade}")
    for channel, grade in (given or {}).items():
        if isinstance(grade, bool) or grade not in range(MAX_GRADE + 1):
            raise InputError(f"gold.{channel}", grade, f"a whole number from 0 to {MAX_GRADE}")
    return {channel: int(grade) for channel, grade in (given or {}).items()}


def _groups(given: Any) -> tuple[str, ...]:
    names = [] if given is None else given
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("gold_groups", shown(given), "a list of group names")
    return tuple(dict.fromkeys(names))
