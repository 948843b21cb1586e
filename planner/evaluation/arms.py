"""Arms: ways to plan that are compared on one catalog, environment and history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from planner.channels.model import ChannelPlan, SelectionRequest
from planner.errors import InputError, nearest
from planner.evaluation.flat import FlatPlanner
from planner.evaluation.seeing import SeeingPlanner
from planner.settings import Settings

BUILT_IN = ("standard", "fast", "heuristic", "flat")


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to plan. `judge` None: as its settings say; `grouped`: groups are picked first, so their cap applies."""

    name: str
    planner: SeeingPlanner
    judge: str | None
    grouped: bool = True

    def plan(self, request: SelectionRequest, today: date) -> ChannelPlan:
        """The plan for a request; digests are read as of `today`."""
        return self.planner.select(request, judge=self.judge, today=today)


def build_arms(names: Sequence[str], base: SeeingPlanner) -> tuple[Arm, ...]:
    """An arm a name: standard, fast, heuristic, flat, or a settings file, called by its stem (rule EVA-1.1).

    `base`: whose catalog and environment all share, and whose settings the built-in arms use. Raises InputError.
    """
    arms = tuple(_arm(name.strip(), base) for name in names if name.strip())
    if len(arms) < 2 or len({arm.name for arm in arms}) < len(arms):
        raise InputError("--arms", ",".join(names), "at least two arms with different names")
    return arms


def _arm(name: str, base: SeeingPlanner) -> Arm:
    if name == "flat":
        return Arm(name, _sharing(FlatPlanner, base, base.settings), "heuristic", grouped=False)
    if name in BUILT_IN:
        return Arm(name, base, name)
    if Path(name).is_file():
        return Arm(Path(name).stem, _sharing(SeeingPlanner, base, name), None)
    hint = nearest(name, list(BUILT_IN))
    raise InputError("--arms", name, f"{', '.join(BUILT_IN)} or a settings file" + (f"; {hint}?" if hint else ""))


def _sharing(kind: type[SeeingPlanner], base: SeeingPlanner, settings: Settings | str) -> SeeingPlanner:
    return kind(catalog=base.catalog.root, settings=settings, env=base.env)
