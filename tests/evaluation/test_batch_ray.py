"""The Ray engine on a real local cluster of its own, beside the local engine."""

import json
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

    def run(source, kills):
        command = [sys.executable, script, source, tmp_path / "shards", str(kills)]
        quiet = {**process_env(env), "RAY_DEDUP_LOGS": "0"}
        ended = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False, timeout=600)
        assert ended.returncode == 0, ended.stderr[-3000:]
        return json.loads(ended.stdout.splitlines()[-1])

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
