"""The small JSON file planning reads outcome history from: group → consecutive sessions that yielded nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from planner.paths import write_whole

FILE = "outcomes.json"
FORMAT = 1
_LOCK_S = 30


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the file says. `store`: which store it was taken from; `problem`: why it is unusable, in words."""

    empty_sessions: Mapping[str, int] = field(default_factory=dict)
    store: str | None = None
    problem: str | None = None


def read_snapshot(folder: Path) -> Snapshot | None:
    """The snapshot; None where there is none. Never raises (rule HIS-4.2)."""
    try:
        raw = json.loads((folder / FILE).read_text("utf-8"))
        if raw["format"] != FORMAT:
            return Snapshot(problem=f"outcome history has format {raw['format']!r}, not {FORMAT}; it was ignored")
        return Snapshot({str(group): int(n) for group, n in raw["empty_sessions"].items()}, raw.get("store"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Snapshot(problem=f"outcome history cannot be read ({type(error).__name__}); it was ignored")


def age_s(folder: Path, now: float) -> float:
    """Seconds since the snapshot was last taken; infinite where there is none. `now`: seconds since 1970."""
    try:
        return now - (folder / FILE).stat().st_mtime
    except OSError:
        return float("inf")


def take_snapshot(folder: Path, store: str, count: Callable[[], Mapping[str, int]]) -> Mapping[str, int]:
    """Write what `count` finds, and return it. Raises OSError.

    Counting happens under the lock: whoever writes last has counted last, so that no process puts an old count over a
    newer one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        counted = count()
        if read_snapshot(folder) == Snapshot(counted, store):
            os.utime(folder / FILE)
        else:
            value = {"format": FORMAT, "store": store, "empty_sessions": dict(counted)}
            write_whole(folder / FILE, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    return counted


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    from filelock import FileLock

    with FileLock(folder / f"{FILE}.lock").acquire(timeout=_LOCK_S, poll_interval=0.005):
        yield
