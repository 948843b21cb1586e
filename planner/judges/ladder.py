"""The ladder: judges from the most to the least able; the last one always answers. Every step down is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from planner.channels.factors import NO_GROUP, Judgement
from planner.channels.model import Degradation
from planner.judges.base import Judge, Question, Verdict
from planner.settings import LlmSettings

if TYPE_CHECKING:
    from planner.judges.inquiry import Inquiry
    from planner.judges.llm import LlmJudge

FLOOR = "heuristic"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Way(Generic[Result]):
    """One inquiry and who is to be asked: `rungs` in their order, then `base` stands, what the heuristic says.

    `inquiry` is made only when a model is asked, `base` only when it is needed: most often a model's answer stands.
    `absent`: tiers that were wanted and have no model.
    """

    rungs: tuple[LlmJudge, ...]
    inquiry: Callable[[], Inquiry[Result]]
    base: Callable[[], Result]
    absent: tuple[str, ...] = ()

    def steps(self) -> tuple[Degradation, ...]:
        """The steps down that are known before anybody is asked."""
        to = self.rungs[0].name if self.rungs else FLOOR
        return tuple(Degradation(from_=tier, to=to, reason="no_model", after_ms=0.0) for tier in self.absent)

    def floor(self) -> Verdict[Result]:
        """The verdict where nobody is asked."""
        return Verdict(self.base(), FLOOR, degradations=self.steps())


@dataclass(frozen=True, slots=True)
class Ladder:
    """`rungs` are tried in order, `quick` ones for a simple query (None: the same); `note` says why there are none."""

    floor: Judge
    rungs: tuple[LlmJudge, ...] = ()
    quick: tuple[LlmJudge, ...] | None = None
    absent: tuple[str, ...] = ()
    note: str | None = None

    def way(self, question: Question) -> Way[Judgement]:
        """How a question gets its channels judged."""
        base = cache(lambda: self.floor.judge(question))

        def inquiry() -> Inquiry[Judgement]:
            from planner.judges.rating import rating

            return rating(question, base)

        return self.way_of(inquiry, base, lambda: is_simple(question, base))

    def way_of(
        self, inquiry: Callable[[], Inquiry[Result]], base: Callable[[], Result], simple: Callable[[], bool]
    ) -> Way[Result]:
        """How any inquiry is answered; a simple one goes to the quick rungs (rule JDG-2.1)."""
        rungs = self.rungs if self.quick is None or not simple() else self.quick
        return Way(rungs, inquiry, base, self.absent)

    def warm_up(self) -> None:
        """Load what the models need, in the background; for servers."""
        if self.rungs:
            from planner.llm import libraries

            libraries.warm_up()


def climb(ways: Sequence[Way[Any]], numbers: LlmSettings) -> list[Verdict[Any]]:
    """The verdict of each way. With no rung in any of them there is no event loop."""
    if not any(way.rungs for way in ways):
        return [way.floor() for way in ways]
    from planner.judges.climb import climb_all  # an event loop and the model's room: not for a heuristic plan
    from planner.llm import portal

    return portal.run(climb_all, ways, numbers)


async def aclimb(ways: Sequence[Way[Any]], numbers: LlmSettings) -> list[Verdict[Any]]:
    """As `climb`, without blocking the caller's event loop. Cancellation is passed on to the calls on the wire."""
    if not any(way.rungs for way in ways):
        return [way.floor() for way in ways]
    from planner.judges.climb import climb_all
    from planner.llm import portal

    return await portal.arun(climb_all, ways, numbers)


def is_simple(question: Question, base: Callable[[], Judgement]) -> bool:
    """Whether the heuristic is sure: a platform is named, or the best group leads by the margin (rule JDG-2.1)."""
    if question.reading.named or question.reading.named_groups:
        return True
    groups, selection = base().groups, question.settings.selection
    weights = selection.group_weights
    scores = sorted(
        (
            weights.domain * judged.domain + weights.scenario * judged.scenario
            for judged in (groups.get(group.name, NO_GROUP) for group in question.catalog.groups)
        ),
        reverse=True,
    )
    second = scores[1] if len(scores) > 1 else 0.0
    return bool(scores) and scores[0] - second >= question.settings.judge.simple_margin
