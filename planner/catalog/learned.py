"""The scorer fitted on graded example queries: a hashed table of small integers, then products of what it found.

First stage: relevance is linear in the features. Cues and wanted intents have a row each; n-grams share 2^bits rows.
Second stage: which leaves are relevant together says more: q = max(0, r - threshold) and all products q_i * q_j
correct r linearly. Fitted by `planner.catalog.fit`; see there for the formulas.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import exp, sqrt
from operator import mul
from typing import Any

from planner.catalog.features import BLOCKS, Features
from planner.catalog.scorer import Evidence

ZERO = 128  # a table byte b stands for the integer b - 128
LANE = 8  # bytes of a lane of the wide integers
_SIGN = 1 << 62
FIXED = 1 << 12  # q and q * q as fixed-point integers


def bucket(gram: str, mask: int) -> int:
    """The table row of an n-gram; the same in every process and on every machine."""
    return zlib.crc32(gram.encode("utf-8", "surrogatepass")) & mask


class LearnedScorer:
    """See the module. Immutable but for caches that any thread may fill."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._n = len(record["channels"])
        self._mask = (1 << record["bits"]) - 1
        self._table = zlib.decompress(base64.b64decode(record["table"]))
        self._cues = dict(zip(record["cues"], range(len(record["cues"])), strict=True))
        self._wanted = dict(zip(record["wanted"], range(len(record["wanted"])), strict=True))
        self._rows = {name: base64.b64decode(record[f"{name}_rows"]) for name in ("cues", "wanted")}
        self._scale: Mapping[str, float] = record["scales"]
        self._bias: list[float] = record["bias"]
        self._second: Mapping[str, Any] = record["second"]
        self._groups: Mapping[str, Any] = record["groups"]

    def relevance(self, features: Features) -> list[float]:
        """See Scorer."""
        return self.corrected(self._first(features))

    def corrected(self, first: Sequence[float]) -> list[float]:
        """First-stage relevances after the second stage, in 0..1."""
        return [min(1.0, max(0.0, r + c)) for r, c in zip(first, self._correction(first), strict=True)]

    def payoff(self, relevance: Sequence[float]) -> list[float] | None:
        """P(group) = logistic(bias + weights x relevance), in catalog order of the groups fitted; 0 where unfitted."""
        return [
            1.0 / (1.0 + exp(-(bias + sum(map(mul, weights, relevance))))) if weights else 0.0
            for bias, weights in zip(self._groups["bias"], self._groups["weights"], strict=True)
        ]

    def evidence(self, leaf: int, features: Features, limit: int) -> list[Evidence]:
        """First-stage shares of the leaf's relevance; an n-gram's row may be shared with others by its hash."""
        n, found = self._n, []
        for feature, block, start in self._places(features):
            source = self._table if block in ("latin", "cjk") else self._rows[block]
            found.append((source[start * n + leaf] - ZERO, feature, block))
        counts = {block: len(getattr(features, block)) for block in BLOCKS}
        weighed = [
            Evidence(feature, value * self._scale[block] / (1.0 if block == "cues" else sqrt(counts[block])))
            for value, feature, block in found
            if value > 0
        ]
        return sorted(weighed, key=lambda e: (-e.weight, e.feature))[:limit]

    def _places(self, features: Features) -> Iterable[tuple[str, str, int]]:
        for block, index in (("cues", self._cues), ("wanted", self._wanted)):
            yield from ((f, block, index[f]) for f in getattr(features, block) if f in index)
        for block in ("latin", "cjk"):
            yield from ((f, block, bucket(f, self._mask)) for f in getattr(features, block))

    def _first(self, features: Features) -> list[float]:
        """bias + Σ over blocks of scale / sqrt(number of features) x Σ rows."""
        n, total = self._n, self._bias
        for block in BLOCKS:
            grams: tuple[str, ...] = getattr(features, block)
            if not grams:
                continue
            rows = self._joined(block, grams)
            scale = self._scale[block] / (1.0 if block == "cues" else sqrt(len(grams)))
            zero = ZERO * (len(rows) // n)
            total = [t + scale * (sum(rows[j::n]) - zero) for j, t in enumerate(total)]
        return total

    def _joined(self, block: str, grams: tuple[str, ...]) -> bytes:
        n = self._n
        if block in ("latin", "cjk"):
            table, mask = self._table, self._mask
            starts = [bucket(gram, mask) * n for gram in grams]
        else:
            table, index = self._rows[block], self._cues if block == "cues" else self._wanted
            starts = [index[gram] * n for gram in grams if gram in index]
        return b"".join([table[start : start + n] for start in starts])

    def _correction(self, first: Sequence[float]) -> list[float]:
        """Second stage: bias + Σ q_i row_i + Σ q_i q_j row_ij, summed in wide integers, one lane a leaf."""
        threshold, rows = self._second["threshold"], self._second_rows
        active = [(j, r - threshold) for j, r in enumerate(first) if r > threshold]
        total = sum(round(min(q, 1.0) * FIXED) * rows[j] for j, q in active)
        at = self._n
        offsets = [at + j * self._n - j * (j + 1) // 2 for j in range(self._n)]  # pairs (i, j >= i) in row-major order
        for place, (i, p) in enumerate(active):
            base = offsets[i]
            total += sum(round(min(p, 1.0) * min(q, 1.0) * FIXED) * rows[base + j] for j, q in active[place:])
        unit = self._second["scale"] / FIXED
        return [b + unit * lane for b, lane in zip(self._second["bias"], self._lanes(total), strict=True)]

    def _lanes(self, total: int) -> list[int]:
        n = self._n
        lifted = total + self._lift
        return [lane - _SIGN for lane in struct.unpack(f"<{n}Q", lifted.to_bytes(LANE * n, "little"))]

    @cached_property
    def _lift(self) -> int:
        return sum(_SIGN << (8 * LANE * j) for j in range(self._n))

    @cached_property
    def _second_rows(self) -> list[int]:
        """Each row of the second stage as one wide integer: Σ_j weight_j x 2^(64 j)."""
        n, raw = self._n, base64.b64decode(self._second["rows"])
        values = struct.unpack(f"<{len(raw) // 2}h", raw)
        pack = struct.Struct(f"<{n}Q").pack
        lift = self._lift
        return [
            int.from_bytes(pack(*[v + _SIGN for v in values[at : at + n]]), "little") - lift
            for at in range(0, len(values), n)
        ]
