"""The fault table, each row against a real server, sync and async."""

import pytest

from planner.llm import libraries
from tests.recorders.fault_report import play, problems
from tests.recorders.fault_rows import CANARY, ROWS


@pytest.mark.rule("JDG-2.2", "JDG-2.3", "JDG-2.5", "JDG-1.7", "JDG-3.1")
@pytest.mark.parametrize("as_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_fault_gives_a_valid_plan_in_time(row, as_async, catalog, caplog, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    libraries.load()
    caplog.set_level("DEBUG")
    plan, seen, seconds = play(row, as_async=as_async)
    assert problems(row, plan, seen, seconds, catalog) == []
    captured = capfd.readouterr()
    written = "".join(path.read_text("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file())
    assert CANARY not in caplog.text + captured.out + captured.err + written
    assert captured.out == ""


@pytest.mark.rule("JDG-2.4")
def test_no_row_needs_more_than_six_requests():
    assert max(row.requests for row in ROWS) <= 6
