"""Scores → the report as JSON values, which every output shows: arms, pairs of the first and another, queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner.evaluation import differences
from planner.evaluation.arms import Arm
from planner.evaluation.costs import latency_ms, planning_cost
from planner.evaluation.journal import Journal, Plans
from planner.evaluation.metrics import (
    OF_CHANNELS,
    OF_GROUPS,
    group_agreement,
    jaccard,
    kendall_tau,
    rank_biased_overlap,
    top_one,
)
from planner.evaluation.queries import Line
from planner.evaluation.scoring import Scored, channels_of, groups_of
from planner.evaluation.statistics import FEWEST, RESAMPLES, bootstrap_interval, holm, mean, permutation_p

if TYPE_CHECKING:
    from planner.evaluation.ab import Inquiry

SCHEMA_VERSION = "1.0"
LABELS = (*OF_CHANNELS, *OF_GROUPS)


def compared(inquiry: Inquiry, plans: Mapping[str, Plans], scores: Scored, journal: Journal) -> dict[str, Any]:
    """The report (rules EVA-1.3 to EVA-1.10)."""
    arms = {arm.name: _arm(arm, plans, scores) for arm in inquiry.arms}
    first, *others = (arm.name for arm in inquiry.arms)
    pairs = [_pair(first, other, inquiry, plans, scores, journal) for other in others]
    _correct([test for pair in pairs for test in pair["labels"].values()])
    return {
        "schema_version": SCHEMA_VERSION,
        "about": _about(inquiry, scores, journal.today or ""),
        "arms": arms,
        "pairs": pairs,
        "queries": [_query(line, plans[line.id], scores) for line in inquiry.lines],
    }


def _about(inquiry: Inquiry, scores: Scored, today: str) -> dict[str, Any]:
    planner = inquiry.arms[0].planner
    labelled = len(scores.labels[inquiry.arms[0].name]["ndcg"])
    return {
        "queries": len(inquiry.lines),
        "labelled": labelled,
        "bad_lines": [{"line": bad.number, "problem": bad.problem} for bad in inquiry.bad],
        "k": inquiry.k,
        "seed": inquiry.seed,
        "resamples": RESAMPLES,
        "today": today,
        "catalog_version": planner.catalog.version,
        "answers": dict(inquiry.answers),
        "unknown_gold": list(scores.unknown_gold),
        "too_few": too_few(labelled) if labelled else None,
    }


def too_few(paired: int) -> str | None:
    """The sentence that goes with fewer than 20 paired queries."""
    if paired >= FEWEST:
        return None
    return (
        f"{paired} paired queries are too few for an interval or a test, which take {FEWEST}: the numbers stand alone."
    )


def _arm(arm: Arm, plans: Mapping[str, Plans], scores: Scored) -> dict[str, Any]:
    own = [of_query[arm.name] for of_query in plans.values()]
    weights = arm.planner.settings.selection.leaf_weights.model_dump()
    picks = [pick for plan in own for pick in plan.channels]
    return {
        "judge": arm.judge or arm.planner.settings.judge.default,
        "settings": list(arm.planner.settings.origin),
        "weights": weights,
        "labels": {name: mean(list(found.values())) for name, found in scores.labels[arm.name].items()},
        "counts": {name: len(found) for name, found in scores.labels[arm.name].items()},
        "cost": planning_cost(own),
        "invariants": dict(scores.promises[arm.name]),
        "contributions": {
            name: mean([weight * pick.factors[name] for pick in picks]) for name, weight in weights.items()
        },
    }


def _pair(
    a: str, b: str, inquiry: Inquiry, plans: Mapping[str, Plans], scores: Scored, journal: Journal
) -> dict[str, Any]:
    alike = {query: _alike(of_query, a, b, inquiry.k) for query, of_query in plans.items()}
    values = {name: {query: row[name] for query, row in alike.items()} for name in next(iter(alike.values()))}
    return {
        "a": a,
        "b": b,
        "agreement": {name: _level(list(found.values()), inquiry.seed) for name, found in values.items()},
        "labels": {name: _test(a, b, name, scores, None, inquiry.seed) for name in LABELS},
        "slices": {
            kind: _slices(a, b, of_query, alike, scores, inquiry.seed) for kind, of_query in scores.slices.items()
        },
        "per_query": alike,
        "most_different": differences.most_different(a, b, inquiry, plans, scores, alike, journal.factors),
    }


def _alike(plans: Plans, a: str, b: str, k: int) -> dict[str, float | None]:
    one, other = channels_of(plans[a]), channels_of(plans[b])
    return {
        "jaccard": jaccard(one[:k], other[:k]),
        "rbo": rank_biased_overlap(one, other),
        "kendall_tau": kendall_tau(one, other),
        "top_one": top_one(one, other),
        "groups": group_agreement(groups_of(plans[a]), groups_of(plans[b])),
    }


def _level(values: Sequence[float | None], seed: int) -> dict[str, Any]:
    known = [value for value in values if value is not None]
    low, high = bootstrap_interval(known, seed) if len(known) >= FEWEST else (None, None)
    return {"mean": mean(known), "low": low, "high": high, "n": len(known)}


def _test(a: str, b: str, metric: str, scores: Scored, only: set[str] | None, seed: int) -> dict[str, Any]:
    """The first arm minus the other one, over the queries both have a score for (rule EVA-1.5)."""
    one, other = scores.labels[a][metric], scores.labels[b][metric]
    paired = [query for query in one if query in other and (only is None or query in only)]
    gaps = [one[query] - other[query] for query in paired]
    enough = len(gaps) >= FEWEST
    low, high = bootstrap_interval(gaps, seed) if enough else (None, None)
    return {
        "a": mean([one[query] for query in paired]),
        "b": mean([other[query] for query in paired]),
        "difference": mean(gaps),
        "low": low,
        "high": high,
        "p": permutation_p(gaps, seed) if enough else None,
        "p_holm": None,
        "n": len(gaps),
    }


def _correct(tests: Sequence[dict[str, Any]]) -> None:
    made = [test for test in tests if test["p"] is not None]
    for test, corrected in zip(made, holm([test["p"] for test in made]), strict=True):
        test["p_holm"] = corrected


def _slices(
    a: str,
    b: str,
    of_query: Mapping[str, str],
    alike: Mapping[str, Mapping[str, float | None]],
    scores: Scored,
    seed: int,
) -> list[dict[str, Any]]:
    members: dict[str, set[str]] = {}
    for query, name in of_query.items():
        members.setdefault(name, set()).add(query)
    rows: list[dict[str, Any]] = []
    for name, queries in sorted(members.items(), key=lambda item: -len(item[1])):
        means = {key: mean([v for q in queries if (v := alike[q][key]) is not None]) for key in ("jaccard", "rbo")}
        tests = {metric: _test(a, b, metric, scores, queries, seed) for metric in LABELS}
        rows.append({"name": name, "n": len(queries), "agreement": means, "labels": tests})
    _correct([test for row in rows for test in row["labels"].values()])
    return rows


def _query(line: Line, plans: Plans, scores: Scored) -> dict[str, Any]:
    return {
        "id": line.id,
        "query": line.request.query,
        **{kind: of_query[line.id] for kind, of_query in scores.slices.items()},
        "gold": dict(line.gold),
        "gold_groups": list(line.gold_groups),
        "arms": {
            arm: {
                "channels": channels_of(plan),
                "groups": groups_of(plan),
                "scores": [pick.score for pick in plan.channels],
                "latency_ms": latency_ms(plan),
                "labels": {m: found[line.id] for m, found in scores.labels[arm].items() if line.id in found},
            }
            for arm, plan in plans.items()
        },
    }
