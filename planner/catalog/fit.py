"""Fits the learned scorer on graded example queries; build time only, NumPy and SciPy imported inside.

First stage, ridge regression: r = b + Σ_blocks w_block / sqrt(n_block) Σ rows, least squares on grade / 3 with an L2
penalty, solved in its dual form. Second stage, the same on what the first leaves over, from q = max(0, r - t) and the
products q_i q_j, with r predicted for each query by a first stage that has not seen it (stacking, Wolpert 1992).
Groups: P(searching the group pays) by logistic regression on the relevances, again unseen ones.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from planner.catalog.compiled import LEARNED
from planner.catalog.features import BLOCKS, Features
from planner.catalog.fit_payoff import fit_payoff
from planner.catalog.learned import ZERO, bucket
from planner.catalog.model import Group, Leaf
from planner.catalog.solving import ridge_dual, ridge_primal

BITS = 15  # 2^15 table rows; 2^14 costs .01 of nDCG
PENALTY = 1.0
WEIGHTS = {"cues": 1.0, "wanted": 1.5, "latin": 2.5, "cjk": 3.0}  # share of a block in the kernel
CUE_WEIGHTS = {"named": 0.67, "family": 0.67, "subject": 0.67, "keyword": 0.15, "hint": 0.3}
PLAIN_CUE = 0.1
RARE = 3  # cues in fewer examples get no row
FOLDS = 5
STRIDES = (7919, 7907, 7901)  # one way of folding each; over several, what the second fits see depends less on chance
THRESHOLD = 0.03  # relevance below it plays no part in the second stage, which keeps it fast
SECOND_PENALTY = 2.0 * len(STRIDES)
GRADES = 3.0
EXACT_LEVELS, TABLE_LEVELS = 127, 16  # steps either side of 0; 127 in the table would double the file for nothing
_CLIP = 0.9995  # quantile of the table's magnitudes that the last step stands for


class Example(NamedTuple):
    """A graded query: its features, leaf -> grade 1..3, the groups worth searching."""

    features: Features
    gold: Mapping[str, float]
    gold_groups: Sequence[str]


def fit(examples: Sequence[Example], leaves: Sequence[Leaf], groups: Sequence[Group]) -> dict[str, Any]:
    """The compiled record of a LearnedScorer; the same examples in the same order give the same bytes."""
    import numpy as np

    channels = [leaf.channel for leaf in leaves]
    y = np.array([[e.gold.get(c, 0.0) / GRADES for c in channels] for e in examples])
    vocabulary = _vocabulary(examples)
    x = _matrix(examples, vocabulary)
    dual = ridge_dual(x, y - y.mean(axis=0), PENALTY)
    record = _first_record(x.T.tocsr() @ dual, y.mean(axis=0), vocabulary, channels)
    ways = [folds_of(len(y), stride) for stride in STRIDES]
    firsts = [_unseen_first(x, y, dual, fold) for fold in ways]
    record["second"] = _second_record(second_stage(np.vstack(firsts), np.vstack([y] * len(ways)), SECOND_PENALTY))
    record["groups"] = fit_payoff(
        np.vstack([_unseen_second(first, y, fold) for first, fold in zip(firsts, ways, strict=True)]),
        [e.features.cues for e in examples] * len(ways),
        [e.gold_groups for e in examples] * len(ways),
        channels,
        groups,
    )
    return record


def _vocabulary(examples: Sequence[Example]) -> dict[str, list[str]]:
    cues = Counter(cue for e in examples for cue in e.features.cues)
    wanted = Counter(name for e in examples for name in e.features.wanted)
    return {"cues": sorted(c for c, n in cues.items() if n >= RARE), "wanted": sorted(wanted)}


def _cue_weight(cue: str) -> float:
    return math.sqrt(CUE_WEIGHTS.get(cue.partition(":")[0], PLAIN_CUE))


def _matrix(examples: Sequence[Example], vocabulary: Mapping[str, Sequence[str]]) -> Any:
    """Sparse examples x (cues, wanted, table rows)."""
    import numpy as np
    from scipy.sparse import csr_matrix

    places = {name: at for at, name in enumerate(["cues:" + c for c in vocabulary["cues"]])}
    places |= {"wanted:" + name: len(places) + at for at, name in enumerate(vocabulary["wanted"])}
    size, mask = len(places) + (1 << BITS), (1 << BITS) - 1
    rows, columns, values = [], [], []
    for number, example in enumerate(examples):
        for block in BLOCKS:
            grams = getattr(example.features, block)
            value = (WEIGHTS[block] / (1 if block == "cues" else max(1, len(grams)))) ** 0.5
            for gram in grams:
                exact = block in vocabulary
                at = places.get(f"{block}:{gram}") if exact else len(places) + bucket(gram, mask)
                if at is not None:
                    rows.append(number)
                    columns.append(at)
                    values.append(value * (_cue_weight(gram) if block == "cues" else 1.0))
    return csr_matrix((np.array(values), (rows, columns)), shape=(len(examples), size))


def folds_of(count: int, stride: int) -> Any:
    """Fold of each example; neighbours, which are often alike, go to different folds only by chance of the stride."""
    import numpy as np

    return (np.arange(count) * stride % 104729) % FOLDS


def _unseen_first(x: Any, y: Any, dual: Any, fold: Any) -> Any:
    """First-stage relevances of each example by a fit without its fold; `dual` of the whole is the starting point."""
    import numpy as np

    found = np.zeros_like(y)
    for out in range(FOLDS):
        known, held = np.flatnonzero(fold != out), np.flatnonzero(fold == out)
        mean = y[known].mean(axis=0)
        part = ridge_dual(x[known], y[known] - mean, PENALTY, start=dual[known])
        found[held] = mean + x[held] @ (x[known].T.tocsr() @ part)
    return found


def _first_record(
    w: Any, mean: Any, vocabulary: Mapping[str, Sequence[str]], channels: Sequence[str]
) -> dict[str, Any]:
    """Rows as bytes; what the matrix held as a value (block and cue weights) goes into the rows and scales."""
    import numpy as np

    n_cues, n_wanted = len(vocabulary["cues"]), len(vocabulary["wanted"])
    cue_weights = np.array([_cue_weight(c) for c in vocabulary["cues"]])
    cues, cue_unit = _quantised(w[:n_cues] * cue_weights[:, None], EXACT_LEVELS, 1.0)
    wanted, wanted_unit = _quantised(w[n_cues : n_cues + n_wanted], EXACT_LEVELS, 1.0)
    table, unit = _quantised(w[n_cues + n_wanted :], TABLE_LEVELS, _CLIP)
    return {
        "kind": LEARNED,
        "channels": list(channels),
        "bits": BITS,
        "cues": list(vocabulary["cues"]),
        "wanted": list(vocabulary["wanted"]),
        "cues_rows": _text(cues),
        "wanted_rows": _text(wanted),
        "table": base64.b64encode(zlib.compress(table, 9)).decode(),
        "scales": {
            "cues": _short(cue_unit * WEIGHTS["cues"] ** 0.5),
            "wanted": _short(wanted_unit * WEIGHTS["wanted"] ** 0.5),
            "latin": _short(unit * WEIGHTS["latin"] ** 0.5),
            "cjk": _short(unit * WEIGHTS["cjk"] ** 0.5),
        },
        "bias": [_short(b) for b in mean],
    }


def _quantised(w: Any, levels: int, quantile: float) -> tuple[bytes, float]:
    """Rounded to -levels..levels, stored with ZERO added; and what one step is worth."""
    import numpy as np

    size = np.sort(np.abs(w[w != 0.0]).ravel())
    top = float(size[min(len(size) - 1, int(len(size) * quantile))]) if len(size) else 1.0
    unit = top / levels
    steps = np.clip(np.rint(w / unit), -levels, levels).astype(np.int16)
    return (steps + ZERO).astype(np.uint8).tobytes(), unit


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _short(value: float) -> float:
    return float(f"{float(value):.6g}")


class Second(NamedTuple):
    """The second stage before rounding: weights of q and of the products, and what is added to every example."""

    weights: Any
    bias: Any


def second_stage(first: Any, y: Any, penalty: float) -> Second:
    """Ridge regression of what the first stage leaves over."""
    from scipy.sparse import csr_matrix

    x, rest = _products(first), y - first
    centre, mean = x.mean(axis=0), rest.mean(axis=0)
    w = ridge_primal(_Centred(csr_matrix(x), centre), rest - mean, penalty)
    return Second(w, mean - (centre[:, None] * w).sum(axis=0))


def _products(first: Any) -> Any:
    """q and q_i q_j for i <= j, row-major."""
    import numpy as np

    q = np.clip(first - THRESHOLD, 0.0, 1.0)
    one, other = np.triu_indices(q.shape[1])
    return np.hstack([q, q[:, one] * q[:, other]])


def _unseen_second(first: Any, y: Any, fold: Any) -> Any:
    """Relevances of each example by a second stage that has not seen its fold either, in 0..1."""
    import numpy as np
    from scipy.sparse import csr_matrix

    found = np.zeros_like(y)
    for out in range(FOLDS):
        known, held = np.flatnonzero(fold != out), np.flatnonzero(fold == out)
        stage = second_stage(first[known], y[known], SECOND_PENALTY / len(STRIDES))
        found[held] = first[held] + csr_matrix(_products(first[held])) @ stage.weights + stage.bias
    return np.clip(found, 0.0, 1.0)


def _second_record(stage: Second) -> dict[str, Any]:
    import numpy as np

    unit = float(np.abs(stage.weights).max()) / 32767
    rows = np.rint(stage.weights / unit).astype("<i2").tobytes()
    bias = [_short(b) for b in stage.bias]
    return {"threshold": THRESHOLD, "scale": _short(unit), "bias": bias, "rows": _text(rows)}


class _Centred:
    """A sparse matrix minus its column means, without making it dense."""

    def __init__(self, x: Any, centre: Any, transposed: bool = False) -> None:
        self._x, self._centre, self._transposed = x, centre, transposed

    @property
    def T(self) -> _Centred:  # noqa: N802  # as NumPy spells it
        return _Centred(self._x.T.tocsr(), self._centre, not self._transposed)

    def tocsr(self) -> _Centred:
        return self

    def __matmul__(self, v: Any) -> Any:
        if self._transposed:
            return self._x @ v - self._centre[:, None] * v.sum(axis=0)[None, :]
        return self._x @ v - (self._centre[:, None] * v).sum(axis=0)[None, :]
