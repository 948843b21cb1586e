"""Fits the regressions of `planner.catalog.payoff`; build time only, NumPy imported inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from planner.catalog.model import Group
from planner.catalog.payoff import inputs_of

PENALTY = 1.65  # L2, on weights of inputs in 0..1, for examples seen in three ways
CUE_PENALTY = 15.0  # the same on those of cues, which are few and blunt
ROUNDS = 12  # Newton steps; it converges in 6
RARE = 3


def fit_payoff(
    relevance: Any,
    cues: Sequence[Sequence[str]],
    worth: Sequence[Sequence[str]],
    channels: Sequence[str],
    groups: Sequence[Group],
) -> dict[str, Any]:
    """The record of a Payoff: from unseen relevances (examples x leaves), cues, and the groups worth searching."""
    import numpy as np

    place = {channel: at for at, channel in enumerate(channels)}
    members = [[place[m] for m in group.members if m in place] for group in groups]
    known = _known(cues, {f"named:{group.name}" for group in groups})
    index = {cue: at for at, cue in enumerate(known)}
    rows = [inputs_of([float(r) for r in row], c, members, index) for row, c in zip(relevance, cues, strict=True)]
    x = np.hstack([np.ones((len(rows), 1)), np.array(rows)])
    record: dict[str, Any] = {"members": members, "cues": known, "bias": [], "weights": []}
    for group in groups:
        w = _logistic(x, np.array([float(group.name in names) for names in worth]), len(known))
        record["bias"].append(0.0 if w is None else round(float(w[0]), 4))
        record["weights"].append([] if w is None else [round(float(v), 4) for v in w[1:]])
    return record


def _known(cues: Sequence[Iterable[str]], names: set[str]) -> list[str]:
    """Languages and named groups that are common enough."""
    counts: dict[str, int] = {}
    for found in cues:
        for cue in found:
            if cue.startswith("language:") or cue in names:
                counts[cue] = counts.get(cue, 0) + 1
    return sorted(cue for cue, count in counts.items() if count >= RARE)


def _logistic(x: Any, target: Any, cues: int) -> Any:
    """Weights by Newton's method; None where the target never holds. x: the constant first, cues last."""
    import numpy as np

    if not target.any():
        return None
    penalty = np.diag([1e-6] + [PENALTY] * (x.shape[1] - 1 - cues) + [CUE_PENALTY] * cues)
    w = np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        p = 1.0 / (1.0 + np.exp(-(x @ w)))
        hessian = (x * (p * (1.0 - p))[:, None]).T @ x + penalty
        w += np.linalg.solve(hessian, x.T @ (target - p) - penalty @ w)
    return w
