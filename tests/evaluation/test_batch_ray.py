"""The Ray engine on a real local cluster of its own, beside the local engine."""

import json
import signal
import subprocess
import sys

import pytest

from planner.evaluation.batch import run_batch
from tests.evaluation.batch_runs import ROOT, job, process_env, unwatched, write_requests

pytestmark = pytest.mark.slow
ROWS = 1_000


@pytest.fixture
def on_ray(tmp_path, env):
    pytest.importorskip("ray", reason="ray is not installed: pip install 'search-planner[ray]'", exc_type=ImportError)
    script = ROOT / "tests/evaluation/batch_ray_run.py"

    def run(source, kills, dies=0):
        command = [sys.executable, script, source, tmp_path / "shards", str(kills), str(dies)]
        quiet = {**process_env(env), "RAY_DEDUP_LOGS": "0"}
        ended = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False, timeout=600)
        assert ended.returncode == (-signal.SIGKILL if dies else 0), ended.stderr[-3000:]
        return None if dies else json.loads(ended.stdout.splitlines()[-1])

    return run


@pytest.fixture
def requests(tmp_path):
    source = write_requests(tmp_path / "in.jsonl", ROWS)
    with source.open("a") as file:
        file.write("oops\n")
    return source


def rows_of(folder):
    return b"".join(part.read_bytes() for part in sorted(folder.glob("part-*.jsonl")))


@pytest.mark.rule("EVA-2.9", "EVA-2.10")
@pytest.mark.parametrize("kills", [0, 2])
def test_rows_are_those_of_the_local_engine_also_when_workers_die(tmp_path, env, on_ray, requests, kills):
    run_batch(job(requests, tmp_path / "local.jsonl", env), unwatched)
    assert on_ray(requests, kills) == {"killed": kills, "rows": ROWS, "bad": 1}
    assert rows_of(tmp_path / "shards") == (tmp_path / "local.jsonl").read_bytes()
    assert len(list((tmp_path / "shards").glob("part-*"))) == 21
    assert (tmp_path / "shards/bad-000020.jsonl").read_bytes() == (tmp_path / "local.jsonl.bad.jsonl").read_bytes()


@pytest.mark.rule("EVA-2.5", "EVA-2.10")
def test_a_run_whose_driver_was_killed_goes_on_with_the_shards_that_are_left(tmp_path, env, on_ray, requests):
    run_batch(job(requests, tmp_path / "local.jsonl", env), unwatched)
    on_ray(requests, 0, dies=8)
    done = json.loads((tmp_path / "shards/_run.json").read_text())["done"]
    assert 8 <= len(done) < 21
    before = {shard: (tmp_path / f"shards/part-{int(shard):06}.jsonl").stat().st_mtime_ns for shard in done}
    assert on_ray(requests, 0)["rows"] == ROWS
    assert rows_of(tmp_path / "shards") == (tmp_path / "local.jsonl").read_bytes()
    after = {shard: (tmp_path / f"shards/part-{int(shard):06}.jsonl").stat().st_mtime_ns for shard in done}
    assert after == before
