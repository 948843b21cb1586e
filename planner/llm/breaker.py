"""A breaker per model: after some failures in a row it is left alone for a while, then tried once. Per process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Breaker:
    """`failures` in a row open it for `pause_s` seconds; then one caller at a time may try."""

    failures: int
    pause_s: float
    clock: Callable[[], float] = time.monotonic
    _count: int = 0
    _opened: float = 0.0
    _trying: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admits(self) -> bool:
        """Whether a call may go out now. The caller that is let through half-open must report back."""
        with self._lock:
            if self._count < self.failures:
                return True
            if self._trying or self.clock() - self._opened < self.pause_s:
                return False
            self._trying = True
            return True

    def succeeded(self) -> None:
        """The model answered, or failed for a reason of the question's own: it is well."""
        with self._lock:
            self._count, self._trying = 0, False

    def failed(self) -> None:
        """The model failed."""
        with self._lock:
            self._count, self._trying, self._opened = self._count + 1, False, self.clock()

    def abandoned(self) -> None:
        """The call was cancelled: it says nothing about the model."""
        with self._lock:
            self._trying = False
