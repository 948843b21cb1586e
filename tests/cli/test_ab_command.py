import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from planner.cli.main import cli
from tests.evaluation.small_ab import ROWS
from tests.recorders.faults import chat, serve

ROOT = Path(__file__).parents[2]
ANSWER = {
    "g": [{"i": "channels-academic", "d": 0.9, "s": 0.9, "r": "papers"}],
    "l": [{"i": "arxiv", "s": 0.9, "k": 0.2, "r": "preprints"}],
}


@pytest.fixture
def run(env):
    return lambda *args, **options: CliRunner().invoke(cli, ["ab", *map(str, args)], env=env, **options)


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:4]), "utf-8")
    return path


def model_settings(folder, server):
    path = folder / "planner.yaml"
    entry = f"{{model: openai/scripted, api_base: '{server.api_base}'}}"
    path.write_text(f"llm: {{standard: {entry}, deadline_s: 60}}")
    return path


@pytest.mark.rule("EVA-1.15")
def test_the_table_shows_pairs_cost_and_promises_and_no_bar_in_a_pipe(run, queries):
    done = run(queries, "--arms", "heuristic,flat")
    assert done.exit_code == 0
    for part in ("Against labels", "Agreement of heuristic and flat", "by language", "all kept, 100 %", "are too few"):
        assert part in done.stdout
    assert done.stderr == ""


@pytest.mark.rule("EVA-1.7")
def test_bad_lines_decide_the_exit_code(run, queries):
    with queries.open("a") as file:
        file.write("{oops\n")
    done = run(queries, "--arms", "heuristic,flat", "--json")
    assert done.exit_code == 1
    assert "line 5 was skipped: not JSON" in done.stderr
    assert [bad["line"] for bad in json.loads(done.stdout)["about"]["bad_lines"]] == [5]
    assert run(queries, "--arms", "heuristic,flat", "--allow-bad-lines").exit_code == 0


@pytest.mark.rule("EVA-1.12")
def test_the_page_and_the_json_are_of_one_run(run, queries, tmp_path):
    done = run(queries, "--arms", "heuristic,flat", "--json", "--html", tmp_path / "report.html")
    row = json.loads(done.stdout)["pairs"][0]["labels"]["ndcg"]
    assert f'<data value="{row["a"]!r}" data-at="/pairs/0/labels/ndcg/a">' in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("missing.jsonl",), "QUERIES"),
        (("-",), "QUERIES"),
        (("-", "--record", "a", "--replay", "b"), "--replay"),
        (("-", "--html", "no/such/folder.html"), "--html"),
    ],
)
def test_what_cannot_be_run_is_refused_by_field(run, arguments, field):
    refused = run(*arguments, input="").exception
    assert (refused.field, refused.exit_code) == (field, 2)


@pytest.mark.rule("EVA-1.8")
def test_a_finished_run_resumes_to_its_report_at_once(run, queries):
    first = json.loads(run(queries, "--arms", "heuristic,flat", "--json").stdout)
    again = run(queries, "--arms", "heuristic,flat", "--json", "--resume")
    assert json.loads(again.stdout) == first
    assert "4 of 4 queries are finished" in again.stderr
    other = run(queries, "--arms", "flat,heuristic", "--resume")
    assert "nothing to resume" in other.stderr


@pytest.mark.rule("EVA-1.11")
def test_a_recorded_comparison_is_repeated_without_keys_and_without_the_model(run, queries, tmp_path, all_keys):
    tape, arms = tmp_path / "tape.yaml", ("--arms", "standard,heuristic", "--json")
    with serve(chat(json.dumps(ANSWER))) as server:
        settings = model_settings(tmp_path, server)
        live = run(queries, *arms, "--settings", settings, "--record", tape, "--answered-by", "a scripted server")
        assert len(server.seen) == 4
    first = json.loads(live.stdout)
    assert first["arms"]["standard"]["cost"]["answered"] == {"openai/scripted": 4}
    assert first["arms"]["standard"]["cost"]["tokens_in"] == 3600
    bare = CliRunner(env=dict.fromkeys(all_keys)).invoke(cli, ["ab", str(queries), *arms, "--replay", str(tape)])
    second = json.loads(bare.stdout)
    assert second["about"]["answers"]["answered_by"] == "a scripted server"
    assert second["pairs"][0]["labels"] == first["pairs"][0]["labels"]
    assert second["pairs"][0]["most_different"] == first["pairs"][0]["most_different"]
    said = run(queries, "--arms", "standard,heuristic", "--replay", tape).stdout
    assert "by a scripted server" in said


