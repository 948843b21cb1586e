"""A judge for tests: it answers what it was told to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.channels.factors import GroupJudgement, Judgement, LeafJudgement
from planner.judges.base import Question


@dataclass
class ScriptedJudge:
    """Factors by name: a group's (domain, scenario), a channel's (scenario, keyword), each in 0..1; the rest is 0.

    >>> ScriptedJudge(groups={"channels-academic": (0.9, 0.8)}, leaves={"arxiv": (0.9, 0.0)})
    """

    groups: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    leaves: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)

    def judge(self, question: Question) -> Judgement:
        """What it was told to say, whatever the question."""
        self.questions.append(question)
        return Judgement(
            {name: GroupJudgement(domain, scenario, "scripted") for name, (domain, scenario) in self.groups.items()},
            {name: LeafJudgement(scenario, keyword, "scripted") for name, (scenario, keyword) in self.leaves.items()},
        )
