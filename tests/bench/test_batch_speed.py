"""Batches at scale, on this machine: plans a second, memory, what a second worker adds, beside a plain loop.

Figures are printed: pytest -n 0 -s -m bench tests/bench/test_batch_speed.py. BATCH_ROWS makes long runs shorter.
"""

import json
import os
import resource
import time
from pathlib import Path

import pytest

from planner.evaluation.batch_rows import core_row, json_line
from planner.pipeline import Planner
from tests.evaluation.batch_runs import TODAY, begin, request_lines, run, write_requests

MILLION = int(os.environ.get("BATCH_ROWS", "1000000"))
HUNDRED_THOUSAND = min(100_000, MILLION)
BASELINE = 5_000


def plain_loop(env, rows):
    """What somebody would write without a batch: read, plan, write. Plans a second, loading left out."""
    planner = Planner(env=env)
    planner.select("warm")
    began = time.perf_counter()
    for request in request_lines(rows):
        name = request.pop("id")
        json_line(core_row(name, planner.select(request, judge="heuristic", today=TODAY)))
    return rows / (time.perf_counter() - began)


def children_cpu_s():
    """Processor seconds of all ended children and theirs; they say something on a busy machine too."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rows_so_far(out):
    try:
        return json.loads(out.with_name(f"{out.name}.journal").read_text())["counts"].get("rows", 0)
    except (OSError, ValueError):
        return 0


def resident_mb(pid):
    """Resident memory of a process and of its children, in MB, the largest first."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        except OSError:
            continue
        if "VmRSS" in fields and str(pid) in (fields["Pid"].strip(), fields["PPid"].strip()):
            found.append(int(fields["VmRSS"].split()[0]) / 1024)
    return sorted(found, reverse=True)


def watched(process, out):
    """Rows and memory of all its processes, every second while it runs."""
    samples = []
    while process.poll() is None:
        if memory := resident_mb(process.pid):
            samples.append((rows_so_far(out), sum(memory)))
        time.sleep(1)
    return samples


@pytest.mark.bench
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="memory is read from /proc")
def test_a_million_plans_in_flat_memory(tmp_path, env):
    source, out = write_requests(tmp_path / "in.jsonl", MILLION), tmp_path / "out.jsonl"
    baseline = plain_loop(env, min(BASELINE, MILLION))
    began = time.perf_counter()
    process = begin(env, source, out)
    samples = watched(process, out)
    _, said = process.communicate()
    assert process.returncode == 0, said
    took = time.perf_counter() - began
    with out.open("rb") as file:
        lengths = [len(row) for row in file]
    early = max(mb for rows, mb in samples if rows <= HUNDRED_THOUSAND)
    late = max((mb for rows, mb in samples if rows > HUNDRED_THOUSAND), default=early)
    print(
        f"\n{MILLION:,} plans in {took:,.0f} s: {MILLION / took:,.0f} a second; a plain loop: {baseline:,.0f} a second"
        f"\nmemory of all processes: at most {early:,.0f} MB up to {HUNDRED_THOUSAND:,} rows, {late:,.0f} MB after"
        f"\nlongest row: {max(lengths)} bytes; load average {os.getloadavg()[0]:.1f}"
    )
    assert len(lengths) == MILLION
    assert max(lengths) <= 400
    assert late <= early * 1.1


@pytest.mark.bench
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor")
def test_two_workers_beside_one_and_a_plain_loop(tmp_path, env):
    source = write_requests(tmp_path / "in.jsonl", HUNDRED_THOUSAND)
    rates, cpu = {"a plain loop": plain_loop(env, min(BASELINE, HUNDRED_THOUSAND))}, {}
    for workers in (1, 2):
        began, cpu_before = time.perf_counter(), children_cpu_s()
        code, said = run(env, source, tmp_path / f"{workers}.jsonl", "--workers", workers)
        assert code == 0, said
        rates[f"{workers} workers"] = HUNDRED_THOUSAND / (time.perf_counter() - began)
        cpu[workers] = children_cpu_s() - cpu_before
    gain = rates["2 workers"] / rates["1 workers"]
    print("\n" + "; ".join(f"{name}: {rate:,.0f} plans a second" for name, rate in rates.items()))
    print("; ".join(f"{workers} workers: {spent:,.1f} s of processor time" for workers, spent in cpu.items()))
    print(f"two workers make {gain:.2f} times the plans of one; load average {os.getloadavg()[0]:.1f}")
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
