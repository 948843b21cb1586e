"""Runs of the command that are interrupted or killed, as a whole with their worker processes."""

import os
import signal
import subprocess

import pytest

from planner.evaluation.batch import run_batch
from tests.evaluation.batch_runs import begin, job, run, size, unwatched, wait_for, write_requests
from tests.recorders.faults import Reply, serve

MANY = int(os.environ.get("BATCH_ROWS", "100000"))


def children_of(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(child) for child in listed.stdout.split()]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(stat.strip()) and not stat.startswith("Z")


def interrupt(process):
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.endswith("--resume goes on\n")
    assert said.count("\n") == 1, said


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)


def stop_and_resume(tmp_path, env, source, stop, stops, rows):
    """Stop a run several times, each time some rows later; the final file."""
    out, part = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part"
    for _ in range(stops):
        before = size(part)
        process = begin(env, source, out, "--workers", "2", "--resume")
        wait_for(lambda before=before: size(part) > before + 100 * rows // (stops + 2))
        children = children_of(process.pid)
        stop(process)
        assert not out.exists()
        wait_for(lambda children=children: not any(map(alive, children)), 20)
    code, said = run(env, source, out, "--workers", "2", "--resume")
    assert code == 0, said
    return out


@pytest.mark.rule("EVA-2.5", "EVA-2.6")
@pytest.mark.parametrize("stop", [interrupt, kill])
def test_a_stopped_run_resumes_to_the_same_file_and_leaves_no_process(tmp_path, env, stop):
    source, whole = write_requests(tmp_path / "in.jsonl", 600), tmp_path / "whole.jsonl"
    run_batch(job(source, whole, env), unwatched)
    out = stop_and_resume(tmp_path, env, source, stop, stops=1, rows=600)
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.glob("*.json*")) == ["in.jsonl", "out.jsonl", "whole.jsonl"]


@pytest.mark.rule("EVA-2.5")
def test_an_interrupt_while_workers_start_is_one_line_and_can_be_resumed(tmp_path, env):
    source, whole, out = write_requests(tmp_path / "in.jsonl", 300), tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    run_batch(job(source, whole, env), unwatched)
    process = begin(env, source, out, "--workers", "3")
    wait_for(lambda: len(children_of(process.pid)) > 1)
    interrupt(process)
    code, said = run(env, source, out, "--workers", "3", "--resume")
    assert (code, out.read_bytes()) == (0, whole.read_bytes()), said


@pytest.mark.rule("EVA-2.5")
def test_an_interrupt_does_not_wait_for_a_silent_pipe(tmp_path, env):
    with serve(Reply(hang_s=60)) as server:
        settings = tmp_path / "settings.yaml"
        settings.write_text(f"llm: {{standard: {{model: openai/x, api_base: '{server.api_base}'}}, deadline_s: 60}}")
        process = begin(env, "-", tmp_path / "out.jsonl", "--judge", "standard", "--settings", settings)
        process.stdin.write('{"query": "remote work"}\n')
        process.stdin.flush()
        wait_for(lambda: server.seen)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
    assert "Traceback" not in process.communicate()[1]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, all_keys):
    """Many requests, and the file an undisturbed run makes of them."""
    folder = tmp_path_factory.mktemp("undisturbed")
    source, whole = write_requests(folder / "in.jsonl", MANY), folder / "whole.jsonl"
    code, said = run({**all_keys, "HOME": str(folder)}, source, whole, "--workers", "2")
    assert code == 0, said
    return source, whole


@pytest.mark.slow
@pytest.mark.rule("EVA-2.5")
@pytest.mark.parametrize("stop", [interrupt, kill])
def test_100_000_rows_stopped_three_times(tmp_path, env, stop, undisturbed):
    source, whole = undisturbed
    out = stop_and_resume(tmp_path, env, source, stop, stops=3, rows=MANY)
    assert out.read_bytes() == whole.read_bytes()
    assert sum(1 for _ in out.read_bytes().splitlines()) == MANY
