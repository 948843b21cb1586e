"""One plan's way down the ladder: cache, then each model within what is left of the deadline, then the floor."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from planner import prompts
from planner.channels.factors import Judgement
from planner.channels.model import Degradation, Usage
from planner.errors import ReplayMiss
from planner.judges.base import Question, Verdict
from planner.judges.ladder import FLOOR
from planner.judges.llm import LlmJudge
from planner.llm import libraries
from planner.llm.failure import CallError
from planner.llm.limits import Limits

_RESERVE = 0.05  # of the deadline, for what comes after the judge


async def climb(rungs: tuple[LlmJudge, ...], question: Question, base: Judgement, absent: tuple[str, ...]) -> Verdict:
    """The first answer within the deadline; `base`, the floor's, when no model gives one (rules JDG-2.2, JDG-2.5)."""
    numbers = question.settings.llm
    prompt = prompts.render(question.request, question.catalog, base, numbers.prompt_tokens, numbers.query_chars)
    steps = [Degradation(from_=tier, to=rungs[0].name, reason="no_model", after_ms=0.0) for tier in absent]
    way = _Climb(rungs, question, prompt, base, steps)
    return way.remembered() or await way.ask()


@dataclass(slots=True)
class _Climb:
    """One plan's way down."""

    rungs: tuple[LlmJudge, ...]
    question: Question
    prompt: prompts.Prompt
    base: Judgement
    steps: list[Degradation]
    warmup_ms: float = 0.0
    limits: Limits = field(init=False)

    def __post_init__(self) -> None:
        self._start()

    def remembered(self) -> Verdict | None:
        """The verdict out of the cache, for the first rung that would be asked."""
        for rung in self.rungs:
            if (kept := rung.recall(self.question, self.prompt)) is not None:
                nothing = Usage(tokens_in=0, tokens_out=0, cost_usd=0.0)
                return self._verdict(kept, rung.tier, rung.spec.name, usage=nothing, cached=True)
            if rung.barred(self.question.env) is None:
                return None
        return None

    async def ask(self) -> Verdict:
        """The first answer within the deadline; the floor's when there is none."""
        for at, rung in enumerate(self.rungs):
            below = self.rungs[at + 1 :]
            try:
                judgement = await self._ask(rung, at)
            except ReplayMiss:
                raise
            except CallError as failed:
                self._step_down(rung, below, failed.reason)
            except Exception as error:  # whatever it was, the caller gets a plan
                self._step_down(rung, below, f"unexpected ({type(error).__name__})")
            else:
                return self._verdict(judgement, rung.tier, rung.spec.name, usage=self._usage())
        return self._verdict(self.base, FLOOR, None, usage=self._usage() if self.limits.answers else None)

    async def _ask(self, rung: LlmJudge, at: int) -> Judgement:
        if (bar := rung.barred(self.question.env)) is not None:
            raise bar
        await self._load()
        share = 1.0 if at == len(self.rungs) - 1 else self.question.settings.llm.rung_share
        ends = self.limits.clock() + self.limits.left_s * share
        return await rung.judge(self.question, self.prompt, self.limits, ends)

    async def _load(self) -> None:
        if not libraries.loaded():
            import anyio.to_thread

            self.warmup_ms = await anyio.to_thread.run_sync(libraries.load, abandon_on_cancel=True)
            self._start()

    def _start(self) -> None:
        numbers = self.question.settings.llm
        # the one-time import does not count
        self.limits = Limits(time.monotonic() + numbers.deadline_s * (1 - _RESERVE), numbers.max_requests)

    def _step_down(self, rung: LlmJudge, below: tuple[LlmJudge, ...], reason: str) -> None:
        to = below[0].name if below else FLOOR
        self.steps.append(Degradation(from_=rung.name, to=to, reason=reason, after_ms=self.limits.after_ms))

    def _usage(self) -> Usage:
        spent = self.limits
        cost = None if spent.cost_usd is None else round(spent.cost_usd, 9)
        return Usage(tokens_in=spent.tokens_in, tokens_out=spent.tokens_out, cost_usd=cost)

    def _verdict(
        self, judgement: Judgement, tier: str, model: str | None, *, usage: Usage | None, cached: bool = False
    ) -> Verdict:
        of_model = tier != FLOOR
        return Verdict(
            judgement,
            tier,
            model,
            tuple(self.steps),
            usage,
            self.warmup_ms,
            cached,
            self._notes() if of_model else (),
        )

    def _notes(self) -> tuple[str, ...]:
        capped = self.question.request.scope.budget.max_cost_usd is not None
        unpriced = "the price of the planning call is unknown: it is not counted against max_cost_usd"
        notes = (self.prompt.note, unpriced if capped and self.limits.cost_usd is None else None)
        return tuple(note for note in notes if note)
