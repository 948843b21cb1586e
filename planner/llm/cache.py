"""Small values kept for a while: judgements, and the modes that worked. In memory, or in a SQLite file by setting."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

Clock = Callable[[], float]


class Store(Protocol):
    """Text by key, bounded, forgotten after a time. Losing a value is never an error."""

    def get(self, key: str) -> str | None:
        """The value, or None."""

    def put(self, key: str, value: str) -> None:
        """Keep it; the oldest goes when there are too many."""

    def drop(self, key: str) -> None:
        """Forget it."""


class MemoryStore:
    """At most `entries` values for `ttl_s` seconds each, in this process."""

    def __init__(self, entries: int, ttl_s: float, clock: Clock = time.monotonic) -> None:
        self._entries, self._ttl_s, self._clock = entries, ttl_s, clock
        self._values: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> str | None:
        """The value if it is not too old."""
        with self._lock:
            kept, value = self._values.get(key, (0.0, None))
            if value is None or self._clock() - kept > self._ttl_s:
                self._values.pop(key, None)
                return None
            self._values.move_to_end(key)
            return value

    def put(self, key: str, value: str) -> None:
        """Keep it; the least recently used goes first."""
        with self._lock:
            self._values[key] = (self._clock(), value)
            self._values.move_to_end(key)
            while len(self._values) > self._entries:
                self._values.popitem(last=False)

    def drop(self, key: str) -> None:
        """Forget it."""
        with self._lock:
            self._values.pop(key, None)


class FileStore:
    """The same in a SQLite file that processes share. A file that cannot be used is as good as an empty one."""

    def __init__(self, path: Path, entries: int, ttl_s: float, clock: Clock = time.time) -> None:
        self._path, self._entries, self._ttl_s, self._clock = path, entries, ttl_s, clock

    def get(self, key: str) -> str | None:
        """The value if it is not too old."""
        oldest = self._clock() - self._ttl_s
        rows = self._run(("SELECT value FROM kept WHERE key = ? AND at >= ?", (key, oldest)))
        return str(rows[0][0]) if rows else None

    def put(self, key: str, value: str) -> None:
        """Keep it; the oldest go first."""
        self._run(
            ("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (key, value, self._clock())),
            (
                "DELETE FROM kept WHERE at < ? OR key NOT IN (SELECT key FROM kept ORDER BY at DESC LIMIT ?)",
                (self._clock() - self._ttl_s, self._entries),
            ),
        )

    def drop(self, key: str) -> None:
        """Forget it."""
        self._run(("DELETE FROM kept WHERE key = ?", (key,)))

    def _run(self, *statements: tuple[str, tuple[object, ...]]) -> list[tuple[object, ...]]:
        import sqlite3

        with suppress(sqlite3.Error, OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=0.2)) as db, db:
                db.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value TEXT, at REAL)")
                return [row for text, values in statements for row in db.execute(text, values).fetchall()]
        return []


def open_store(path: str | None, entries: int, ttl_s: float) -> Store:
    """The store that the settings ask for."""
    return FileStore(Path(path), entries, ttl_s) if path else MemoryStore(entries, ttl_s)
