"""The journal of a comparison: what was planned so far, on disk before the next query begins."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.channels.model import ChannelPlan
from planner.evaluation.seeing import Factors

Plans = dict[str, ChannelPlan]
Seen = dict[str, Factors]


class Journal:
    """One file a comparison, named by everything that decides its plans. A line a query, each forced to disk.

    `take`: what models answered since it was last called, as JSON values, where that is recorded; kept in `exchanges`.
    """

    def __init__(
        self, folder: Path, about: Mapping[str, Any], take: Callable[[], Sequence[Mapping[str, Any]]] = tuple
    ) -> None:
        text = json.dumps(about, sort_keys=True)
        self.path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.jsonl"
        self.today: str | None = None
        self.finished: dict[str, Plans] = {}
        self.factors: dict[str, Seen] = {}
        self.exchanges: list[Mapping[str, Any]] = []
        self._take_exchanges = take

    def resume(self) -> None:
        """Read what an interrupted run left; a line that was cut off is dropped (rule EVA-1.8)."""
        whole = 0
        for row in self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else ():
            if not row.endswith(b"\n") or not self._take(row):
                break
            whole += len(row)
        if whole:
            os.truncate(self.path, whole)

    def begin(self, today: str) -> None:
        """Start over, unless something was resumed."""
        if self.today is None:
            self.today = today
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(b"")
            self._append({"today": today})

    def write(self, query: str, plans: Plans, factors: Seen) -> None:
        """A finished query, and the factors of all its leaves by arm. It is on disk when this returns."""
        taken = list(self._take_exchanges())
        self.finished[query], self.factors[query] = plans, factors
        dumped = {arm: plan.model_dump(mode="json") for arm, plan in plans.items()}
        self._append({"id": query, "plans": dumped, "factors": factors} | ({"exchanges": taken} if taken else {}))

    def _take(self, row: bytes) -> bool:
        try:
            value = json.loads(row)
            if self.today is None:
                self.today = str(value["today"])
            else:
                plans = value["plans"].items()
                self.exchanges += value.get("exchanges", ())
                self.factors[value["id"]] = value["factors"]
                self.finished[value["id"]] = {arm: ChannelPlan.model_validate(plan) for arm, plan in plans}
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        return True

    def _append(self, value: Mapping[str, Any]) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:  # a full disk does not say which file it was
            raise OSError(error.errno, error.strerror, str(self.path)) from None
