"""A planner for servers: it sees an edited catalog at the next call."""

from __future__ import annotations

from pathlib import Path

from planner.catalog.model import Catalog
from planner.catalog.watch import WatchedCatalog
from planner.pipeline import Planner


class WatchingPlanner(Planner):
    """A Planner whose catalog folder may be edited while it runs; plans tell of a broken edit (rule CAT-3.2)."""

    def _open(self, root: Path, cache: Path) -> None:
        self._watched = WatchedCatalog(root, cache / "catalogs")

    @property
    def catalog(self) -> Catalog:
        """The newest catalog that can be used."""
        return self._watched.current()

    def _trouble(self) -> list[str]:
        return [self._watched.trouble] if self._watched.trouble else []
