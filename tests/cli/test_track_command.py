import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from planner.cli.main import cli
from planner.errors import InputError

REQUEST = {
    "task_type": "entity_analysis", "primary_subject": "某公司", "goal_mode": "analyze",
    "freshness_required": "medium", "need_counter_evidence": False, "available_sources": ["web", "graph", "vector"],
}  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PLANNER_STATE_DIR", str(tmp_path / "state"))

    def invoke(*args, **options):
        result = CliRunner().invoke(cli, list(args), **options)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return json.loads(result.stdout) if "--json" in args else result.stdout

    return invoke


@pytest.fixture
def started(run):
    plan = run("route", "--request", "-", "--json", input=json.dumps(REQUEST))
    directive = run("track", "start", "-", "--json", input=json.dumps(plan))
    assert (directive["action"], directive["source"], directive["engine"]) == ("search", "graph", None)
    return run


@pytest.mark.rule("RTE-8.1", "RTE-8.12")
def test_a_session_over_the_state_file(started):
    run = started
    assert (
        run("track", "record", "--source", "graph", "--result", "A:u1", "--result", "B", "--json")["source"] == "graph"
    )
    run("track", "record", "--source", "graph", "--result", "B", "--progress", "entity_nodes=4")
    assert run("track", "record", "--source", "web", "--http-status", "432", "--json")["engine"] == "bailian_web_search"
    assert (
        run("track", "record", "--source", "web", "--result", "S", "--query", "某公司", "--json")["source"] == "vector"
    )
    assert run("track", "record", "--source", "vector", "--failed", "db_down", "--json")["action"] == "end_round"
    assert run("track", "round", "--progress", "relation_types=1", "--json")["round"] == 2
    state = run("track", "status", "--json")
    assert state["progress"]["entity_nodes"] == 4
    assert [entry["reason"] for entry in state["degradation_log"]] == ["quota_exhausted", "db_down"]
    assert len(state["events"]) == 6


def test_the_next_step_is_said_in_words(started):
    said = started("track", "record", "--source", "graph", "--result", "A")
    assert said.startswith("Round 1: search graph")
    assert "某公司" in said
    assert "graph: 1 of 5 searches" in started("track", "status")


@pytest.mark.rule("RTE-8.10")
@pytest.mark.parametrize(
    ("args", "field"),
    [
        (["record", "--source", "email"], "--source"),
        (["record", "--source", "graph", "--engine", "tavily_search"], "--engine"),
        (["record", "--source", "graph", "--result", "D"], "--result"),
        (["record", "--source", "graph", "--progress", "nodes=3"], "--progress"),
        (["record", "--source", "graph", "--progress", "entity_nodes=x"], "--progress entity_nodes"),
        (["round"], "event"),
        (["start", "missing.json"], "PLAN"),
    ],
)
def test_bad_input_names_the_field_and_writes_nothing(args, field, started, tmp_path):
    state = tmp_path / "state" / "track.json"
    before = state.read_bytes()
    with pytest.raises(InputError) as error:
        started("track", *args)
    assert error.value.field == field
    assert state.read_bytes() == before


def test_a_second_plan_needs_replace(started):
    plan = started("route", "--request", "-", "--json", input=json.dumps(REQUEST))
    with pytest.raises(InputError, match="--replace"):
        started("track", "start", "-", input=json.dumps(plan))
    started("track", "start", "-", "--replace", input=json.dumps(plan))
    assert started("track", "status", "--json")["events"] == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that even root cannot write to")
@pytest.mark.parametrize("state", ["/proc/x", "/proc/x/track.json"])
def test_a_folder_that_cannot_be_written_is_told_at_once(state, started):
    plan = started("route", "--request", "-", "--json", input=json.dumps(REQUEST))
    began = time.monotonic()
    with pytest.raises(InputError, match="can be written") as error:
        started("track", "start", "-", "--state", state, input=json.dumps(plan))
    assert error.value.field == "--state"
    assert time.monotonic() - began < 5


def test_without_a_state_file_there_is_nothing_to_track(run):
    with pytest.raises(InputError, match="state"):
        run("track", "status")
