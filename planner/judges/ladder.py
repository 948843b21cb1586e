"""The ladder: an ordered list of judges; the last one always answers. Every step down is kept."""

from __future__ import annotations

from dataclasses import dataclass

from planner.judges.base import Judge, Question, Verdict


@dataclass(frozen=True, slots=True)
class Ladder:
    """Judges from the most to the least able; `floor` needs no network."""

    floor: Judge

    def climb(self, question: Question) -> Verdict:
        """The first answer, from the top."""
        return Verdict(self.floor.judge(question), tier="heuristic")

    async def aclimb(self, question: Question) -> Verdict:
        """As `climb`, on the caller's event loop."""
        return self.climb(question)
