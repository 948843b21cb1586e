import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, ndcg_score, precision_score, recall_score

from planner.evaluation import metrics

NAMES = [f"c{n}" for n in range(12)]
rankings = st.lists(st.sampled_from(NAMES), unique=True, max_size=8)
gold = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), max_size=9)


def scores(grades, picks, k=8, gold_groups=(), groups=()):
    found = metrics.label_scores({"q": grades}, {"q": gold_groups}, {"q": picks}, {"q": groups}, k)
    return {name: row.get("q") for name, row in found.items()}


@pytest.mark.rule("EVA-1.3")
def test_jaccard_by_hand():
    assert metrics.jaccard(["a", "b", "c"], ["b", "c", "d"]) == 0.5
    assert metrics.jaccard(["a"], ["b"]) == 0
    assert metrics.jaccard([], []) == 1


@pytest.mark.rule("EVA-1.3")
def test_rank_biased_overlap_by_hand():
    # depth 1: 0 of 1, depth 2: 2 of 2, and full agreement is assumed from there: (1 - p) p + p^2 = p
    assert metrics.rank_biased_overlap(["a", "b"], ["b", "a"]) == pytest.approx(0.9)
    # depth 1: 1, then 1/2 for good: (1 - p) + p / 2
    assert metrics.rank_biased_overlap(["a", "b"], ["a", "c"]) == pytest.approx(0.55)
    # of 1 and 2: the second list's b is assumed to find a partner, as a did: all depths agree
    assert metrics.rank_biased_overlap(["a"], ["a", "b"]) == pytest.approx(1)
    assert metrics.rank_biased_overlap(["a", "b"], ["c", "d"]) == 0
    assert metrics.rank_biased_overlap([], ["a"]) == 0


@given(rankings, rankings)
def test_rank_biased_overlap_is_the_infinite_sum_it_is_defined_by(one, other):
    short, long = sorted((one, other), key=len)
    s, length, p = len(short), len(long), metrics.PERSISTENCE
    if not s:
        return

    def agreement(depth):
        shared = len(set(short[:depth]) & set(long[:depth]))
        if depth <= s:
            return shared / depth
        if depth <= length:
            return (shared + len(set(short) & set(long[:s])) * (depth - s) / s) / depth
        return agreement(length)

    total = sum((1 - p) * p ** (depth - 1) * agreement(depth) for depth in range(1, 400))
    assert metrics.rank_biased_overlap(one, other) == pytest.approx(total)


@given(rankings, rankings)
def test_agreement_is_symmetric_and_full_for_equal_plans(one, other):
    for measure in (metrics.jaccard, metrics.rank_biased_overlap, metrics.top_one, metrics.kendall_tau):
        there, back = measure(one, other), measure(other, one)
        assert there == (None if back is None else pytest.approx(back))
    assert metrics.rank_biased_overlap(one, one) == pytest.approx(1)


@pytest.mark.rule("EVA-1.3")
@given(rankings, rankings)
def test_kendall_counts_pairs_in_the_same_order(one, other):
    common = [name for name in one if name in other]
    signs = [1 if other.index(a) < other.index(b) else -1 for a, b in combinations(common, 2)]
    expected = pytest.approx(sum(signs) / len(signs)) if signs else None
    assert metrics.kendall_tau(one, other) == expected


@pytest.mark.rule("EVA-1.4")
@given(gold, rankings, st.integers(1, 8))
def test_ndcg_is_that_of_scikit_learn(grades, picks, k):
    found = scores(grades, picks, k)["ndcg"]
    if not any(grades.values()):
        assert found is None
        return
    # beyond the plan nothing counts: give the rest a score too, with gold 0, and cut at what was picked
    order = {name: -rank for rank, name in enumerate(picks)}
    truth = [[grades.get(name, 0) if name in order else 0 for name in NAMES]]
    got = ndcg_score(truth, [[order.get(name, -99) for name in NAMES]], k=k, ignore_ties=True)
    ideal_of_picks = _dcg(sorted(truth[0], reverse=True)[:k])
    ideal = _dcg(sorted(grades.values(), reverse=True)[:k])
    assert found == pytest.approx(got * ideal_of_picks / ideal)


def _dcg(grades):
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


@pytest.mark.rule("EVA-1.4")
@given(gold, rankings, st.integers(1, 8))
def test_recall_and_precision_are_those_of_scikit_learn(grades, picks, k):
    found = scores(grades, picks, k)
    if not any(grades.values()):
        assert found["recall"] is None
        return
    wanted = [grades.get(name, 0) > 0 for name in NAMES]
    got = [name in picks[:k] for name in NAMES]
    assert found["recall"] == pytest.approx(recall_score(wanted, got, zero_division=0))
    share = precision_score(wanted, got, zero_division=0)
    assert found["precision"] == pytest.approx(share * len(picks[:k]) / k)


@pytest.mark.rule("EVA-1.4")
def test_recall3_counts_the_must_search_channels_and_needs_one():
    assert scores({"a": 3, "b": 3, "c": 1}, ["c", "b"])["recall3"] == 0.5
    assert scores({"c": 2}, ["c"])["recall3"] is None


@pytest.mark.rule("EVA-1.4")
def test_reciprocal_rank_is_of_the_first_useful_pick():
    assert scores({"a": 0, "b": 1}, ["a", "z", "b"])["reciprocal_rank"] == pytest.approx(1 / 3)
    assert scores({"a": 1}, [])["reciprocal_rank"] == 0


@pytest.mark.rule("EVA-1.4")
@given(st.sets(st.sampled_from(NAMES), min_size=1), st.sets(st.sampled_from(NAMES)))
def test_group_f1_is_that_of_scikit_learn(wanted, listed):
    found = scores({}, [], gold_groups=sorted(wanted), groups=sorted(listed))["group_f1"]
    truth, got = [name in wanted for name in NAMES], [name in listed for name in NAMES]
    assert found == pytest.approx(f1_score(truth, got, zero_division=0))
