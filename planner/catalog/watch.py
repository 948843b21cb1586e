"""A catalog folder that may be edited while a server runs: the newest state that can be used, at every look."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock

from planner.catalog.compiled import FILE
from planner.catalog.loader import load_catalog
from planner.catalog.model import Catalog
from planner.catalog.pages import LEFT_OUT
from planner.errors import CatalogError

MANY = 1000  # leaf pages above which they are looked at only every PAUSE_S; L0 and L1 are at every look
PAUSE_S = 2.0

Signature = tuple[tuple[str, int, int], ...]


class WatchedCatalog:
    """Holds a catalog, and swaps it whole when its folder has changed (rule CAT-3.1).

    `trouble`: why the newest edit is not in use, in words; None when it is. Raises CatalogError when made on a folder
    that cannot be used at all. Thread-safe: one thread loads, the others go on with what is there.
    """

    def __init__(self, root: Path, cache: Path | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._root, self._cache, self._clock = root, cache, clock
        self._lock = Lock()
        self._pages: Signature = ()
        self._pages_due = 0.0
        self._seen = self._signature()
        self._catalog = load_catalog(root, cache)
        self.trouble: str | None = None

    def current(self) -> Catalog:
        """The catalog to plan with now."""
        if self._lock.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._catalog

    def _look(self) -> None:
        signature = self._signature()
        if signature == self._seen:
            return
        self._seen = signature
        try:
            fresh = load_catalog(self._root, self._cache)
        except (CatalogError, OSError) as error:
            self.trouble = f"the catalog was changed and cannot be used: {error}; the one from before serves on"
            return
        if broken := [told for told in fresh.warnings if LEFT_OUT in told and told not in self._catalog.warnings]:
            self.trouble = f"the catalog was changed and is broken: {broken[0]}; the one from before serves on"
            return
        self._catalog, self.trouble = fresh, None

    def _signature(self) -> Signature:
        router = self._root / "router"
        paths = [router, router / "groups", self._root / "channels", self._root / FILE, self._root / "examples.jsonl"]
        found = [_state(str(path)) for path in paths]
        for folder in (router, router / "groups"):
            found += _states(folder)
        return (*found, *self._leaf_pages())

    def _leaf_pages(self) -> Signature:
        if len(self._pages) <= MANY or self._clock() >= self._pages_due:
            self._pages = tuple(_state(f"{path}/SKILL.md") for path in _entries(self._root / "channels"))
            self._pages_due = self._clock() + PAUSE_S
        return self._pages


def _states(folder: Path) -> Iterator[tuple[str, int, int]]:
    return (_state(path) for path in _entries(folder) if path.endswith((".md", ".yaml")))


def _entries(folder: Path) -> list[str]:
    try:
        return sorted(entry.path for entry in os.scandir(folder))
    except OSError:
        return []


def _state(path: str) -> tuple[str, int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - a Path for each of thousands would cost more than the look itself
    except OSError:
        return path, 0, -1
    return path, found.st_mtime_ns, found.st_size