@pytest.mark.rule("EVA-1.11")
def test_the_shipped_example_replays_a_real_model_without_keys(all_keys, tmp_path):
    bare = CliRunner(env={**dict.fromkeys(all_keys), "HOME": str(tmp_path)})
    example = ("ab", ROOT / "tests/data/ab-queries.jsonl", "--replay", ROOT / "cassettes/smollm2/ab-example.yaml")
    report = json.loads(bare.invoke(cli, [*map(str, example), "--json"]).stdout)
    assert report["arms"]["standard"]["cost"]["answered"] == {"openai/smollm2-135m-instruct": 7}
    assert report["about"]["answers"]["answered_by"].startswith("SmolLM2-135M-Instruct")
    assert report["pairs"][0]["labels"]["ndcg"]["n"] == 7
    factors = [change["factors"] for row in report["pairs"][0]["most_different"] for change in row["changes"]]
    assert any("scenario" in gaps for gaps in factors)


@pytest.mark.slow
@pytest.mark.rule("EVA-1.8")
def test_a_killed_run_asks_no_model_twice_for_a_finished_query(env, tmp_path):
    queries = tmp_path / "queries.jsonl"
    queries.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:12]), "utf-8")
    with serve(chat(json.dumps(ANSWER))) as server:
        settings = model_settings(tmp_path, server)
        command = [sys.executable, "-m", "planner.cli.main", "ab", str(queries), "--settings", str(settings)]
        first = subprocess.Popen(
            command, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while len(server.seen) < 5 and first.poll() is None:
            time.sleep(0.002)
        first.send_signal(signal.SIGKILL)
        assert first.wait() == -signal.SIGKILL
        journal = next((tmp_path / "planner_state_dir" / "ab").glob("*.jsonl"))
        whole = journal.read_bytes().rpartition(b"\n")[0].split(b"\n")[1:]
        finished = [json.loads(row)["id"] for row in whole]
        assert 0 < len(finished) < 12
        second = subprocess.run(
            [*command, "--resume", "--json"], env={**os.environ, **env}, capture_output=True, check=True
        )
        asked = [json.dumps(request.json["messages"][-1]) for request in server.seen]
    assert json.loads(second.stdout)["arms"]["standard"]["cost"]["answered"] == {"openai/scripted": 12}
    texts = {row["id"]: row["query"] for row in ROWS}
    for query in finished:
        assert sum(texts[query] in body for body in asked) == 1, query
    print(f"killed after {len(finished)} of 12 queries; {len(asked)} requests in all")


@pytest.mark.slow
@pytest.mark.rule("EVA-1.8", "EVA-1.11")
def test_a_killed_recording_goes_on_and_is_whole(env, tmp_path):
    queries, tape = tmp_path / "queries.jsonl", tmp_path / "tape.yaml"
    queries.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:12]), "utf-8")
    command = [sys.executable, "-m", "planner.cli.main", "ab", str(queries)]
    with serve(chat(json.dumps(ANSWER))) as server:
        recording = [*command, "--settings", str(model_settings(tmp_path, server)), "--record", str(tape)]
        killed = subprocess.Popen(recording, env={**os.environ, **env}, stdout=subprocess.DEVNULL)
        while len(server.seen) < 6 and killed.poll() is None:
            time.sleep(0.002)
        killed.send_signal(signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL
        assert not tape.exists()
        subprocess.run([*recording, "--resume"], env={**os.environ, **env}, capture_output=True, check=True)
        assert len(server.seen) <= 14
    again = [*command, "--replay", str(tape), "--json"]
    report = json.loads(subprocess.run(again, env={**os.environ, **env}, capture_output=True, check=True).stdout)
    assert report["arms"]["standard"]["cost"]["answered"] == {"openai/scripted": 12}


@pytest.mark.rule("EVA-1.15")
@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a Unix thing")
def test_a_terminal_sees_a_bar_with_the_count_of_bad_lines(env, queries):
    with queries.open("a") as file:
        file.write("{oops\n")
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "planner.cli.main", "ab", str(queries), "--arms", "heuristic,flat"]
    started = subprocess.Popen(
        command, env={**os.environ, **env, "COLUMNS": "100"}, stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # how Linux says that the other end was closed
        while part := os.read(ours, 65_536):
            seen += part
    os.close(ours)
    assert started.wait() == 1
    assert "bad lines skipped: 1" in seen.decode()
    assert "4/4" in seen.decode()
