"""What a heuristic plan takes, warm and cold: `pytest -n 0 -s -m bench tests/bench/test_plan_speed.py`.

Cold start is compared, whole process against whole process, with a baseline that imports pydantic and YAML.
"""

import os
import statistics
import subprocess
import sys
import time

import pytest

from planner.catalog.loader import load_catalog
from planner.paths import shipped

pytestmark = pytest.mark.bench
SHORT = [
    "小红书有没有人用 Cursor 做编程",
    "best budget mirrorless camera 2025",
    "how do I fix a pandas merge that duplicates rows",
    "transformer 长上下文 综述 论文",
]
LONG = (
    "Compare how cities price kerbside parking, who pays, what it did to traffic and shops; 并比较中国城市的做法。" * 60
)[:4000]
BASELINE = "from pydantic import BaseModel; import yaml"


def milliseconds(call, times):
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        spent.append((time.perf_counter() - began) * 1000)
    return statistics.median(spent)


def test_a_warm_plan(benchmark, planner):
    planner.select(SHORT[0])
    benchmark(lambda: [planner.select(query) for query in SHORT])


def test_a_long_question_beside_short_ones(planner):
    short = statistics.mean(milliseconds(lambda q=q: planner.select(q), 200) for q in SHORT)
    long = milliseconds(lambda: planner.select(LONG), 50)
    print(f"\nwarm p50 {short:.2f} ms; a question of 4,000 characters {long:.2f} ms, {long / short:.1f} times that")


def test_loading_the_compiled_catalog():
    print(f"\nloading the shipped catalog: {milliseconds(lambda: load_catalog(shipped('skills')), 20):.1f} ms")


def test_a_cold_start_beside_pydantic_and_yaml(env):
    full = {"PATH": os.environ["PATH"], **env}
    plan = [sys.executable, "-m", "planner.cli.main", "select", SHORT[1], "--json", "--judge", "heuristic"]

    def run(command):
        subprocess.run(command, env=full, capture_output=True, check=True)

    pairs = [
        (milliseconds(lambda: run(plan), 1), milliseconds(lambda: run([sys.executable, "-c", BASELINE]), 1))
        for _ in range(15)
    ]
    ratio = statistics.median(ours / baseline for ours, baseline in pairs)
    print(f"\ncold plan {statistics.median(p[0] for p in pairs):.0f} ms, {ratio:.2f} times the baseline")


def test_the_memory_of_a_plan(env):
    code = (
        "from planner import channel_selection as s; s(query='best laptop'); "
        "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"
    )
    full = {"PATH": os.environ["PATH"], **env}
    done = subprocess.run([sys.executable, "-c", code], env=full, capture_output=True, text=True, check=True)
    print(f"\npeak memory of a plan: {int(done.stdout) / 1024:.0f} MB")
