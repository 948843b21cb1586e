import json
import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

from planner.cli.main import cli
from tests.evaluation.batch_runs import process_env, write_requests


@pytest.fixture
def run(env, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args, **options: CliRunner().invoke(cli, ["batch", *args], env=env, **options)


def test_the_summary_says_what_the_rows_rest_on(run, tmp_path, catalog):
    write_requests(tmp_path / "in.jsonl", 3)
    said = run("in.jsonl", "out.jsonl", "--workers", "1", "--json")
    summary = json.loads(said.stdout)
    assert summary["rows"] == 3
    assert summary["catalog"] == catalog.version
    assert "set" not in summary["keys"].split()
    assert said.stderr == ""


@pytest.mark.rule("EVA-2.4")
def test_bad_lines_make_the_exit_code_1_unless_allowed(run, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"query": "a"}\noops\n')
    said = run("in.jsonl", "out.jsonl", "--workers", "1", "--bad", "aside.jsonl", standalone_mode=False)
    assert (said.return_value, "1 planned, 1 refused" in said.stderr) == (1, True)
    assert json.loads((tmp_path / "aside.jsonl").read_text())["line"] == 2
    assert run("in.jsonl", "b.jsonl", "--workers", "1", "--allow-bad-lines", standalone_mode=False).return_value == 0


def test_a_pipe_carries_rows_and_nothing_else(run):
    said = run("-", "-", "--workers", "1", input='{"query": "rust", "colour": 1}\n')
    assert [json.loads(row)["id"] for row in said.stdout.splitlines()] == ["1"]
    assert "1 planned" in said.stderr
    assert "ignored: colour" in said.stderr


def test_resume_and_force_exclude_each_other(run):
    assert run("-", "-", "--resume", "--force").exit_code == 2


@pytest.mark.rule("EVA-2.9")
def test_a_pipe_cannot_go_to_a_cluster(run):
    assert "OUT" in str(run(__file__, "-", "--engine", "ray").exception)


def on_terminal(env, *arguments):
    """What the command draws on a terminal."""
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "planner.cli.main", "batch", *arguments]
    process = subprocess.Popen(command, env={**process_env(env), "TERM": "xterm"}, stderr=writer, stdout=writer)
    os.close(writer)
    seen = b""
    try:
        while piece := os.read(reader, 4096):
            seen += piece
    except OSError:  # how a pseudo-terminal says that the other side is closed
        pass
    os.close(reader)
    assert process.wait() == 0
    return seen.decode()


@pytest.mark.rule("EVA-2.11")
def test_progress_is_drawn_on_a_terminal_only(tmp_path, env):
    source = write_requests(tmp_path / "in.jsonl", 200)
    drawn = on_terminal(env, str(source), str(tmp_path / "a.jsonl"), "--workers", "1")
    assert "planned ·" in drawn
    assert "a second · left" in drawn
    piped = subprocess.run(
        [sys.executable, "-m", "planner.cli.main", "batch", source, tmp_path / "b.jsonl", "--workers", "1"],
        env=process_env(env), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (piped.stdout, piped.stderr) == ("", "200 planned, 0 refused\n")
