"""The intervals and tests: by brute force on small cases, by simulation on large ones."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from planner.evaluation.metrics import label_scores
from planner.evaluation.statistics import bootstrap_interval, holm, mean, percentile, permutation_p

RUNS = 1_000
N = 100


@pytest.mark.rule("EVA-1.5")
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=8))
def test_the_permutation_test_is_exact_where_it_can_be(gaps):
    sums = [
        abs(sum(sign * gap for sign, gap in zip(signs, gaps, strict=True)))
        for signs in product((1, -1), repeat=len(gaps))
    ]
    expected = sum(total >= abs(sum(gaps)) for total in sums) / len(sums)
    assert permutation_p(gaps, seed=1) == pytest.approx(expected)


@pytest.mark.rule("EVA-1.5")
@given(st.lists(st.floats(0, 1), max_size=5))
def test_holm_is_the_closed_test_of_bonferroni(p_values):
    everything = range(len(p_values))
    for at, corrected in enumerate(holm(p_values)):
        subsets = (s for size in everything for s in combinations(everything, size + 1) if at in s)
        worst = max(min(1.0, len(s) * min(p_values[n] for n in s)) for s in subsets)
        assert corrected == pytest.approx(worst)


def test_the_interval_is_close_to_the_t_interval_where_that_holds():
    values = np.random.default_rng(3).normal(0.1, 0.2, size=400)
    low, high = bootstrap_interval(values, seed=1)
    expected = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    assert (low, high) == pytest.approx(expected, abs=0.002)


def test_equal_differences_leave_no_doubt():
    assert bootstrap_interval([0.25] * 30, seed=1) == (0.25, 0.25)
    assert permutation_p([0.0] * 30, seed=1) == 1


def test_the_seed_decides():
    gaps = list(np.random.default_rng(5).normal(size=40))
    assert bootstrap_interval(gaps, 7) == bootstrap_interval(gaps, 7) != bootstrap_interval(gaps, 8)


def test_percentiles_are_interpolated():
    assert percentile([1, 2, 3, 4], 0.5) == 2.5
    assert percentile([], 0.5) is None
    assert mean([]) is None


@pytest.fixture(scope="module")
def population():
    """Metric -> a (first arm, second arm) row of scores for each of 2,000 queries, whose mean difference is known."""
    rng = np.random.default_rng(11)
    channels = [f"c{n}" for n in range(41)]
    gold = {f"q{q}": _gold(rng, channels) for q in range(2_000)}
    arms = [{q: _ranking(rng, channels, grades, noise) for q, grades in gold.items()} for noise in (1.0, 1.4)]
    scored = [label_scores(gold, {}, picks, {}, 8) for picks in arms]
    names = [name for name in scored[0] if name != "group_f1"]
    shared = [q for q in gold if q in scored[0]["recall3"]]
    return {name: np.array([[scored[0][name][q], scored[1][name][q]] for q in shared]) for name in names}


def _gold(rng, channels):
    chosen = rng.choice(channels, size=rng.integers(3, 9), replace=False)
    return {str(name): int(grade) for name, grade in zip(chosen, rng.integers(1, 4, size=len(chosen)), strict=True)}


def _ranking(rng, channels, grades, noise):
    seen = {name: grades.get(name, 0) + rng.normal(0, noise) for name in channels}
    return sorted(seen, key=lambda name: -seen[name])[:8]


@pytest.mark.slow
@pytest.mark.rule("EVA-1.5")
@pytest.mark.parametrize("metric", ["ndcg", "recall", "recall3", "precision", "reciprocal_rank"])
def test_intervals_cover_a_known_difference(population, metric):
    gaps = population[metric][:, 0] - population[metric][:, 1]
    rng, covered = np.random.default_rng(13), 0
    for run in range(RUNS):
        low, high = bootstrap_interval(rng.choice(gaps, size=N), seed=run)
        covered += low <= gaps.mean() <= high
    print(f"{metric}: {covered / RUNS:.3f}")
    assert 0.93 <= covered / RUNS <= 0.97


@pytest.mark.slow
@pytest.mark.rule("EVA-1.5")
def test_exchangeable_arms_seldom_raise_a_false_alarm(population):
    rng, alarms = np.random.default_rng(17), 0
    queries = len(population["ndcg"])
    for run in range(RUNS):
        drawn, swapped = rng.integers(queries, size=N), rng.choice([1, -1], size=N)
        gaps = [(rows[drawn, 0] - rows[drawn, 1]) * swapped for rows in population.values()]
        alarms += min(holm([permutation_p(row, seed=run, resamples=1_999) for row in gaps])) <= 0.05
    print(f"family-wise error: {alarms / RUNS:.3f}")
    assert alarms / RUNS <= 0.05 + 2 * (0.05 * 0.95 / RUNS) ** 0.5
