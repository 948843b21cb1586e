"""What one plan is worth against labels, and how alike two plans are. Rankings are lists of names, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

PERSISTENCE = 0.9
_WHOLE = 1_000  # a cutoff that no plan reaches
TOP_GRADE = 3


def ndcg(k: int) -> Any:
    """nDCG@k: Σ grade / log2(rank + 1) over the first k picks, divided by that sum for the best order of all gold.

    Linear gain (Järvelin & Kekäläinen 2002, with the log2(rank + 1) discount of trec_eval's ndcg_cut).
    """
    from ir_measures import nDCG

    return nDCG @ k


def recall(k: int) -> Any:
    """Recall@k: share of the channels with a grade of at least 1 that are among the first k picks (trec_eval)."""
    from ir_measures import R

    return R @ k


def recall3(_k: int) -> Any:
    """Recall3: share of the grade-3 channels found anywhere in the plan; only queries that have such a channel."""
    from ir_measures import R

    return R(rel=TOP_GRADE) @ _WHOLE


def precision(k: int) -> Any:
    """Precision@k: channels with a grade of at least 1 among the first k picks, divided by k (trec_eval)."""
    from ir_measures import P

    return P @ k


def reciprocal_rank(_k: int) -> Any:
    """Reciprocal rank: 1 / rank of the first pick with a grade of at least 1; 0 when there is none (Voorhees 1999)."""
    from ir_measures import RR

    return RR


def group_f1(_k: int) -> Any:
    """Group F1: 2 |listed ∩ gold groups| / (|listed| + |gold groups|) a query (van Rijsbergen 1979); then the mean."""
    from ir_measures import SetF

    return SetF


OF_CHANNELS = {
    "ndcg": ndcg,
    "recall": recall,
    "recall3": recall3,
    "precision": precision,
    "reciprocal_rank": reciprocal_rank,
}
OF_GROUPS = {"group_f1": group_f1}

Scores = dict[str, dict[str, float]]


def label_scores(
    gold: Mapping[str, Mapping[str, int]],
    gold_groups: Mapping[str, Sequence[str]],
    picks: Mapping[str, Sequence[str]],
    groups: Mapping[str, Sequence[str]],
    k: int,
) -> Scores:
    """Metric -> query id -> score in 0..1; a query without the gold a metric needs is left out (rule EVA-1.4)."""
    graded = {query: grades for query, grades in gold.items() if any(grades.values())}
    topped = {query: grades for query, grades in graded.items() if TOP_GRADE in grades.values()}
    found = {
        name: _scores(measure(k), topped if name == "recall3" else graded, picks)
        for name, measure in OF_CHANNELS.items()
    }
    wanted = {query: dict.fromkeys(names, 1) for query, names in gold_groups.items() if names}
    return found | {name: _scores(measure(k), wanted, groups) for name, measure in OF_GROUPS.items()}


def _scores(
    measure: Any, gold: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    import ir_measures

    run = {
        query: {name: float(-rank) for rank, name in enumerate(rankings[query])} for query in gold if rankings[query]
    }
    plain = {query: dict(grades) for query, grades in gold.items()}
    scored = {row.query_id: float(row.value) for row in ir_measures.iter_calc([measure], plain, run)} if run else {}
    return {query: scored.get(query, 0.0) for query in gold}


def jaccard(one: Sequence[str], other: Sequence[str]) -> float:
    """Jaccard: |A ∩ B| / |A ∪ B| of the two sets (Jaccard 1901); 1 when both are empty."""
    union = set(one) | set(other)
    return len(set(one) & set(other)) / len(union) if union else 1.0


def rank_biased_overlap(one: Sequence[str], other: Sequence[str], p: float = PERSISTENCE) -> float:
    """Rank-biased overlap: mean share of common picks over all depths d, depth d weighing p^d; p is .9.

    RBO_EXT for lists of uneven length without ties (Webber, Moffat & Zobel 2010, equation 32), in 0..1. Two empty lists
    agree, an empty and a filled one do not.
    """
    short, long = sorted((one, other), key=len)
    s, length = len(short), len(long)
    if not s:
        return float(not length)
    overlap = [len(set(short[:depth]) & set(long[:depth])) for depth in range(length + 1)]
    seen = sum(overlap[d] / d * p**d for d in range(1, length + 1))
    assumed = sum(overlap[s] * (d - s) / (s * d) * p**d for d in range(s + 1, length + 1))
    tail = (overlap[length] - overlap[s]) / length + overlap[s] / s
    return (1 - p) / p * (seen + assumed) + tail * p**length


def kendall_tau(one: Sequence[str], other: Sequence[str]) -> float | None:
    """Kendall's tau-b of the order of the picks both have (Kendall 1945), in -1..1; None below two of them."""
    from scipy.stats import kendalltau

    common = [name for name in one if name in other]
    if len(common) < 2:
        return None
    return float(kendalltau(range(len(common)), [other.index(name) for name in common], variant="b").statistic)


def top_one(one: Sequence[str], other: Sequence[str]) -> float:
    """Top-1 agreement: 1 when both put the same channel first, else 0."""
    return float(one[:1] == other[:1])


def group_agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """Group agreement: Jaccard of the two sets of listed groups."""
    return jaccard(one, other)
