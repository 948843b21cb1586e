"""One plan's way down the ladder: cache, then each model within what is left of the deadline, then the floor."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from planner.channels.model import Degradation, Usage
from planner.errors import ReplayMiss
from planner.judges.base import Verdict
from planner.judges.inquiry import Inquiry, Result
from planner.judges.ladder import FLOOR, Way
from planner.judges.llm import LlmJudge
from planner.llm import libraries
from planner.llm.failure import CallError
from planner.llm.limits import Allowance, Limits
from planner.settings import LlmSettings

_RESERVE = 0.05  # of the deadline, for what comes after the judge


async def climb_all(ways: Sequence[Way[Any]], numbers: LlmSettings) -> list[Verdict[Any]]:
    """The verdicts of what one plan asks, side by side under one deadline and one count of requests (rule JDG-2.5).

    Each is the first answer within the deadline, or the way's own base (rule JDG-2.2).
    """
    allowance = Allowance(numbers.deadline_s * (1 - _RESERVE), numbers.max_requests)
    found = await asyncio.gather(*(_verdict(way, numbers, allowance) for way in ways), return_exceptions=True)
    return [_or_raised(one) for one in found]  # raised when all are done: none is left behind


def _or_raised(found: Verdict[Any] | BaseException) -> Verdict[Any]:
    if isinstance(found, BaseException):
        raise found
    return found


async def _verdict(way: Way[Result], numbers: LlmSettings, allowance: Allowance) -> Verdict[Result]:
    if not way.rungs:
        return way.floor()
    climb = _Climb(way, way.inquiry(), numbers, Limits(allowance), list(way.steps()))
    return climb.remembered() or await climb.ask()


@dataclass(slots=True)
class _Climb(Generic[Result]):
    """One inquiry's way down."""

    way: Way[Result]
    inquiry: Inquiry[Result]
    numbers: LlmSettings
    limits: Limits
    steps: list[Degradation]
    warmup_ms: float = field(default=0.0, init=False)

    def remembered(self) -> Verdict[Result] | None:
        """The verdict out of the cache, for the first rung that would be asked."""
        for rung in self.way.rungs:
            if (kept := rung.recall(self.inquiry)) is not None:
                nothing = Usage(tokens_in=0, tokens_out=0, cost_usd=0.0)
                return self._verdict(kept, rung.tier, rung.spec.name, usage=nothing, cached=True)
            if rung.barred(self.inquiry.env) is None:
                return None
        return None

    async def ask(self) -> Verdict[Result]:
        """The first answer within the deadline; the floor's when there is none."""
        for at, rung in enumerate(self.way.rungs):
            below = self.way.rungs[at + 1 :]
            try:
                judgement = await self._ask(rung, last=not below)
            except ReplayMiss:
                raise
            except CallError as failed:
                self._step_down(rung, below, failed.reason)
            except Exception as error:  # whatever it was, the caller gets a plan
                self._step_down(rung, below, f"unexpected ({type(error).__name__})")
            else:
                return self._verdict(judgement, rung.tier, rung.spec.name, usage=self._usage())
        return self._verdict(self.way.base(), FLOOR, None, usage=self._usage() if self.limits.answers else None)

    async def _ask(self, rung: LlmJudge, *, last: bool) -> Result:
        if (bar := rung.barred(self.inquiry.env)) is not None:
            raise bar
        await self._load()
        share = 1.0 if last else self.numbers.rung_share
        return await rung.judge(self.inquiry, self.limits, self.limits.clock() + self.limits.left_s * share)

    async def _load(self) -> None:
        if not libraries.loaded():
            import anyio.to_thread

            self.warmup_ms = await anyio.to_thread.run_sync(libraries.load, abandon_on_cancel=True)
            self.limits.allowance.restart()  # the one-time import does not count

    def _step_down(self, rung: LlmJudge, below: tuple[LlmJudge, ...], reason: str) -> None:
        to = below[0].name if below else FLOOR
        self.steps.append(Degradation(from_=rung.name, to=to, reason=reason, after_ms=self.limits.after_ms))

    def _usage(self) -> Usage:
        spent = self.limits
        cost = None if spent.cost_usd is None else round(spent.cost_usd, 9)
        return Usage(tokens_in=spent.tokens_in, tokens_out=spent.tokens_out, cost_usd=cost)

    def _verdict(
        self, judgement: Result, tier: str, model: str | None, *, usage: Usage | None, cached: bool = False
    ) -> Verdict[Result]:
        notes = self._notes() if tier != FLOOR else ()
        return Verdict(judgement, tier, model, tuple(self.steps), usage, self.warmup_ms, cached, notes)

    def _notes(self) -> tuple[str, ...]:
        capped = self.inquiry.cap_usd is not None
        unpriced = "the price of the planning call is unknown: it is not counted against max_cost_usd"
        notes = (self.inquiry.prompt.note, unpriced if capped and self.limits.cost_usd is None else None)
        return tuple(note for note in notes if note)
