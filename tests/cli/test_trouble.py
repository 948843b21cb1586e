"""What goes wrong around a command is one line and an exit code; never a traceback, never a lost file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner.paths import shipped

PLANNER = (sys.executable, "-m", "planner.cli.main")


@pytest.fixture
def run(env, tmp_path):
    def call(*args, stdin=b"", stdout=subprocess.PIPE, command=PLANNER, **extra):
        command = [*command, *args]
        full = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path.cwd()), **env, **extra}
        done = subprocess.run(
            command, input=stdin, stdout=stdout, stderr=subprocess.PIPE, env=full, cwd=tmp_path, check=False
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return done

    return call


@pytest.mark.parametrize("module", ["click", "pydantic"])
def test_an_interrupt_during_an_import_ends_quietly(run, tmp_path, module):
    (tmp_path / f"{module}.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = run("select", "x", PYTHONPATH=f"{tmp_path}{os.pathsep}{Path.cwd()}")
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"query": "a"}\n')
    return path


@pytest.mark.parametrize(
    "files",
    [
        ("q.jsonl", "q.out", "--bad", "q.jsonl"),
        ("q.jsonl", "q.jsonl"),
        ("q.jsonl", "q.out", "--bad", "q.out"),
        ("q.jsonl", "q.out", "--bad", "q.out.part"),
        ("q.jsonl", "./q.jsonl"),
        ("q.jsonl", ""),
    ],
)
def test_a_batch_never_reads_and_writes_one_file(run, queries, files):
    assert run("batch", *files, "--force").returncode == 2
    assert queries.read_text() == '{"query": "a"}\n'


@pytest.mark.parametrize(
    "args",
    [
        ("select", "--request", "deep.json"),
        ("route", "--request", "deep.json"),
        ("track", "start", "deep.json"),
        ("history", "record", "--outcomes", "deep.json"),
        ("catalog", "import", "deep.json", "--to", "made"),
    ],
)
def test_json_nested_too_deeply_is_bad_input(run, tmp_path, args):
    (tmp_path / "deep.json").write_text("[" * 200_000)
    assert run(*args).returncode == 2


def test_text_that_cannot_be_read_is_bad_input(run):
    assert run("select", "-", stdin="小红书".encode(), PYTHONIOENCODING="ascii").returncode == 2


@pytest.mark.parametrize("value", ["2024-99-99", "!!int foo"])
def test_a_value_yaml_cannot_hold_is_a_settings_error(run, tmp_path, value):
    (tmp_path / "s.yaml").write_text(f"selection: {{group_threshold: {value}}}")
    assert run("select", "x", "--settings", "s.yaml").returncode == 3


def test_weights_that_are_no_numbers_are_refused(run, tmp_path):
    (tmp_path / "s.yaml").write_text("selection: {group_weights: {domain: .nan}}")
    assert run("select", "x", "--settings", "s.yaml").returncode == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")  # noqa: PTH110
@pytest.mark.parametrize("args", [("select", "x", "--json"), ("doctor",), ("--help",)])
def test_a_full_disk_behind_standard_output_is_told(run, args):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = run(*args, stdout=full)
    assert done.returncode == 1
    assert b"No space left" in done.stderr


def test_a_closed_standard_output_is_survived(run, env):
    command = f"{sys.executable} -m planner.cli.main select x --json >&-"
    full = {"PATH": os.environ["PATH"], **env}
    done = subprocess.run(["bash", "-c", command], env=full, stderr=subprocess.PIPE, check=False)
    assert b"Traceback" not in done.stderr


def test_the_address_of_a_model_is_shown_without_what_may_be_a_key(run):
    address = "http://user:canary@127.0.0.1:1/v1?api_key=sk-canary"
    done = run("doctor", "--json", PLANNER_STANDARD_MODEL="openai/gpt-4.1", PLANNER_STANDARD_API_BASE=address)
    assert b"canary" not in done.stdout + done.stderr


@pytest.mark.parametrize("missing", ["cues", "groups", "scorer", "version", "leaves"])
def test_a_compiled_file_of_the_wrong_shape_is_rebuilt(tmp_path, missing):
    import shutil

    from planner.pipeline import Planner

    root = tmp_path / "skills"
    shutil.copytree(shipped("skills"), root)
    record = json.loads((root / "compiled.json").read_text("utf-8"))
    del record[missing]
    (root / "compiled.json").write_text(json.dumps(record), "utf-8")
    plan = Planner(catalog=root, env={"HOME": str(tmp_path)}).select("小红书有没有人用 Cursor 做编程")
    assert plan.channels[0].channel == "xiaohongshu"
    assert any("damaged" in line for line in plan.warnings)


def test_a_comparison_on_a_full_disk_leaves_the_old_report_and_names_the_file_that_grew(run, tmp_path):
    queries = tmp_path / "q.jsonl"
    queries.write_text('{"id": 1, "query": "heat pumps"}\n{"id": 2, "query": "tea"}\n', "utf-8")
    page = tmp_path / "report.html"
    page.write_text("old", "utf-8")
    limit = ["bash", "-c", 'ulimit -f 24; exec "$@"', "-", sys.executable, "-m", "planner.cli.main"]
    done = run(
        "ab", str(queries), "--arms", "heuristic,flat", "--html", str(page), command=limit, PYTHONDONTWRITEBYTECODE="1"
    )
    assert done.returncode != 0
    assert page.read_text("utf-8") == "old"
    assert str(tmp_path) in done.stderr.decode()


def test_what_is_no_regular_file_is_not_replaced(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    plan = run("plan", "how do heat pumps work", "--json").stdout
    done = run("track", "start", "-", "--state", str(tmp_path / "pipe"), stdin=plan)
    assert done.returncode != 0
    assert (tmp_path / "pipe").is_fifo()
