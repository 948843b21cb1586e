"""A batch on one screen: lines → chunks → plans on cores, or by models → rows in order, kept as they come."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from planner.errors import InputError
from planner.evaluation.batch_asking import plan_asking
from planner.evaluation.batch_output import Journal, Output, opened
from planner.evaluation.batch_rows import Done, Setup
from planner.evaluation.batch_sources import Place, arrow, check_source, fingerprint, is_parquet, read_chunks, size_of
from planner.evaluation.batch_workers import ROWS, Add, plan_here, plan_on_cores
from planner.pipeline import Planner

SAVE_S = 1.0  # between entries of the journal; plans that cost nothing are made again


@dataclass(frozen=True, slots=True)
class Job:
    """What to plan and how. `bad`: the side file (None: beside the output). `start`: "new", "force" or "resume".

    `workers`: processes for plans that ask no model (None: one a core). Where models are asked, `concurrency`: plans at
    once, and `per_minute`: requests sent a minute (None: no limit).
    """

    source: str
    out: str
    setup: Setup
    bad: str | None = None
    start: str = "new"
    workers: int | None = None
    concurrency: int = 8
    per_minute: float | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """How far a batch is. `share` of the input in 0..1, None for a pipe."""

    counts: Counter[str]
    share: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """What a batch came to: counts as in `Done`, over a whole resumed run; fields ignored; what the rows rest on."""

    counts: Counter[str]
    ignored: tuple[str, ...]
    run: dict[str, str]
    note: str | None = None

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "rows": self.counts["rows"], "bad": self.counts["bad"], **dict(sorted(self.counts.items())),
            "ignored_fields": list(self.ignored), **self.run,
        }  # fmt: skip


Watch = Callable[[Status], None]


def run_batch(job: Job, watch: Watch) -> Summary:
    """Plan every line of the input, in its order (rules EVA-2.1 to EVA-2.8). Raises InputError, PlannerError."""
    check(job)
    planner = job.setup.planner()
    every_s = 0.0 if planner.ladders.asks_models(job.setup.judge) else SAVE_S
    journal = Journal(identity(job, planner, fingerprint(job.source)), job.setup.today)
    ignored: set[str] = set()
    with opened(job.out, job.bad, journal, every_s, job.start) as output:
        if not output.journal.finished:
            add = _watched(output, size_of(job.source), ignored, watch)
            # a resumed batch goes on with the day on which it was begun
            setup = replace(job.setup, today=output.journal.today)
            _plan(replace(job, setup=setup), planner, output.journal.place, add)
            output.finish()
        note = planner.ladders.of(job.setup.judge).note
        return Summary(output.journal.counts, tuple(sorted(ignored)), dict(output.journal.run), note)


def check(job: Job) -> None:
    """Raises InputError for what could be known before the first plan."""
    check_source(job.source)
    if job.out == "-" and job.start == "resume":
        raise InputError("--resume", "-", "an output file")
    if job.out != "-" and is_parquet(job.out):
        arrow("parquet")
    for name in ("workers", "concurrency"):
        if (given := getattr(job, name)) is not None and given < 1:
            raise InputError(f"--{name}", given, "at least 1")
    if job.per_minute is not None and job.per_minute <= 0:
        raise InputError("--per-minute", job.per_minute, "more than 0")


def _plan(job: Job, planner: Planner, place: Place, add: Add) -> None:
    if planner.ladders.asks_models(job.setup.judge):
        chunks = read_chunks(job.source, place, 1)
        plan_asking(chunks, planner, job.setup, add, job.concurrency, job.per_minute)
        return
    chunks, workers = read_chunks(job.source, place, ROWS), job.workers or cores()
    if workers == 1:
        plan_here(chunks, planner, job.setup, add)
    else:
        plan_on_cores(chunks, job.setup, add, workers)


def _watched(output: Output, size: int | None, ignored: set[str], watch: Watch) -> Add:
    def add(done: Done, place: Place) -> None:
        output.add(done, place)
        ignored.update(done.ignored)
        watch(Status(output.journal.counts, min(1.0, place.offset / size) if size else None))

    return add


def identity(job: Job, planner: Planner, source: str) -> dict[str, str]:
    """What the rows rest on; a run is resumed only with the same. Names of keys that are set, never a value."""
    from importlib.metadata import version

    chosen = planner.settings.model_dump_json(exclude={"origin", "notes"})
    required = {name for leaf in planner.catalog.leaves for name in leaf.auth.required}
    keys = " ".join(sorted(name for name in required if planner.env.get(name, "").strip()))
    return {
        "input": source,
        "fields": job.setup.fields,
        "judge": job.setup.judge,
        "planner": version("search-planner"),
        "catalog": planner.catalog.version,
        "settings": sha256(chosen.encode()).hexdigest()[:16],
        "keys": keys or "none",
    }


def cores() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
