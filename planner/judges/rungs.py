"""Which models are asked, in which order: the settings, or the defaults of a provider whose key is set."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from planner.errors import InputError
from planner.judges.base import Judge
from planner.judges.ladder import FLOOR, Ladder
from planner.llm.spec import ModelSpec, default_models
from planner.settings import LlmSettings, ModelEntry, Settings, TierSettings

if TYPE_CHECKING:
    from planner.judges.llm import LlmJudge

NO_MODEL = "no model is configured and no known provider's key is set: the heuristic judge answers"
JUDGES = ("auto", "standard", "fast", "heuristic")
_log = logging.getLogger("planner")
_said: set[str] = set()


def build_ladder(settings: Settings, env: Mapping[str, str], floor: Judge, judge: str | None = None) -> Ladder:
    """The ladder for `judge` (auto, standard, fast or heuristic; None: as the settings say), rule JDG-2.1.

    `auto` without a configured model and without a known provider's key is the heuristic alone: said once, no delay.
    """
    name = judge or settings.judge.default
    if name == FLOOR:
        return Ladder(floor)
    standard, fast = _tiers(settings.llm, env)
    if name == "fast":
        return Ladder(floor, fast, absent=() if fast else ("fast",))
    rungs = standard + fast
    if name == "standard":
        return Ladder(floor, rungs, absent=() if standard else ("standard",))
    if not rungs:
        return Ladder(floor, note=_say(NO_MODEL))
    return Ladder(floor, rungs, quick=() if settings.judge.confidence_gate else fast or rungs)


def _say(note: str) -> str:
    if note not in _said:
        _said.add(note)
        _log.info(note)
    return note


def _tiers(settings: LlmSettings, env: Mapping[str, str]) -> tuple[tuple[LlmJudge, ...], tuple[LlmJudge, ...]]:
    standard, fast = list(_specs(settings.standard)), list(_specs(settings.fast))
    if not standard and not fast:
        standard, fast = ([spec] if spec else [] for spec in default_models(env))
    if not standard and not fast:
        return (), ()
    from planner.judges.llm import LlmJudge

    return (
        tuple(LlmJudge("standard", spec, settings) for spec in standard),
        tuple(LlmJudge("fast", spec, settings) for spec in fast if spec not in standard),
    )


def _specs(tier: TierSettings) -> Iterator[ModelSpec]:
    entries: tuple[ModelEntry, ...] = (tier, *tier.fallbacks)
    return (ModelSpec(entry.model, entry.api_base, entry.key_env) for entry in entries if entry.model)


class Ladders:
    """The ladder of each judge name, made on first use (rule JDG-2.1)."""

    def __init__(self, settings: Settings, env: Mapping[str, str], floor: Judge) -> None:
        self._settings, self._env, self._floor = settings, env, floor
        self._made: dict[str | None, Ladder] = {}

    def of(self, judge: str | None) -> Ladder:
        """The ladder; None: as the settings say. Raises InputError for an unknown name."""
        if judge is not None and judge not in JUDGES:  # a tuple: any object can be looked for in it
            raise InputError("judge", judge, ", ".join(JUDGES))
        if judge not in self._made:
            self._made[judge] = build_ladder(self._settings, self._env, self._floor, judge)
        return self._made[judge]

    def asks_models(self, judge: str | None = None) -> bool:
        """Whether a plan may ask a model: one is configured, or a known provider's key is set."""
        return bool(self.of(judge).rungs)
