"""What can be said of the store without changing it: which one, where, whether it answers, how much it holds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.errors import HistoryError
from planner.history.engine import address, postgresql_engine, sqlite_engine
from planner.history.store import Store

if TYPE_CHECKING:
    from sqlalchemy import Engine

_WAIT_S = 1


def examined(url: str | None, file: Path) -> dict[str, Any]:
    """`kind` (off, sqlite, postgresql), `address` without user and password, `reachable`, `events`; `problem` if any.

    A file that is not there yet is reachable and empty; none is made. Never raises for what is wrong with the store.
    """
    if url == "off":
        return {"kind": "off"}
    kind, place = ("sqlite", str(file)) if url is None else ("postgresql", address(url))
    said: dict[str, Any] = {"kind": kind, "address": place}
    if url is None and not file.exists():
        return said | {"reachable": True, "events": 0}
    try:
        engine: Engine = sqlite_engine(file, _WAIT_S) if url is None else postgresql_engine(url)
        with closing(Store(engine, place)) as store:
            return said | {"reachable": True, "events": store.size()}
    except HistoryError as error:
        return said | {"reachable": False, "events": None, "problem": str(error)}
