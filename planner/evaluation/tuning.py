"""Tuning on one screen: outer folds measure, inner folds choose how far to go, a last search makes the settings.

What is reported comes from queries that no search had seen (nested cross-validation, Varma & Simon 2006).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from planner.errors import InputError
from planner.evaluation.metrics import Scores
from planner.evaluation.statistics import FEWEST, bootstrap_interval, mean, permutation_p
from planner.evaluation.tuning_examples import Examples, K, aimed_at
from planner.evaluation.tuning_space import Point, base_point, between, rounded, search

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the way from the numbers in use to those found
_INNER = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to search. `folds`: outer ones, 2 or more; `trials`: of each search. Same `seed`, same result."""

    folds: int = 5
    trials: int = 60
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Fold:
    """Queries kept out of a search, what was found without them, and their scores before and after."""

    ids: tuple[str, ...]
    share: float
    point: Point
    before: Scores
    after: Scores

    def as_json(self) -> dict[str, Any]:
        """For the report."""
        return {
            "queries": len(self.ids), "share": self.share, "before": _means(self.before), "after": _means(self.after),
            "settings": self.point,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tuned:
    """The numbers found on all queries, how far they go (`share`), and the folds that say what that is worth."""

    base: Point
    point: Point
    share: float
    folds: tuple[Fold, ...]
    informed: dict[str, tuple[str, ...]]
    effort: Effort

    def report(self) -> dict[str, Any]:
        """Before and after on queries not tuned on, with a 95 % interval and a p-value of the difference."""
        before, after = _pooled([f.before for f in self.folds]), _pooled([f.after for f in self.folds])
        one, other = aimed_at(before), aimed_at(after)
        differences = [other[name] - one[name] for name in one]
        seed = self.effort.seed
        enough = len(differences) >= FEWEST
        low, high = bootstrap_interval(differences, seed) if enough else (None, None)
        return {
            "queries": len(differences), "k": K,
            "before": _means(before) | {"aim": mean(list(one.values()))},
            "after": _means(after) | {"aim": mean(list(other.values()))},
            "difference": {"aim": mean(differences), "low": low, "high": high,
                           "p": permutation_p(differences, seed) if enough else None},
            "verdict": verdict(mean(differences) or 0.0, low, high, self.share),
            "folds": [fold.as_json() for fold in self.folds],
            "share": self.share, "settings": self.point, "settings_before": self.base,
            "tuned_weights": {table: list(names) for table, names in self.informed.items()},
            "seed": seed, "trials": self.effort.trials,
        }  # fmt: skip


def verdict(difference: float, low: float | None, high: float | None, share: float) -> str:
    """What the difference on unseen queries means, in a sentence (rule EVA-3.5)."""
    if low is None or high is None:
        return f"fewer than {FEWEST} labelled queries: too few to tell whether anything changed"
    interval = f"95 % interval {low:.4f} to {high:.4f}"
    if not share:
        return f"nothing found that holds on queries not searched on: the numbers in use were kept ({interval})"
    if low > 0:
        return f"better by {difference:.4f} on queries not tuned on ({interval})"
    if high < 0:
        return f"worse by {-difference:.4f} on queries not tuned on ({interval}): keep what you have"
    return f"no difference on queries not tuned on that can be told from chance ({interval})"


def tune(examples: Examples, effort: Effort, say: Callable[[str], None]) -> Tuned:
    """Search numbers for labelled queries (rules EVA-3.1 to EVA-3.6). Raises InputError for too few queries."""
    ids, base = sorted(examples.by_id), rounded(base_point(examples.settings))
    check(effort, len(ids))
    folds = []
    for number, held_out in enumerate(parts(ids, effort.folds, effort.seed), 1):
        say(f"fold {number} of {effort.folds}")
        seen = [name for name in ids if name not in set(held_out)]
        point, share = found_on(seen, examples, base, effort, effort.seed + number)
        before, after = examples.scores(base, held_out), examples.scores(point, held_out)
        folds.append(Fold(tuple(held_out), share, point, before, after))
    say("all queries")
    point, share = found_on(ids, examples, base, effort, effort.seed)
    return Tuned(base, point, share, tuple(folds), examples.informed, effort)


def check(effort: Effort, queries: int) -> None:
    """Raises InputError for an effort that makes no sense for so many queries."""
    if effort.trials < 1:
        raise InputError("--trials", effort.trials, "at least 1")
    if effort.folds < 2:
        raise InputError("--folds", effort.folds, "at least 2")
    if queries < effort.folds * _INNER:
        raise InputError("QUERIES", f"{queries} labelled", f"at least {effort.folds * _INNER}, 3 for each of the folds")


def found_on(ids: Sequence[str], examples: Examples, base: Point, effort: Effort, seed: int) -> tuple[Point, float]:
    """The numbers that a search over `ids` gives, as far as inner folds allow, and how far that is."""
    share = best_share(ids, examples, base, effort, seed)
    found = _searched(ids, examples, base, effort, seed) if share else base
    return rounded(between(base, found, share)), share


def best_share(ids: Sequence[str], examples: Examples, base: Point, effort: Effort, seed: int) -> float:
    """How far to go from `base`: the share that does best on inner folds their searches had not seen."""
    totals = dict.fromkeys(SHARES, 0.0)
    for held_out in parts(ids, _INNER, seed):
        seen = [name for name in ids if name not in set(held_out)]
        found = _searched(seen, examples, base, effort, seed)
        for share in SHARES:
            totals[share] += sum(examples.values(between(base, found, share), held_out).values())
    return max(SHARES, key=lambda share: (round(totals[share], 9), -share))


def _searched(ids: Sequence[str], examples: Examples, base: Point, effort: Effort, seed: int) -> Point:
    def objective(point: Point) -> float:
        return mean(list(examples.values(point, ids).values())) or 0.0

    return search(objective, base, examples.informed, effort.trials, seed)


def parts(ids: Sequence[str], count: int, seed: int) -> list[list[str]]:
    """The ids in `count` parts of nearly equal size, shuffled by the seed."""
    shuffled = list(ids)
    random.Random(seed).shuffle(shuffled)
    return [sorted(shuffled[n::count]) for n in range(count)]


def _pooled(parts_of: Sequence[Scores]) -> Scores:
    whole: Scores = {}
    for scores in parts_of:
        for metric, by_query in scores.items():
            whole.setdefault(metric, {}).update(by_query)
    return whole


def _means(scores: Scores) -> dict[str, float | None]:
    return {metric: mean(list(by_query.values())) for metric, by_query in scores.items()}
