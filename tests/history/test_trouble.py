"""Stores that are missing, locked, corrupt, read-only, somewhere else or full of secrets."""

import os
import shutil
import sqlite3
import sys
import tempfile
import traceback
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from planner.errors import HistoryError, SettingsError
from planner.history import history as history_module
from planner.history import opening, store
from planner.history.snapshot import FILE, read_snapshot
from planner.pipeline import Planner
from planner.settings import load_settings

from .postgresql import PASSWORD

EMPTY = [{"channel": "zhihu", "results": 0}]
COUNTS = {"channels-chinese-ugc": 1}


@contextmanager
def without_privileges():
    """As a user who owns nothing; root may write anywhere."""
    if os.getuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def locked_away(tmp_path):
    """A state folder that may be read and not written."""
    root = Path(tempfile.mkdtemp(prefix="planner-ro-"))
    folder = root / "state"

    def lock():
        for path in (root, *root.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)

    yield folder, lock
    for path in (root, *root.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(root)


def warnings_of(planner):
    """What a plan says about outcome history."""
    return [line for line in planner.select("q").warnings if "outcome history" in line]


def sqlite_planner(folder):
    return Planner(settings={}, env={"PLANNER_STATE_DIR": str(folder)})


@pytest.mark.rule("HIS-4.2")
def test_a_plan_of_a_new_user_warns_of_nothing(tmp_path):
    planner = sqlite_planner(tmp_path / "nowhere")
    assert warnings_of(planner) == []
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.rule("HIS-4.2")
def test_a_missing_file_is_a_warning_and_is_made_again(tmp_path):
    planner = sqlite_planner(tmp_path)
    planner.history.record(EMPTY)
    planner.history.close()
    (tmp_path / "history.db").unlink()
    assert planner.history.empty_sessions()[0] == COUNTS
    assert "history.db is missing" in warnings_of(planner)[0]
    planner.history.record(EMPTY)
    planner.history.close()
    assert planner.history.empty_sessions() == (COUNTS, ())


@pytest.mark.rule("HIS-4.2")
@pytest.mark.parametrize("rubbish", [b"rubbish" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_corrupt_file_leaves_plans_and_says_what_to_do(tmp_path, rubbish):
    planner = sqlite_planner(tmp_path)
    (tmp_path / "history.db").write_bytes(rubbish)
    warnings = warnings_of(planner)
    with pytest.raises(HistoryError, match=r"history\.db is not a usable database; move it away"):
        planner.history.record(EMPTY)
    assert (tmp_path / "history.db").read_bytes() == rubbish
    if not rubbish.startswith(b"SQLite"):
        assert "history.db is not a usable database" in warnings[0]


@pytest.mark.rule("HIS-4.2")
@pytest.mark.parametrize("text", ["{", "[]", '{"format": 7}', '{"format": 1, "empty_sessions": 3}', "[" * 100_000])
def test_a_corrupt_snapshot_is_a_warning_and_is_written_again(tmp_path, text):
    planner = sqlite_planner(tmp_path)
    (tmp_path / FILE).write_text(text)
    assert "outcome history" in warnings_of(planner)[0]
    planner.history.record(EMPTY)
    planner.history.close()
    assert planner.history.empty_sessions() == (COUNTS, ())


@pytest.mark.rule("HIS-4.2")
def test_a_locked_file_leaves_plans_alone_and_recording_gives_up(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "WAIT_S", 0.1)
    planner = sqlite_planner(tmp_path)
    planner.history.record(EMPTY)
    with closing(sqlite3.connect(tmp_path / "history.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(HistoryError, match=r"history\.db is locked by another process"):
            planner.history.record(EMPTY)
        assert warnings_of(planner) == []
    assert planner.history.record(EMPTY).empty_sessions == {"channels-chinese-ugc": 2}
    planner.history.close()


@pytest.mark.rule("HIS-4.2")
@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_a_read_only_folder_leaves_plans_with_a_warning(locked_away):
    folder, lock = locked_away
    planner = sqlite_planner(folder)
    planner.history.record(EMPTY)
    planner.history.close()
    planner.select("q")
    lock()
    with without_privileges():
        assert any("history.db is read-only" in line for line in warnings_of(planner))
        with pytest.raises(HistoryError, match=r"history\.db is read-only"):
            planner.history.record(EMPTY)


@pytest.mark.rule("HIS-4.2")
def test_a_state_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    planner = sqlite_planner(tmp_path / "file" / "state")
    assert warnings_of(planner) == []
    with pytest.raises(HistoryError, match=r"NotADirectoryError|FileExistsError"):
        planner.history.record(EMPTY)


@pytest.mark.rule("HIS-4.5")
def test_counts_of_another_store_are_not_used(database, folder, catalog, tmp_path):
    server = Planner(settings={"history": {"store": database}}, env={"PLANNER_STATE_DIR": str(folder)})
    server.history.record(EMPTY)
    server.history.close()
    assert sqlite_planner(folder).history.empty_sessions()[0] == {}
    own = sqlite_planner(folder)
    own.history.record([{"channel": "arxiv", "results": 0}])
    own.history.close()
    assert server.history.empty_sessions() == (COUNTS, ())
    server.history.close()


@pytest.fixture
def two_machines(database, tmp_path):
    """Two state folders, one server; the first planner takes a snapshot before every plan."""
    made = [
        Planner(
            settings={"history": {"store": database, "refresh_s": refresh}},
            env={"PLANNER_STATE_DIR": str(tmp_path / name)},
        )
        for name, refresh in (("here", 0), ("there", 3600))
    ]
    yield made
    for planner in made:
        planner.history.close()


@pytest.mark.rule("HIS-4.3")
def test_what_another_machine_recorded_is_seen_once_the_snapshot_is_too_old(two_machines, tmp_path):
    here, there = two_machines
    there.history.record([{"channel": "arxiv", "results": 1}])
    here.history.record(EMPTY)
    here.history.record(EMPTY)
    assert there.history.empty_sessions()[0] == {}
    os.utime(tmp_path / "there" / FILE, (1, 1))
    assert there.history.empty_sessions() == ({"channels-chinese-ugc": 2}, ())
    there.history.record([{"channel": "zhihu", "results": 3}])
    assert here.history.empty_sessions() == ({}, ())


@pytest.mark.rule("HIS-4.2", "HIS-4.3")
def test_a_locked_server_holds_no_plan_up(two_machines, database, monkeypatch):
    import psycopg

    monkeypatch.setattr(store, "_HURRY_MS", 150)
    here, _ = two_machines
    here.history.record(EMPTY)
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE planner_yields IN ACCESS EXCLUSIVE MODE")
        counts, (warning,) = here.history.empty_sessions()
    assert counts == COUNTS
    assert warning.endswith("is locked by another process; the last snapshot is used")


@pytest.mark.rule("HIS-4.2")
def test_a_read_only_server_still_serves_plans(two_machines, database, server):
    here, _ = two_machines
    here.history.record(EMPTY)
    here.history.close()
    server.run_sql(f"ALTER DATABASE {database.rpartition('/')[2]} SET default_transaction_read_only = on")
    assert here.history.empty_sessions() == (COUNTS, ())
    with pytest.raises(HistoryError, match="is read-only"):
        here.history.record(EMPTY)


@pytest.mark.rule("HIS-4.3")
def test_a_dead_server_is_left_alone_for_a_while(folder, monkeypatch):
    planner = Planner(
        settings={"history": {"store": "postgresql://u:pw@127.0.0.1:1/x", "refresh_s": 0}},
        env={"PLANNER_STATE_DIR": str(folder)},
    )
    first = warnings_of(planner)
    assert first == [
        "outcome history: the PostgreSQL store of history.store cannot be reached; the last snapshot is used"
    ]
    monkeypatch.setattr(opening, "open_store", None)  # a second try would fail on it
    assert warnings_of(planner) == first
    monkeypatch.setattr(history_module, "_PAUSE_S", 0)
    with pytest.raises(TypeError):
        planner.select("q")


BAD_URLS = [
    f"postgresql://planner:{PASSWORD}@127.0.0.1:1/x",
    f"postgres://planner:{PASSWORD}@127.0.0.1:notaport/x",
    f"postgresql://planner:a/{PASSWORD}@b@127.0.0.1:1/x",
    f"postgresql://127.0.0.1:1/x?user=planner&password={PASSWORD}&nonsense={PASSWORD}",
    f"postgresql+psycopg://planner:{PASSWORD}@[::1/x",
    f"postgresql://{PASSWORD}",
    f"mysql://planner:{PASSWORD}@127.0.0.1/x",
    f"planner:{PASSWORD}@127.0.0.1/x",
    f"host=127.0.0.1 password={PASSWORD}",
]


@pytest.mark.rule("HIS-4.4")
@pytest.mark.parametrize("url", BAD_URLS)
def test_no_message_tells_a_secret(url, tmp_path, capfd):
    said = []
    try:
        planner = Planner(settings={"history": {"store": url}}, env={"PLANNER_STATE_DIR": str(tmp_path)})
        said += [repr(planner.settings), *warnings_of(planner)]
        planner.history.record(EMPTY)
    except (SettingsError, HistoryError):
        said.append(traceback.format_exc())
    assert len(said) in (1, 3)
    said += [*capfd.readouterr(), *(path.read_text() for path in tmp_path.rglob("*") if path.is_file())]
    assert not [text for text in said if PASSWORD in text]


@pytest.mark.rule("HIS-4.4")
def test_a_wrong_password_is_said_without_it(server, folder, catalog):
    wrong = server.url(password="wrong-" + PASSWORD)
    settings = load_settings({"history": {"store": wrong}}, {}).history
    with (
        closing(history_module.History(settings, folder, lambda: catalog)) as history,
        pytest.raises(HistoryError) as error,
    ):
        history.record(EMPTY)
    assert str(error.value).startswith("outcome history: the PostgreSQL store of history.store")
    assert PASSWORD not in "".join(traceback.format_exception(error.value))


@pytest.mark.rule("HIS-4.2")
def test_a_missing_driver_is_said(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    settings = {"history": {"store": "postgresql://127.0.0.1:1/x"}}
    planner = Planner(settings=settings, env={"PLANNER_STATE_DIR": str(folder)})
    assert "search-planner[postgres]" in warnings_of(planner)[0]


@pytest.mark.rule("HIS-1.7")
@pytest.mark.parametrize("given", [False, "off"])
def test_off_may_be_written_as_yaml_reads_it(given):
    assert load_settings({"history": {"store": given}}, {}).history.store == "off"
    assert load_settings({}, {"PLANNER_HISTORY__STORE": "off"}).history.store == "off"


@pytest.mark.rule("HIS-4.1")
def test_a_snapshot_that_cannot_be_written_is_said_after_recording(two_machines, tmp_path):
    here, _ = two_machines
    (tmp_path / "here").write_text("in the way")
    done = here.history.record(EMPTY)
    assert done.recorded == 1
    assert "planning will not see it yet" in done.warnings[0]
    assert read_snapshot(tmp_path / "here") is None
