"""The ladder: judges from the most to the least able; the last one always answers. Every step down is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.channels.factors import NO_GROUP, Judgement
from planner.channels.model import Degradation
from planner.judges.base import Judge, Question, Verdict

if TYPE_CHECKING:
    from planner.judges.llm import LlmJudge

FLOOR = "heuristic"


@dataclass(frozen=True, slots=True)
class Ladder:
    """`rungs` are tried in order, `quick` ones for a simple query (None: the same); `note` says why there are none."""

    floor: Judge
    rungs: tuple[LlmJudge, ...] = ()
    quick: tuple[LlmJudge, ...] | None = None
    absent: tuple[str, ...] = ()
    note: str | None = None

    def climb(self, question: Question) -> Verdict:
        """The first answer from the top. With no rung for the question there is no event loop."""
        base = self.floor.judge(question)
        rungs = self.rungs_for(question, base)
        if not rungs:
            return self._floor_verdict(base)
        from planner.judges.climb import climb  # an event loop and the model's room: not for a heuristic plan
        from planner.llm import portal

        return portal.run(climb, rungs, question, base, self.absent)

    async def aclimb(self, question: Question) -> Verdict:
        """As `climb`, without blocking the caller's event loop. Cancellation is passed on to the call on the wire."""
        base = self.floor.judge(question)
        rungs = self.rungs_for(question, base)
        if not rungs:
            return self._floor_verdict(base)
        from planner.judges.climb import climb
        from planner.llm import portal

        return await portal.arun(climb, rungs, question, base, self.absent)

    def rungs_for(self, question: Question, base: Judgement) -> tuple[LlmJudge, ...]:
        """The models to ask: a simple query goes to the quick ones (rule JDG-2.1)."""
        return self.rungs if self.quick is None or not is_simple(question, base) else self.quick

    def warm_up(self) -> None:
        """Load what the models need, in the background; for servers."""
        if self.rungs:
            from planner.llm import libraries

            libraries.warm_up()

    def _floor_verdict(self, base: Judgement) -> Verdict:
        steps = tuple(Degradation(from_=tier, to=FLOOR, reason="no_model", after_ms=0.0) for tier in self.absent)
        return Verdict(base, FLOOR, degradations=steps)


def is_simple(question: Question, base: Judgement) -> bool:
    """Whether the heuristic is sure: a platform is named, or the best group leads by the margin (rule JDG-2.1)."""
    if question.reading.named or question.reading.named_groups:
        return True
    selection = question.settings.selection
    weights = selection.group_weights
    scores = sorted(
        (
            weights.domain * judged.domain + weights.scenario * judged.scenario
            for judged in (base.groups.get(group.name, NO_GROUP) for group in question.catalog.groups)
        ),
        reverse=True,
    )
    second = scores[1] if len(scores) > 1 else 0.0
    return bool(scores) and scores[0] - second >= question.settings.judge.simple_margin
