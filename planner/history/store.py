"""The store of outcomes: sessions, searches, what each group gave. One code for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner.history.engine import explained
from planner.history.migrating import applied, migrate, pending
from planner.history.outcomes import Outcome
from planner.history.statements import events, inserts, streaks
from planner.history.tables import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_HURRY_MS = 2_000


@dataclass(frozen=True, slots=True)
class Store:
    """An opened store. `label`: it in words, for messages. Every verb raises HistoryError."""

    engine: Engine
    label: str

    def prepare(self, at: str) -> None:
        """Bring the tables up to date; a store that is up to date is only read. `at`: now, ISO."""
        with self._reading() as connection:
            _hurry(connection)
            if not pending(applied(connection)):
                return
        with self._writing() as connection:
            migrate(connection, at)

    def record(self, session: str, query: str | None, outcomes: Sequence[Outcome], at: str) -> None:
        """Append outcomes to a session, which begins with its first one; on return they are kept, whatever happens."""
        made = inserts(self.engine.dialect.name)
        with self._writing() as connection:
            row = {"name": session, "query": query, "started_at": at}
            number = connection.execute(made.session, row).scalar_one()
            for outcome in outcomes:
                self._append(connection, number, outcome, at)

    def empty_sessions(self) -> dict[str, int]:
        """Group -> how many of its last sessions in a row gave nothing; groups without any are left out."""
        with self._reading() as connection:
            _hurry(connection)
            rows = connection.execute(streaks()).all()
        return {str(group): int(count) for group, count in rows}

    def events(self, channels: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """Every outcome with its session, oldest first; of these channels only, where some are given."""
        chunks = {"yield_per": 1_000}
        with self._reading() as connection, connection.execute(events(channels), execution_options=chunks) as rows:
            for row in rows:
                yield dict(row._mapping)

    def latest(self, limit: int) -> list[dict[str, Any]]:
        """The events of the last `limit` sessions, oldest first."""
        from sqlalchemy import select

        sessions = tables().sessions
        recent = select(sessions.c.id).order_by(sessions.c.id.desc()).limit(limit)
        with self._reading() as connection:
            rows = connection.execute(events().where(sessions.c.id.in_(recent))).all()
        return [dict(row._mapping) for row in rows]

    def size(self) -> int:
        """How many outcomes there are; a store whose tables were never made has none, and gets none."""
        from sqlalchemy import func, select

        with self._reading() as connection:
            _hurry(connection)
            if not (done := applied(connection)):
                return 0
            pending(done)  # a store of a newer planner is not read
            return int(connection.execute(select(func.count()).select_from(tables().outcomes)).scalar_one())

    def clear(self) -> int:
        """Delete all sessions; returns how many there were."""
        from sqlalchemy import delete

        sessions, outcomes, yields = tables()
        with self._writing() as connection:
            for table in (yields, outcomes):
                connection.execute(delete(table))
            return connection.execute(delete(sessions)).rowcount

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with explained(self.label), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with explained(self.label), self.engine.connect().execution_options(only_reads=True) as connection:
            yield connection

    def _append(self, connection: Connection, session: int, outcome: Outcome, at: str) -> None:
        made = inserts(self.engine.dialect.name)
        row = outcome.model_dump(exclude={"group"}) | {
            "session_id": session, "group_name": outcome.group, "searched": int(outcome.searched), "recorded_at": at,
        }  # fmt: skip
        number = connection.execute(made.outcome, row).scalar_one()
        if outcome.searched:
            given = {"group_name": outcome.group, "session_id": session, "results": outcome.results}
            connection.execute(made.found, given | {"last_outcome": number})


def _hurry(connection: Connection) -> None:
    """A plan may be waiting: give up soon. (SQLite's readers wait for nobody.)"""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = {_HURRY_MS}")
