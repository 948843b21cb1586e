"""Batches to test with: files of many different requests, jobs, and the command in a process of its own."""

import json
import os
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

from planner.evaluation.batch import Job
from planner.evaluation.batch_rows import Setup
from planner.settings import default_settings

TODAY = date(2026, 7, 1)
SUBJECTS = (
    "小红书有没有人用 Cursor 做编程", "transformer attention survey papers", "comparar Milvus y Qdrant",
    "特斯拉 财报 分析", "best youtube videos on rust lifetimes", "知乎 上 怎么 评价 大模型", "who funds Mistral AI",
    "react hydration bug github issue",
)  # fmt: skip
ROOT = Path(__file__).parents[2]


def request_lines(count):
    """Requests, all different, some with wishes."""
    for n in range(count):
        request = {"id": f"r{n:07}", "query": f"{SUBJECTS[n % len(SUBJECTS)]} {n}"}
        if n % 5 == 0:
            request |= {
                "clarify_result": {"mode": "deep"},
                "scope": {"languages": "all", "budget": {"max_channels": 6}},
            }
        yield request


def write_requests(path, count):
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(request, ensure_ascii=False) + "\n" for request in request_lines(count))
    return path


def setup(env, fields="core", judge="heuristic"):
    return Setup(None, default_settings(), env, judge, TODAY, fields)


def job(source, out, env, fields="core", **options):
    return Job(str(source), str(out), setup(env, fields), **{"workers": 1, **options})


def unwatched(_status):
    """A watch that does not look."""


def begin(env, *arguments):
    """The command, begun in a process group of its own."""
    command = [sys.executable, "-m", "planner.cli.main", "batch", "--today", TODAY.isoformat(), *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=process_env(env), start_new_session=True, text=True, **pipes)


def run(env, *arguments):
    """The command, to its end; its exit code and stderr."""
    process = begin(env, *arguments)
    _, said = process.communicate(timeout=1800)
    return process.returncode, said


def process_env(env):
    return {**env, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}


def wait_for(condition, seconds=120):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "waited too long"
        time.sleep(0.02)


def file_names(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def size(path):
    return path.stat().st_size if path.exists() else 0
