"""Opening the store that the settings mean."""

from __future__ import annotations

import os
from pathlib import Path

from planner.errors import HistoryError
from planner.history.engine import WAIT_S, explained, postgresql_engine, sqlite_engine
from planner.history.places import read_head
from planner.history.store import Store

_WAL = b"\x02\x02"  # bytes 18 and 19 of a SQLite file in write-ahead mode


def open_store(url: str | None, file: Path, at: str) -> Store:
    """The store with its tables up to date: the server of `url`, or `file`. `at`: now, ISO. Raises HistoryError."""
    if url is not None:
        store = Store(postgresql_engine(url), "the PostgreSQL store of history.store")
    else:
        _make(file)
        store = Store(sqlite_engine(file, WAIT_S), str(file))
    try:
        store.prepare(at)
    except HistoryError:
        store.close()
        raise
    return store


def _make(file: Path) -> None:
    """The file, for its owner only, in write-ahead mode: readers and one writer do not wait for each other."""
    import sqlite3
    from contextlib import closing

    from filelock import FileLock

    with explained(str(file)):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        if read_head(file)[18:20] == _WAL:
            return
        try:  # switching does not wait for other processes as statements do, so that they take turns here
            with FileLock(f"{file}.lock", timeout=WAIT_S), closing(sqlite3.connect(file, timeout=WAIT_S)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.Error:
            return  # the first statement says what is wrong
