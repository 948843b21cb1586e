"""Labelled queries, judged once; each set of numbers is then tried on the same judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from planner.catalog.model import Catalog, Leaf
from planner.channels.factors import GroupFactors, Judgement, LeafFactors
from planner.channels.limits import build_limits
from planner.channels.scoring import Context, score_groups, score_leaf, trusted
from planner.channels.selection import select
from planner.errors import InputError
from planner.evaluation.metrics import Scores, label_scores
from planner.evaluation.queries import Line
from planner.evaluation.tuning_space import Point, with_point
from planner.judges.base import Question
from planner.judges.heuristic import HeuristicJudge
from planner.settings import Settings

K = 8
AIMS = ("ndcg", "group_f1")  # what is tuned for is the mean of the two


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled query, read and judged; the judgement depends on no number that is tuned."""

    line: Line
    judgement: Judgement
    context: Context


@dataclass(frozen=True)
class Examples:
    """Labelled queries and the settings the search begins from."""

    settings: Settings
    by_id: Mapping[str, Example]

    def scores(self, point: Point, ids: Sequence[str]) -> Scores:
        """Metric -> query id -> score in 0..1, for the plans that these numbers make."""
        settings = with_point(self.settings, point)
        picks, groups = {}, {}
        for name in ids:
            example = self.by_id[name]
            plan = select(example.judgement, replace(example.context, settings=settings), (), _no_boost)
            picks[name] = [pick.channel for pick in plan.channels]
            groups[name] = [group.name for group in plan.groups]
        gold = {name: self.by_id[name].line.gold for name in ids}
        return label_scores(gold, {name: self.by_id[name].line.gold_groups for name in ids}, picks, groups, K)

    def values(self, point: Point, ids: Sequence[str]) -> dict[str, float]:
        """Query id -> what is tuned for: the mean of nDCG@8 and group F1, or the one of them that has labels."""
        return aimed_at(self.scores(point, ids))

    @cached_property
    def informed(self) -> dict[str, tuple[str, ...]]:
        """Table of weights -> factors that differ within some query, so that labels say something (rule EVA-3.3)."""
        varying: dict[str, set[str]] = {"group_weights": set(), "leaf_weights": set()}
        for example in self.by_id.values():
            judged = trusted(example.judgement, example.context)
            groups = [group.factors for group in score_groups(judged, example.context)]
            leaves = [
                score_leaf(leaf, "", judged.leaves[leaf.channel], example.context).factors
                for leaf in example.context.catalog.leaves
            ]
            varying["group_weights"] |= _differing(groups)
            varying["leaf_weights"] |= _differing(leaves)
        order = {"group_weights": GroupFactors._fields, "leaf_weights": LeafFactors._fields}
        return {table: tuple(name for name in order[table] if name in found) for table, found in varying.items()}


def aimed_at(scores: Scores) -> dict[str, float]:
    """Query id -> mean of the aims that have labels for it."""
    ids = {name for aim in AIMS for name in scores[aim]}
    found = {name: [scores[aim][name] for aim in AIMS if name in scores[aim]] for name in sorted(ids)}
    return {name: sum(values) / len(values) for name, values in found.items()}


def _no_boost(_leaves: Sequence[Leaf], _context: Context) -> frozenset[str]:
    return frozenset()  # labels know nothing of experience


def _differing(factors: Sequence[GroupFactors] | Sequence[LeafFactors]) -> set[str]:
    names = factors[0]._fields
    return {name for at, name in enumerate(names) if len({each[at] for each in factors}) > 1}


def examples_of(lines: Sequence[Line], catalog: Catalog, settings: Settings, env: Mapping[str, str]) -> Examples:
    """Labelled lines as examples; lines without labels are left out. Raises InputError when none is left."""
    judge, found = HeuristicJudge(), {}
    for line in lines:
        if not line.gold and not line.gold_groups:
            continue
        reading = catalog.read(line.request.query)
        limits, _ = build_limits(line.request, reading, catalog, settings, env)
        judged = judge.judge(Question(line.request, reading, catalog, settings, env))
        context = Context(reading, limits, catalog, settings)
        # without reasons: nobody reads them here, and they take most of the time
        found[line.id] = Example(line, Judgement(judged.groups, judged.leaves), context)
    if not found:
        raise InputError("QUERIES", "no line with gold or gold_groups", "labelled queries")
    return Examples(settings, found)
