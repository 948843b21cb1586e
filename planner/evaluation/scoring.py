"""Every plan of every arm scored: against labels, against its promises, and by what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.channels.model import ChannelPlan
from planner.evaluation import invariants
from planner.evaluation.arms import Arm
from planner.evaluation.journal import Plans
from planner.evaluation.metrics import Scores, label_scores
from planner.evaluation.queries import Line

SHORT, LONG = 40, 200  # characters, Han ones counted twice; between them a query is a question or a phrase
_LANGUAGES = ("zh", "en", "mixed")


@dataclass(frozen=True, slots=True)
class Scored:
    """`labels`: arm -> metric -> query -> score; `promises`: arm -> promise -> share kept; `slices`: kind -> query."""

    labels: Mapping[str, Scores]
    promises: Mapping[str, Mapping[str, float]]
    slices: Mapping[str, Mapping[str, str]]
    unknown_gold: Sequence[str]


def scored(lines: Sequence[Line], arms: Sequence[Arm], plans: Mapping[str, Plans], k: int) -> Scored:
    """All of it (rules EVA-1.4, EVA-1.6, EVA-1.9)."""
    catalog = arms[0].planner.catalog
    known = {*catalog.leaf_by_channel, *catalog.group_by_name}
    wanted = {name for line in lines for name in (*line.gold, *line.gold_groups)}
    return Scored(
        {arm.name: _labels(lines, {line.id: plans[line.id][arm.name] for line in lines}, k) for arm in arms},
        {arm.name: _promises(lines, arm, plans) for arm in arms},
        {
            "language": {line.id: _language(line, arms[0]) for line in lines},
            "mode": {line.id: line.request.clarify_result.mode for line in lines},
            "shape": {line.id: _shape(line, arms[0]) for line in lines},
        },
        sorted(wanted - known),
    )


def _labels(lines: Sequence[Line], plans: Mapping[str, ChannelPlan], k: int) -> Scores:
    return label_scores(
        {line.id: line.gold for line in lines},
        {line.id: line.gold_groups for line in lines},
        {query: channels_of(plan) for query, plan in plans.items()},
        {query: groups_of(plan) for query, plan in plans.items()},
        k,
    )


def channels_of(plan: ChannelPlan) -> list[str]:
    """Bare channel names in rank order."""
    return [pick.channel for pick in plan.channels]


def groups_of(plan: ChannelPlan) -> list[str]:
    """Names of the listed groups, best first."""
    return [group.name for group in plan.groups]


def _promises(lines: Sequence[Line], arm: Arm, plans: Mapping[str, Plans]) -> dict[str, float]:
    checks = [invariants.kept(arm, line.request, plans[line.id][arm.name]) for line in lines]
    return {name: sum(check[name] for check in checks) / len(checks) for name in checks[0]}


def _language(line: Line, arm: Arm) -> str:
    found = line.labels.get("lang") or arm.planner.catalog.read(line.request.query).language
    base = found.split("-")[0]
    return base if base in _LANGUAGES else "other"


def _shape(line: Line, arm: Arm) -> str:
    """The file's label, or what can be seen: a platform is named, a long assignment, a few words, a question."""
    if said := line.labels.get("query_shape"):
        return said
    query = line.request.query
    reading = arm.planner.catalog.read(query)
    if reading.named or reading.named_groups:
        return "names_platform"
    size = sum(2 if character > "\u2e80" else 1 for character in query)
    if size > LONG:
        return "long_assignment"
    return "few_words" if size <= SHORT else "question"
