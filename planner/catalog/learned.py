"""The scorer fitted on graded example queries: a hashed table of small integers, then products of what it found.

First stage: relevance is linear in the features. Cues and wanted intents have a row each; n-grams share 2^bits rows.
Second stage: which leaves are relevant together says more: q = max(0, r - threshold) and all products q_i * q_j
correct r linearly. Fitted by `planner.catalog.fit`; see there for the formulas.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import sqrt
from typing import Any

from planner.catalog.features import BLOCKS, Features
from planner.catalog.payoff import Payoff
from planner.catalog.scorer import Evidence

ZERO = 128  # a table byte b stands for the integer b - 128
LANE = 8  # bytes of a lane of the wide integers
_SIGN = 1 << 62
EXACT = ("cues", "wanted")  # blocks whose features have a row each
FIXED = 1 << 12  # q and q * q as fixed-point integers

_Trace = tuple[tuple[str, ...], bytes, float]  # features of a block, their rows, what one step of a row is worth


def bucket(gram: str, mask: int) -> int:
    """The table row of an n-gram; the same in every process and on every machine."""
    return zlib.crc32(gram.encode("utf-8", "surrogatepass")) & mask


class LearnedScorer:
    """See the module. Immutable but for caches that any thread may fill."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._n = len(record["channels"])
        self._mask = (1 << record["bits"]) - 1
        self._table = zlib.decompress(base64.b64decode(record["table"]))
        self._exact = {block: {name: at for at, name in enumerate(record[block])} for block in EXACT}
        self._rows = {block: base64.b64decode(record[f"{block}_rows"]) for block in EXACT}
        self._last: tuple[Features, list[_Trace]] | None = None
        self._scale: Mapping[str, float] = record["scales"]
        self._bias: list[float] = record["bias"]
        self._second: Mapping[str, Any] = record["second"]
        self._payoff = Payoff(record["groups"])

    def relevance(self, features: Features) -> list[float]:
        """See Scorer."""
        return self.corrected(self._first(features))

    def corrected(self, first: Sequence[float]) -> list[float]:
        """First-stage relevances after the second stage, in 0..1."""
        return [min(1.0, max(0.0, r + c)) for r, c in zip(first, self._correction(first), strict=True)]

    def payoff(self, features: Features, relevance: Sequence[float]) -> list[float] | None:
        """See Scorer."""
        return self._payoff.of(relevance, features.cues)

    def evidence(self, leaf: int, features: Features, limit: int) -> list[Evidence]:
        """First-stage shares of the leaf's relevance; an n-gram's row may be shared with others by its hash.

        Cues are left out: a reader can do nothing with the shape of a question, and names and triggers are told anyway.
        """
        found = []
        for grams, rows, share in self._traced(features)[1:]:
            values = rows[leaf :: self._n]
            best = sorted(range(len(values)), key=values.__getitem__, reverse=True)[:limit]
            found += [Evidence(grams[at], share * (values[at] - ZERO)) for at in best if values[at] > ZERO]
        return sorted(found, key=lambda e: (-e.weight, e.feature))[:limit]

    def _traced(self, features: Features) -> list[_Trace]:
        """The blocks of a query; those of the last one are kept, for it is explained leaf by leaf."""
        last = self._last
        if last is None or last[0] is not features:
            self._last = last = (features, [trace for block in BLOCKS if (trace := self._trace(block, features))])
        return last[1]

    def _trace(self, block: str, features: Features) -> _Trace | None:
        grams: tuple[str, ...] = getattr(features, block)
        if not grams:
            return None
        n, exact = self._n, self._exact.get(block)
        share = self._scale[block] / (1.0 if block == "cues" else sqrt(len(grams)))
        if exact is None:
            table, mask = self._table, self._mask
            starts = [bucket(gram, mask) * n for gram in grams]
        else:
            table = self._rows[block]
            grams = tuple(gram for gram in grams if gram in exact)
            starts = [exact[gram] * n for gram in grams]
        return grams, b"".join([table[start : start + n] for start in starts]), share

    def _first(self, features: Features) -> list[float]:
        """bias + Σ over blocks of scale / sqrt(number of features) x Σ rows."""
        n, total = self._n, self._bias
        for grams, rows, share in self._traced(features):
            zero = ZERO * len(grams)
            total = [t + share * (sum(rows[j::n]) - zero) for j, t in enumerate(total)]
        return total

    def _correction(self, first: Sequence[float]) -> list[float]:
        """Second stage: bias + Σ q_i row_i + Σ q_i q_j row_ij, summed in wide integers, one lane a leaf."""
        threshold, rows, offsets = self._second["threshold"], self._second_rows, self._offsets
        active = [(j, min(r - threshold, 1.0)) for j, r in enumerate(first) if r > threshold]
        total = sum([int(q * FIXED + 0.5) * rows[j] for j, q in active])
        for place, (i, p) in enumerate(active):
            base, scaled = offsets[i], p * FIXED
            total += sum([int(scaled * q + 0.5) * rows[base + j] for j, q in active[place:]])
        unit = self._second["scale"] / FIXED
        return [b + unit * lane for b, lane in zip(self._second["bias"], self._lanes(total), strict=True)]

    def _lanes(self, total: int) -> list[int]:
        n = self._n
        lifted = total + self._lift
        return [lane - _SIGN for lane in struct.unpack(f"<{n}Q", lifted.to_bytes(LANE * n, "little"))]

    @cached_property
    def _offsets(self) -> list[int]:
        """Row of the pair (i, i) less i; pairs (i, j >= i) follow the single rows in row-major order."""
        return [self._n + i * self._n - i * (i + 1) // 2 for i in range(self._n)]

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
