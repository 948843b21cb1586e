"""The store of outcomes: sessions, searches, what each group gave. One code for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner.history.engine import explained
from planner.history.migrating import applied, migrate, pending
from planner.history.outcomes import Outcome
from planner.history.tables import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Select
    from sqlalchemy.dialects.postgresql import Insert
    from sqlalchemy.sql.dml import ReturningInsert

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
        with self._writing() as connection:
            number = connection.execute(self._session(session, query, at)).scalar_one()
            for outcome in outcomes:
                self._append(connection, number, outcome, at)

    def empty_sessions(self) -> dict[str, int]:
        """Group -> how many of its last sessions in a row gave nothing; groups without any are left out."""
        with self._reading() as connection:
            _hurry(connection)
            rows = connection.execute(_streaks()).all()
        return {str(group): int(count) for group, count in rows}

    def events(self, channels: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """Every outcome with its session, oldest first; of these channels only, where some are given."""
        chunks = {"yield_per": 1_000}
        with self._reading() as connection, connection.execute(_events(channels), execution_options=chunks) as rows:
            for row in rows:
                yield dict(row._mapping)

    def latest(self, limit: int) -> list[dict[str, Any]]:
        """The events of the last `limit` sessions, oldest first."""
        from sqlalchemy import select

        sessions = tables().sessions
        recent = select(sessions.c.id).order_by(sessions.c.id.desc()).limit(limit)
        with self._reading() as connection:
            rows = connection.execute(_events().where(sessions.c.id.in_(recent))).all()
        return [dict(row._mapping) for row in rows]

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

    def _session(self, name: str, query: str | None, at: str) -> ReturningInsert[Any]:
        from sqlalchemy import func

        table = tables().sessions
        new = self._insert(table).values(name=name, query=query, started_at=at)
        kept = {"query": func.coalesce(table.c.query, new.excluded.query)}
        return new.on_conflict_do_update(index_elements=["name"], set_=kept).returning(table.c.id)

    def _append(self, connection: Connection, session: int, outcome: Outcome, at: str) -> None:
        _, outcomes, yields = tables()
        row = outcome.model_dump(exclude={"group"}) | {
            "session_id": session, "group_name": outcome.group, "searched": int(outcome.searched), "recorded_at": at,
        }  # fmt: skip
        number = connection.execute(self._insert(outcomes).values(row).returning(outcomes.c.id)).scalar_one()
        if not outcome.searched:
            return
        given = {"group_name": outcome.group, "session_id": session, "results": outcome.results, "last_outcome": number}
        new = self._insert(yields).values(given)
        summed = {"results": yields.c.results + new.excluded.results, "last_outcome": new.excluded.last_outcome}
        connection.execute(new.on_conflict_do_update(index_elements=["group_name", "session_id"], set_=summed))

    def _insert(self, table: Any) -> Insert:
        from sqlalchemy.dialects import postgresql, sqlite

        dialects: dict[str, Any] = {"postgresql": postgresql, "sqlite": sqlite}
        made: Insert = dialects[self.engine.dialect.name].insert(table)
        return made


def _hurry(connection: Connection) -> None:
    """A plan may be waiting: give up soon. (SQLite's readers wait for nobody.)"""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = {_HURRY_MS}")


def _events(channels: Sequence[str] = ()) -> Select[Any]:
    from sqlalchemy import select

    sessions, outcomes, _ = tables()
    found = select(
        sessions.c.name.label("session"), sessions.c.query, outcomes.c.recorded_at.label("at"), outcomes.c.channel,
        outcomes.c.group_name.label("group"), outcomes.c.results, outcomes.c.failure, outcomes.c.pattern,
        outcomes.c.feedback,
    ).join(outcomes, outcomes.c.session_id == sessions.c.id)  # fmt: skip
    return (found.where(outcomes.c.channel.in_(channels)) if channels else found).order_by(outcomes.c.id)


def _streaks() -> Select[Any]:
    """Empty sessions of each group after its last one with results; a session counts where its last search stands."""
    from sqlalchemy import func, select

    yields = tables().yields
    groups = select(yields.c.group_name).distinct().subquery()
    found = yields.alias()
    last = (
        select(func.coalesce(func.max(found.c.last_outcome), 0))
        .where(found.c.group_name == groups.c.group_name, found.c.results > 0)
        .correlate(groups)
        .scalar_subquery()
    )
    empty = (
        select(func.count())
        .select_from(yields)
        .where(yields.c.group_name == groups.c.group_name, yields.c.results == 0, yields.c.last_outcome > last)
        .correlate(groups)
        .scalar_subquery()
    )
    counted = select(groups.c.group_name, empty.label("sessions")).subquery()
    return select(counted.c.group_name, counted.c.sessions).where(counted.c.sessions > 0).order_by(counted.c.group_name)
