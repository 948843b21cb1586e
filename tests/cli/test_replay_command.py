"""`planner replay`: record against a real server, play back with the server gone, check, and what can go wrong."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from planner.cli.main import cli
from planner.llm import state
from tests.catalog.folder import make
from tests.recorders.fault_rows import CANARY, OK, QUERY
from tests.recorders.faults import chat, failure, serve


@pytest.fixture
def run(env):
    def call(*args, **extra):
        state.forget()
        return CliRunner().invoke(cli, ["replay", *map(str, args)], env={**env, "OPENAI_API_KEY": CANARY, **extra})

    return call


@pytest.fixture
def record(run, tmp_path):
    """Records what a server answers to one question; the file, and what the command said."""

    def call(reply, *options, **extra):
        path = tmp_path / "made" / "one.yaml"
        with serve(reply) as server:
            settings = tmp_path / "planner.yaml"
            settings.write_text(
                f"llm: {{standard: {{model: openai/x, api_base: '{server.api_base}'}}, backoff_s: 0.01}}"
            )
            return path, run("record", path, QUERY, "--settings", settings, *options, **extra)

    return call


@pytest.fixture
def cassette(record):
    path, done = record(chat(OK))
    assert done.exit_code == 0, done.output
    return path


def edited(path, change):
    content = yaml.safe_load(path.read_text("utf-8"))
    change(content)
    path.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), "utf-8")
    return path


@pytest.mark.rule("JDG-4.4", "JDG-4.6", "JDG-3.1")
def test_a_recording_is_played_where_there_is_neither_server_nor_key(env, tmp_path):
    path = tmp_path / "one.yaml"

    def process(*args, **keys):
        own = {name: str(tmp_path) for name in ("HOME", "PLANNER_STATE_DIR")}
        command = [sys.executable, "-m", "planner.cli.main", "replay", *args]
        full = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path.cwd()), **own, **keys}
        return subprocess.run(command, capture_output=True, text=True, env=full, check=False)

    with serve(chat(OK)) as server:
        model = {"PLANNER_STANDARD_MODEL": "openai/x", "PLANNER_STANDARD_API_BASE": server.api_base}
        choices = {"PLANNER_SELECTION__GROUP_THRESHOLD": "0.7", "OPENAI_API_KEY": CANARY}
        recorded = process("record", str(path), QUERY, **{**env, **model, **choices})
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (0, "", f"{path}: 1 answers recorded\n")
    assert CANARY not in path.read_text("utf-8")
    played = process("run", str(path), PLANNER_STANDARD_MODEL="openai/another")
    assert (played.returncode, played.stdout, played.stderr) == (0, f"{path}: ok\n", "")
    checked = process("check", str(path))
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, f"{path}: ok\n", "")


@pytest.mark.rule("JDG-4.6")
def test_what_this_machine_has_learnt_is_in_no_recording(record, env):
    digest = Path(env["PLANNER_STATE_DIR"]) / "channels" / "zhihu" / "experience.md"
    digest.parent.mkdir(parents=True)
    digest.write_text(f"## Active Rules\n- life-howto: ask -- seen=3, success=3, last_verified={date.today()}\n")
    [recorded] = yaml.safe_load(record(chat(OK))[0].read_bytes())["plans"]
    lifted = {pick["channel"]: pick["factors"]["experience"] for pick in recorded["plan"]["channels"]}
    assert lifted["zhihu"] == 0.0


@pytest.mark.rule("JDG-4.3")
def test_a_miss_says_what_differs(cassette, run):
    edited(cassette, lambda content: content["plans"][0].update(query="how do heat pumps work"))
    done = run("run", cassette)
    assert done.exit_code == 1
    assert "nearest is number 1: messages[1].content: recorded" in done.stdout
    assert "record again" in done.stdout


@pytest.mark.rule("JDG-4.4")
def test_a_plan_that_differs_is_named(cassette, run):
    edited(cassette, lambda content: content["plans"][0]["plan"].update(groups=[]))
    done = run("run", cassette)
    assert (done.exit_code, done.stdout.rstrip().endswith("differs in groups")) == (1, True)


@pytest.mark.rule("JDG-4.5")
def test_a_stale_recording_is_named_with_its_reason(cassette, run, tmp_path):
    assert run("check", cassette).stdout == f"{cassette}: ok\n"
    other = make(tmp_path / "other")
    done = run("check", cassette, "--catalog", other, "--json")
    [reasons] = json.loads(done.stdout).values()
    assert (done.exit_code, len(reasons), reasons[0][:19]) == (1, 1, "the catalog changed")
    edited(cassette, lambda content: content["made_with"].update(prompt="score.v0-0"))
    assert "the prompt changed (score.v0-0 → " in run("check", cassette).stdout


@pytest.mark.rule("JDG-4.6")
def test_a_recording_knows_the_catalog_it_was_made_with(record, run, tmp_path):
    other = make(tmp_path / "other")
    reply = {"g": [], "l": [{"i": "noodle", "s": 0.9, "k": 0.1, "r": "soups"}]}
    path, done = record(chat(json.dumps(reply)), "--catalog", str(other))
    assert done.exit_code == 0, done.output
    assert (run("run", path).exit_code, run("check", path).exit_code) == (0, 0)
    (other / "router" / "SKILL.md").unlink()
    assert "no catalog here" in run("check", path).stdout


@pytest.mark.rule("JDG-4.2")
def test_an_answer_that_holds_a_key_is_not_written(record):
    path, done = record(failure(401, f"Incorrect API key provided: {CANARY}"))
    assert (type(done.exception).__name__, done.exception.exit_code) == ("KeyInCassette", 1)
    assert CANARY not in done.output + str(done.exception)
    assert not path.exists()


@pytest.mark.rule("JDG-4.1")
def test_steps_down_are_told_beside_the_recording(record, run):
    path, done = record(failure(403), "--answered-by", "a scripted refusal")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "fell back from standard:openai/x to heuristic: refused_key (HTTP 403)" in done.stderr
    assert yaml.safe_load(path.read_text("utf-8"))["answered_by"] == "a scripted refusal"
    assert run("run", path).exit_code == 0


def test_nothing_is_written_when_no_model_answers(run, tmp_path):
    done = run("record", tmp_path / "one.yaml", QUERY, OPENAI_API_KEY="")
    assert (done.exception.exit_code, "no model answered" in str(done.exception)) == (1, True)
    assert not (tmp_path / "one.yaml").exists()


@pytest.mark.parametrize(
    "text",
    ["junk", "plans: [3]\nexchanges: []", "plans: 3\nexchanges: []", "exchanges: [3]",
     "channel_keys: 3\nexchanges: []", "plans: [{query: 5, judge: 7, plan: {}}]\nexchanges: []"],
)  # fmt: skip
def test_a_file_of_another_shape_is_bad_input(run, tmp_path, text):
    path = tmp_path / "other.yaml"
    path.write_text(text)
    assert run("run", path).exception.exit_code == 2
    assert run("check", path).exit_code == 1


def test_a_missing_file_is_bad_input(run, tmp_path):
    for verb in ("run", "check"):
        assert run(verb, tmp_path / "none.yaml").exception.exit_code == 2
        assert run(verb, tmp_path).exception.exit_code == 2


def test_a_folder_is_checked_whole(cassette, run):
    (cassette.parent / "other.yaml").write_text("a: 1")
    done = run("check", cassette.parent)
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"{cassette}: ok",
        f"{cassette.parent / 'other.yaml'}: not a recording, or not a whole one",
    ]


def test_half_a_recording_is_no_recording(cassette, run):
    text = cassette.read_text("utf-8")
    cassette.write_text(text[: text.index("  response:")], "utf-8")
    assert run("check", cassette).exit_code == 1
    assert run("run", cassette).exception.exit_code == 2
