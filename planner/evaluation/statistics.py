"""Intervals and tests for paired differences. Seeded: the same numbers give the same answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

FEWEST = 20  # paired queries below which an interval or a p-value would mislead
RESAMPLES = 9_999
LEVEL = 0.95
_BATCH = 500
_EQUAL = 1e-12  # differences that only rounding made


def bootstrap_interval(differences: Sequence[float], seed: int, resamples: int = RESAMPLES) -> tuple[float, float]:
    """95 % interval of a mean difference: queries are drawn with replacement, both arms' scores of a query together.

    Paired bootstrap, bias-corrected and accelerated (Efron 1987; for retrieval: Sakai 2006), by SciPy.
    """
    import numpy as np
    from scipy import stats

    values = np.asarray(differences, dtype=float)
    if np.ptp(values) < _EQUAL:
        return float(values[0]), float(values[0])
    found = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=resamples,
        confidence_level=LEVEL,
        method="BCa",
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def permutation_p(differences: Sequence[float], seed: int, resamples: int = RESAMPLES) -> float:
    """P-value of no difference: how often random exchanges of the two arms' scores give a mean as far from 0.

    Two-sided paired permutation (Fisher randomisation) test on the mean (Fisher 1935; for retrieval: Smucker, Allan &
    Carterette 2007), exact where there are fewer exchanges than resamples, by SciPy.
    """
    import numpy as np
    from scipy import stats

    values = np.asarray(differences, dtype=float)
    if np.abs(values).max() < _EQUAL:
        return 1.0
    found = stats.permutation_test(
        (values,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for testing several metrics: the i-th smallest times what is left, never falling (Holm 1979).

    The chance of any false alarm among them stays at most the level.
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """Percentile by linear interpolation between order statistics (Hyndman & Fan 1996, type 7); None of nothing."""
    import numpy as np

    return float(np.percentile(list(values), share * 100)) if values else None
