"""An A/B comparison on one screen: lines → each through every arm, journalled → scores → pairs → report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from planner.evaluation.arms import Arm
from planner.evaluation.comparison import compared
from planner.evaluation.journal import Journal, Plans, Seen
from planner.evaluation.queries import BadLine, Line
from planner.evaluation.scoring import scored


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is compared on what. `k`: cutoff of the metrics; `answers`: live, or the recording they come from."""

    lines: Sequence[Line]
    bad: Sequence[BadLine]
    arms: Sequence[Arm]
    k: int
    seed: int
    answers: Mapping[str, Any] = field(default_factory=lambda: {"source": "live"})

    def identity(self) -> dict[str, Any]:
        """Everything that decides the plans, as JSON values: what a resumed run must share (rule EVA-1.8)."""
        base = self.arms[0].planner
        variables = {name for leaf in base.catalog.leaves for name in leaf.auth.required}
        return {
            "lines": [[line.id, line.request.model_dump(mode="json")] for line in self.lines],
            "arms": [[arm.name, arm.judge, _digest(arm.planner.settings.model_dump(mode="json"))] for arm in self.arms],
            "catalog": base.catalog.version,
            "keys": sorted(name for name in variables if base.env.get(name, "").strip()),
            "answers": dict(self.answers),
        }

    def taking_turns(self, at: int) -> list[Arm]:
        """The arms in the order in which they plan the line `at`: nobody always finds the caches warm."""
        first = at % len(self.arms)
        return [*self.arms[first:], *self.arms[:first]]


def run(inquiry: Inquiry, journal: Journal, today: date, tick: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """The report as JSON values. Raises ReplayMiss; what was finished before stays in the journal."""
    journal.begin(today.isoformat())
    plans = planned(inquiry, journal, tick)
    scores = scored(inquiry.lines, inquiry.arms, plans, inquiry.k)
    return compared(inquiry, plans, scores, journal)


def planned(inquiry: Inquiry, journal: Journal, tick: Callable[[], None]) -> dict[str, Plans]:
    """Query id -> arm -> plan. A finished query is never planned again."""
    today = date.fromisoformat(journal.today or "")
    for at, line in enumerate(inquiry.lines):
        if line.id not in journal.finished:
            plans: Plans = {}
            factors: Seen = {}
            for arm in inquiry.taking_turns(at):
                plans[arm.name] = arm.plan(line.request, today)
                factors[arm.name] = arm.planner.factors()
            journal.write(line.id, {arm.name: plans[arm.name] for arm in inquiry.arms}, factors)
        tick()
    return {line.id: journal.finished[line.id] for line in inquiry.lines}


def _digest(value: Mapping[str, Any]) -> str:
    plain = {key: part for key, part in value.items() if key not in ("origin", "notes")}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]
