"""Ridge regression in a fixed order of operations, so that a build gives the same bytes twice.

Sparse products and element-wise sums only: no BLAS, whose threads and kernels would change the last bits.
NumPy and SciPy are imported by the caller's arrays alone; this module runs at build time only.
"""

from __future__ import annotations

from typing import Any

STEPS = 400
TOLERANCE = 1e-9  # of the right-hand side's norm, per column; far below the rounding of the table


def ridge_dual(x: Any, y: Any, penalty: float, start: Any = None) -> Any:
    """A with (X Xᵀ + penalty I) A = Y, by conjugate gradients; x: sparse n x d, y: dense n x k, A: n x k."""
    xt = x.T.tocsr()

    def apply(v: Any) -> Any:
        return x @ (xt @ v) + penalty * v

    return _solve(apply, y, start)


def ridge_primal(x: Any, y: Any, penalty: float) -> Any:
    """W with (Xᵀ X + penalty I) W = Xᵀ Y; x: sparse n x d, y: dense n x k, W: d x k."""
    xt = x.T.tocsr()

    def apply(v: Any) -> Any:
        return xt @ (x @ v) + penalty * v

    return _solve(apply, xt @ y, None)


def _solve(apply: Any, y: Any, start: Any) -> Any:
    a = y * 0.0 if start is None else start.copy()
    residual = y - apply(a)
    direction = residual.copy()
    norm = (residual * residual).sum(axis=0)
    goal = TOLERANCE**2 * (y * y).sum(axis=0) + 1e-300
    for _ in range(STEPS):
        if (norm <= goal).all():
            break
        image = apply(direction)
        step = norm / ((direction * image).sum(axis=0) + 1e-300)
        a += step * direction
        residual -= step * image
        fresh = (residual * residual).sum(axis=0)
        direction = residual + (fresh / (norm + 1e-300)) * direction
        norm = fresh
    return a
