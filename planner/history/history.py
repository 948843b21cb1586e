"""Outcome history as the rest of the house sees it: record, look, clear; and what planning reads."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.catalog.model import Catalog
from planner.errors import HistoryError, InputError
from planner.history.places import file_problem, identity
from planner.history.snapshot import Snapshot, age_s, read_snapshot, take_snapshot
from planner.settings import HistorySettings
from planner.text import clean

if TYPE_CHECKING:
    from planner.history.outcomes import Outcome
    from planner.history.store import Store

FILE = "history.db"
OFF = "outcome history is off (history.store); nothing was recorded"
MAX_SESSION = 200
_PAUSE_S = 30  # before a store that could not be reached is tried again
Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What recording did. `session`: the id to go on with; `empty_sessions`: group -> empty sessions in a row, now."""

    session: str
    recorded: int
    empty_sessions: dict[str, int]
    warnings: tuple[str, ...] = ()


class History:
    """Outcome history by the settings, in a state folder; opened on first use; thread-safe.

    `catalog`: gives the one in use, which a server may exchange.
    """

    def __init__(self, settings: HistorySettings, folder: Path, catalog: Callable[[], Catalog]) -> None:
        self._settings, self._folder, self._catalog = settings, folder, catalog
        self._file = folder / FILE
        self._identity = identity(settings.store)
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._failed: tuple[float, str] | None = None  # when the last refresh failed, and with what words

    @property
    def is_off(self) -> bool:
        """Whether the settings turn it off."""
        return self._settings.store == "off"

    @property
    def folder(self) -> Path:
        """The state folder."""
        return self._folder

    def record(
        self,
        outcomes: Iterable[Outcome | Mapping[str, Any]],
        *,
        session: str | None = None,
        query: str | None = None,
        at: datetime | None = None,
    ) -> Recorded:
        """Append what searches gave; on return it is kept (rules HIS-1.1 to HIS-1.7).

        `session`: the research session they belong to, a new one if None. `query`: kept only where the settings say so;
        otherwise only the kind of question is. Raises InputError, and HistoryError where nothing could be recorded.
        """
        from planner.history.outcomes import read_outcomes

        named = read_outcomes(outcomes, self._catalog())
        name = _session(session)
        if self.is_off:
            return Recorded(session=name, recorded=0, empty_sessions={}, warnings=(OFF,))
        store = self._opened()
        kept = query if self._settings.record_queries else None
        store.record(name, kept, self._with_pattern(named, query), _iso(at))
        warnings: tuple[str, ...] = ()
        try:
            counts = take_snapshot(self._folder, self._identity, store.empty_sessions)
        except (OSError, HistoryError) as error:
            counts, warnings = {}, (f"recorded, but planning will not see it yet ({type(error).__name__})",)
        return Recorded(session=name, recorded=len(named), empty_sessions=dict(counts), warnings=warnings)

    def empty_sessions(self) -> tuple[Counts, tuple[str, ...]]:
        """Group -> consecutive empty sessions, and warnings; for a plan (rules HIS-3.1, HIS-4.1). Never raises."""
        if self.is_off:
            return {}, ()
        warnings = [] if self._settings.store is None else self._refreshed()
        snapshot = read_snapshot(self._folder)
        if self._settings.store is None and (problem := self._file_problem(snapshot)):
            warnings.append(f"outcome history: {self._file} {problem}")
        if snapshot is None or snapshot.store not in (None, self._identity):
            return {}, tuple(warnings)
        if snapshot.problem:
            warnings.append(snapshot.problem)
        return snapshot.empty_sessions, tuple(warnings)

    def latest(self, limit: int) -> list[dict[str, Any]]:
        """Events of the last `limit` sessions, oldest first. Raises HistoryError."""
        return [] if self.is_off else self._opened().latest(limit)

    def events(self, channels: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
        """Every event, oldest first; of these channels only, where some are given. Raises HistoryError."""
        return iter(()) if self.is_off else self._opened().events(channels)

    def clear(self) -> int:
        """Delete all sessions and the snapshot's counts; returns how many sessions there were. Raises HistoryError."""
        if self.is_off:
            return 0
        store = self._opened()
        gone = store.clear()
        try:
            take_snapshot(self._folder, self._identity, store.empty_sessions)
        except OSError as error:
            raise HistoryError(f"outcome history: the snapshot cannot be written ({type(error).__name__})") from None
        return gone

    def close(self) -> None:
        """Close the store; it opens again when it is used."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = None

    def _opened(self) -> Store:
        from planner.history.opening import open_store

        with self._lock:
            if self._store is None:
                self._store = open_store(self._settings.store, self._file, _iso(None))
            return self._store

    def _with_pattern(self, outcomes: tuple[Outcome, ...], query: str | None) -> list[Outcome]:
        """Outcomes without a pattern get the kind of question, of which the digests make rules."""
        intents = self._catalog().read(query).intents if query else {}
        if not intents:
            return list(outcomes)
        kind = f"{max(intents, key=lambda name: intents[name])} questions"
        return [o if o.pattern else o.model_copy(update={"pattern": kind}) for o in outcomes]

    def _file_problem(self, snapshot: Snapshot | None) -> str | None:
        expected = snapshot is not None and snapshot.store is not None
        return file_problem(self._file) if expected or self._file.exists() else None

    def _refreshed(self) -> list[str]:
        """Take a new snapshot where it is too old; why that failed. After a failure it is left alone for a while."""
        snapshot, now = read_snapshot(self._folder), time.time()
        usable = snapshot is not None and snapshot.problem is None and snapshot.store == self._identity
        if usable and age_s(self._folder, now) < self._settings.refresh_s:
            return []
        if self._failed and now - self._failed[0] < max(self._settings.refresh_s, _PAUSE_S):
            return [self._failed[1]]
        try:
            take_snapshot(self._folder, self._identity, self._opened().empty_sessions)
        except (HistoryError, OSError) as error:
            words = str(error) if isinstance(error, HistoryError) else f"outcome history: {type(error).__name__}"
            self._failed = (now, f"{words}; the last snapshot is used")
            return [self._failed[1]]
        self._failed = None
        return []


def _session(given: str | None) -> str:
    if given is None:
        return os.urandom(16).hex()
    name = clean(given).strip() if isinstance(given, str) else ""
    if not 1 <= len(name) <= MAX_SESSION:
        raise InputError("session", given, f"text of 1 to {MAX_SESSION} characters")
    return name


def _iso(at: datetime | None) -> str:
    moment = at or datetime.now(UTC)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
