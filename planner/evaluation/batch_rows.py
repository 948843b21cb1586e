"""One line of a batch: what was read → a request → a plan → a row. The same function for every engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from planner.channels.model import ChannelPlan, SelectionRequest
from planner.errors import InputError
from planner.pipeline import Planner
from planner.settings import Settings

MAX_LINE = 1 << 20  # bytes; one endless line must not fill the memory
FIELDS = ("core", "full")
_KNOWN = frozenset(SelectionRequest.model_fields)
_LABELS = frozenset({"id", "gold", "gold_groups"})


class Item(NamedTuple):
    """What was read. `number`: line or row, from 1; `raw`: a line of JSON, or a row of a table as a mapping."""

    number: int
    raw: bytes | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Setup:
    """All that a plan depends on besides its line, in a form that can be sent to another process or machine."""

    catalog: str | None
    settings: Settings
    env: Mapping[str, str]
    judge: str
    today: date
    fields: str

    def planner(self) -> Planner:
        """A planner for these lines."""
        return Planner(self.catalog, self.settings, self.env)


@dataclass(slots=True)
class Done:
    """Rows and refused lines as JSON Lines, and what was counted: rows, bad, degraded, tokens_in, tokens_out, cost_usd.

    `ignored`: fields of the lines that planning knows nothing about.
    """

    rows: bytes = b""
    bad: bytes = b""
    counts: Counter[str] = field(default_factory=Counter)
    ignored: frozenset[str] = frozenset()


def plan_items(planner: Planner, items: Iterable[Item], setup: Setup) -> Done:
    """The plans of some lines, in order, by judges that need no event loop (rule EVA-2.1)."""
    return joined(_plan_item(planner, item, setup) for item in items)


def joined(parts: Iterable[Done]) -> Done:
    """Several results as one, in order."""
    whole, rows, bad = Done(), [], []
    for part in parts:
        rows.append(part.rows)
        bad.append(part.bad)
        whole.counts.update(part.counts)
        whole.ignored |= part.ignored
    whole.rows, whole.bad = b"".join(rows), b"".join(bad)
    return whole


def _plan_item(planner: Planner, item: Item, setup: Setup) -> Done:
    try:
        name, request, ignored = read_item(item)
        plan = planner.select(request, judge=setup.judge, today=setup.today)
    except InputError as error:
        return refused(item, error)
    return planned(name, plan, setup.fields, ignored)


async def aplan_item(planner: Planner, item: Item, setup: Setup) -> Done:
    """The plan of one line by a judge that may ask a model."""
    try:
        name, request, ignored = read_item(item)
        plan = await planner.aselect(request, judge=setup.judge, today=setup.today)
    except InputError as error:
        return refused(item, error)
    return planned(name, plan, setup.fields, ignored)


def read_item(item: Item) -> tuple[str, dict[str, Any], frozenset[str]]:
    """Id (the line's number where it has none), request, ignored fields. Raises InputError (rule EVA-2.4)."""
    values = _parsed(item.raw) if isinstance(item.raw, bytes) else item.raw
    name = values.get("id")
    if name is None:
        name = item.number
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise InputError("id", name, "text or a whole number")
    request = {key: value for key, value in values.items() if key in _KNOWN}
    return str(name), request, frozenset(values) - _KNOWN - _LABELS


def _parsed(line: bytes) -> Mapping[str, Any]:
    if len(line) > MAX_LINE:
        raise InputError("line", f"more than {MAX_LINE} bytes", f"at most {MAX_LINE} bytes")
    try:
        values = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError("line", line[:80].decode("utf-8", "replace"), f"a JSON object ({_why(error)})") from None
    if not isinstance(values, dict):
        raise InputError("line", values, "a JSON object")
    return values


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, json.JSONDecodeError) else type(error).__name__


def planned(name: str, plan: ChannelPlan, fields: str, ignored: frozenset[str]) -> Done:
    """A row and its counts."""
    row = core_row(name, plan) if fields == "core" else {"id": name, "plan": plan.core()}
    usage = plan.usage.model_dump(exclude_none=True) if plan.usage else {}
    counts = Counter({"rows": 1, **usage})
    if plan.degradations:
        counts["degraded"] = 1
    return Done(json_line(row), b"", counts, ignored)


def refused(item: Item, error: InputError) -> Done:
    """A line of the side file: what was wrong, and the line itself, to be corrected and planned later."""
    given = item.raw[:MAX_LINE].decode("utf-8", "replace").strip() if isinstance(item.raw, bytes) else item.raw
    return Done(b"", json_line({"line": item.number, "error": str(error), "given": given}), Counter(bad=1))


def core_row(name: str, plan: ChannelPlan) -> dict[str, Any]:
    """The least that a search layer or a comparison needs of `plan.core()`, at most 400 bytes (rule EVA-2.2).

    `channels` in rank order, `scores` beside them, `groups` best first, `flags` that hold, `tier` of the judge.
    Factors, reasons and runners-up are most of a plan's bytes, and its request gives them back at any time: heuristic
    plans are deterministic. What is the same for a whole batch (catalog, settings, date) stands in its summary.
    """
    return {
        "id": name,
        "channels": [pick.channel for pick in plan.channels],
        "scores": [pick.score for pick in plan.channels],
        "groups": [group.name for group in plan.groups],
        "flags": flags(plan),
        "tier": plan.judge.tier,
    }


def flags(plan: ChannelPlan) -> list[str]:
    """What a reader should know: too few native channels, a step down, a channel without its key, notes in the plan."""
    found = {
        "unguarded": plan.chinese_native_quota_met is False,
        "degraded": bool(plan.degradations),
        "keyless": not all(pick.runnable for pick in plan.channels),
        "noted": bool(plan.adjustments or plan.warnings),
    }
    return [name for name, holds in found.items() if holds]


def json_line(value: Any) -> bytes:
    """Compact JSON in UTF-8 and a newline; what UTF-8 cannot hold is replaced."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace") + b"\n"
