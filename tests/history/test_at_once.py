"""Many processes at once, and processes that are killed: no acknowledged event is lost, on either store."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from planner.history.snapshot import read_snapshot

from .workers import record_many

ROOT = Path(__file__).parents[2]


def run_at_once(url, folder, processes, each):
    context = multiprocessing.get_context("spawn")
    started = time.perf_counter()
    running = [context.Process(target=record_many, args=(url, folder, f"p{n}", each)) for n in range(processes)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * processes
    return time.perf_counter() - started


def check_all_there(history, folder, processes, each):
    seen = Counter(event["session"] for event in history.events())
    assert seen == Counter(f"p{p}-{n // 5}-{n % 5}" for p in range(processes) for n in range(each))
    store = history._opened()
    assert read_snapshot(folder).empty_sessions == store.empty_sessions()


@pytest.mark.rule("HIS-1.3", "HIS-4.1")
def test_processes_at_once_lose_nothing(url, folder, history):
    run_at_once(url, folder, 3, 40)
    check_all_there(history, folder, 3, 40)


@pytest.mark.slow
@pytest.mark.rule("HIS-1.3", "HIS-4.1")
def test_8_processes_at_once_lose_none_of_10000_events(url, folder, history, record_property):
    took = run_at_once(url, folder, 8, 1250)
    check_all_there(history, folder, 8, 1250)
    record_property("events_per_second", round(10_000 / took))
    print(f"\n10,000 events by 8 processes in {took:.1f} s")


def kill_after(url, folder, name, events, pause_s):
    """Kill a recording process after some events and a little while; the sessions it acknowledged."""
    command = [sys.executable, "-m", "tests.history.workers", url or "", str(folder), name]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        acknowledged = [process.stdout.readline().strip() for _ in range(events)]
        time.sleep(pause_s)
        process.send_signal(signal.SIGKILL)
        acknowledged += [line.strip() for line in process.stdout if line.endswith("\n")]
    return acknowledged


def check_after_kills(history, folder, acknowledged):
    kept = Counter(event["session"] for event in history.events())
    assert set(acknowledged) <= set(kept)
    assert set(kept.values()) == {2}  # a report is there whole or not at all
    assert read_snapshot(folder).problem is None
    history.record([{"channel": "arxiv", "results": 1}])
    assert read_snapshot(folder).empty_sessions == {"channels-chinese-ugc": len(kept)}


@pytest.mark.rule("HIS-1.2")
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a POSIX signal")
def test_a_killed_process_loses_nothing_that_was_acknowledged(url, folder, history):
    check_after_kills(history, folder, kill_after(url, folder, "k", 5, 0.011))


@pytest.mark.slow
@pytest.mark.rule("HIS-1.2")
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a POSIX signal")
def test_processes_killed_again_and_again_lose_nothing_that_was_acknowledged(url, folder, history):
    acknowledged = []
    for n in range(12):
        acknowledged += kill_after(url, folder, f"k{n}", 3 + n, n * 0.0017)
    check_after_kills(history, folder, acknowledged)
