"""Stores of every earlier version are brought up to date; nothing is ever migrated back or over something unknown."""

import hashlib

import pytest
from sqlalchemy import text

from planner.errors import HistoryError
from planner.history.engine import postgresql_engine, sqlite_engine
from planner.history.migrating import applied, migrate, migrations, pending

NOW = "2026-01-01T00:00:00.000+00:00"
VERSIONS = [step.version for step in migrations()]
SHIPPED = {  # what has been shipped stays as it is; a new step is a new line
    1: "sha256:17f23817a0e08eb7188048769ea7704d266dac3d4f2da1bccaf6512b6d5bf355",
    2: "sha256:2dd7fbc8b096269d6ba4dd295dd1883393168978eeba0522368310d1b4506866",
    3: "sha256:0fd622b84545ce2c0310c0b80aa9d21d756676d565bcf708b5451cae10787077",
}


@pytest.fixture
def engine(url, folder):
    folder.mkdir()
    made = postgresql_engine(url) if url else sqlite_engine(folder / "history.db", 5)
    yield made
    made.dispose()


def at_version(engine, version):
    """The store as a planner of that version left it: three empty sessions, one of them with two searches."""
    with engine.begin() as connection:
        migrate(connection, NOW, version)
        for name in "abc":
            connection.execute(text(f"INSERT INTO planner_sessions (name, started_at) VALUES ('{name}', '{NOW}')"))
        for session, channel in ((1, "zhihu"), (2, "zhihu"), (2, "weibo"), (3, "zhihu")):
            values = f"{session}, '{channel}', 'channels-chinese-ugc', 0, 1, '{NOW}'"
            columns = "session_id, channel, group_name, results, searched, recorded_at"
            connection.execute(text(f"INSERT INTO planner_outcomes ({columns}) VALUES ({values})"))
        if version >= 2:
            columns = "group_name, session_id, results, last_outcome"
            values = ", ".join(f"('channels-chinese-ugc', {n}, 0, {last})" for n, last in ((1, 1), (2, 3), (3, 4)))
            connection.execute(text(f"INSERT INTO planner_yields ({columns}) VALUES {values}"))


def schema(engine):
    """Tables, columns and indexes, as the database tells."""
    from sqlalchemy import inspect

    seen = inspect(engine)
    return {
        table: (
            sorted((column["name"], str(column["type"]), column["nullable"]) for column in seen.get_columns(table)),
            sorted(index["name"] for index in seen.get_indexes(table)),
        )
        for table in seen.get_table_names()
        if table.startswith("planner_")
    }


@pytest.mark.rule("HIS-2.1")
@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_of_any_version_goes_on_where_it_was(engine, opened, version):
    at_version(engine, version)
    history = opened()
    done = history.record([{"channel": "xiaohongshu", "results": 0, "pattern": "add a year"}], session="d")
    assert done.empty_sessions == {"channels-chinese-ugc": 4}
    assert [event["session"] for event in history.events()] == ["a", "b", "b", "c", "d"]
    with engine.connect() as connection:
        assert applied(connection) == {step.version: step.hash for step in migrations()}


@pytest.mark.rule("HIS-2.1")
@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_step_by_step_or_at_once_gives_the_same_tables(engine, url, tmp_path, version):
    at_version(engine, version)
    with engine.begin() as connection:
        assert migrate(connection, NOW) == [v for v in VERSIONS if v > version]
        assert migrate(connection, NOW) == []
    with engine.connect() as connection:
        assert not pending(applied(connection))
    if url is None:
        fresh = sqlite_engine(tmp_path / "fresh.db", 5)
        with fresh.begin() as connection:
            migrate(connection, NOW)
        assert schema(fresh) == schema(engine)
        fresh.dispose()


@pytest.mark.rule("HIS-2.2")
def test_what_was_shipped_stays_as_it_is():
    assert [step.version for step in migrations()] == list(range(1, len(SHIPPED) + 1))
    assert {step.version: step.hash for step in migrations()} == SHIPPED
    for step in migrations():
        assert step.hash == f"sha256:{hashlib.sha256(step.sql.encode()).hexdigest()}"


@pytest.mark.rule("HIS-2.2")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE planner_migrations SET hash = 'sha256:0' WHERE version = 2", "migration 2 is not the one"),
        ("INSERT INTO planner_migrations VALUES (99, 'sha256:0', 'later')", "version 99"),
    ],
)
def test_a_store_that_is_newer_or_different_is_refused_and_left_alone(engine, opened, change, words):
    at_version(engine, VERSIONS[-1])
    with engine.begin() as connection:
        connection.execute(text(change))
    history = opened()
    with pytest.raises(HistoryError, match=words):
        history.record([{"channel": "zhihu"}])
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM planner_outcomes")).scalar() == 4


@pytest.mark.rule("HIS-2.1")
def test_a_step_that_fails_halfway_leaves_the_version_it_found(engine):
    at_version(engine, 1)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE planner_yields (x INTEGER)"))  # in the way of step 2
    with pytest.raises(Exception, match="planner_yields"), engine.begin() as connection:
        migrate(connection, NOW)
    with engine.connect() as connection:
        assert sorted(applied(connection)) == [1]
