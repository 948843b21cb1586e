"""The statements of the store, built once: building takes longer than running."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from planner.history.tables import tables

if TYPE_CHECKING:
    from sqlalchemy import Select
    from sqlalchemy.dialects.postgresql import Insert
    from sqlalchemy.sql.dml import ReturningInsert


class Inserts(NamedTuple):
    """`session` and `outcome` return the row's number; `found` adds to what the session got from the group."""

    session: ReturningInsert[Any]
    outcome: ReturningInsert[Any]
    found: Insert


@cache
def inserts(dialect: str) -> Inserts:
    """What recording writes, in the dialect `sqlite` or `postgresql`; the rows are given when they are run."""
    from sqlalchemy import func
    from sqlalchemy.dialects import postgresql, sqlite

    sessions, outcomes, yields = tables()
    insert: Any = (postgresql if dialect == "postgresql" else sqlite).insert
    session, found = insert(sessions), insert(yields)
    kept = {"query": func.coalesce(sessions.c.query, session.excluded.query)}
    summed = {"results": yields.c.results + found.excluded.results, "last_outcome": found.excluded.last_outcome}
    return Inserts(
        session.on_conflict_do_update(index_elements=["name"], set_=kept).returning(sessions.c.id),
        insert(outcomes).returning(outcomes.c.id),
        found.on_conflict_do_update(index_elements=["group_name", "session_id"], set_=summed),
    )


def events(channels: Sequence[str] = ()) -> Select[Any]:
    """Outcomes with their sessions, oldest first; of these channels only, where some are given."""
    from sqlalchemy import select

    sessions, outcomes, _ = tables()
    found = select(
        sessions.c.name.label("session"), sessions.c.query, outcomes.c.recorded_at.label("at"), outcomes.c.channel,
        outcomes.c.group_name.label("group"), outcomes.c.results, outcomes.c.failure, outcomes.c.pattern,
        outcomes.c.feedback,
    ).join(outcomes, outcomes.c.session_id == sessions.c.id)  # fmt: skip
    return (found.where(outcomes.c.channel.in_(channels)) if channels else found).order_by(outcomes.c.id)


@cache
def streaks() -> Select[Any]:
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
