"""The tables as the newest migration leaves them, for building statements."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlalchemy import Table


class Tables(NamedTuple):
    """`sessions`: one row a session; `outcomes`: one a search; `yields`: results by group and session, if searched."""

    sessions: Table
    outcomes: Table
    yields: Table


@cache
def tables() -> Tables:
    """The tables; made on first use, because SQLAlchemy takes half a second to import."""
    from sqlalchemy import BigInteger, Column, MetaData, SmallInteger, String, Table, Text

    meta = MetaData()
    sessions = Table(
        "planner_sessions", meta, Column("id", BigInteger, primary_key=True), Column("name", String),
        Column("started_at", String), Column("query", Text),
    )  # fmt: skip
    outcomes = Table(
        "planner_outcomes", meta, Column("id", BigInteger, primary_key=True), Column("session_id", BigInteger),
        Column("channel", String), Column("group_name", String), Column("results", BigInteger),
        Column("failure", String), Column("searched", SmallInteger), Column("recorded_at", String),
        Column("pattern", String), Column("feedback", String),
    )  # fmt: skip
    yields = Table(
        "planner_yields", meta, Column("group_name", String, primary_key=True),
        Column("session_id", BigInteger, primary_key=True), Column("results", BigInteger),
        Column("last_outcome", BigInteger),
    )  # fmt: skip
    return Tables(sessions, outcomes, yields)
