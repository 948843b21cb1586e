"""A batch on a Ray cluster: Ray Data hands shards to planners on all machines, and again after a loss."""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from typing import Any

from planner.errors import InputError
from planner.evaluation.batch import Job, Status, Summary, Watch, identity
from planner.evaluation.batch_rows import Setup, json_line
from planner.evaluation.batch_shards import ROWS, Shard, as_row, folder, inputs, plan_shard, split, write
from planner.evaluation.batch_sources import is_parquet
from planner.pipeline import Planner

RECORD = "_run.json"


@dataclass(slots=True)
class Record:
    """The record of a run in its output folder. `done`: shard -> its counts."""

    run: dict[str, str]
    today: str
    shards: int
    done: dict[int, Counter[str]] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """Of all shards so far."""
        return sum(self.done.values(), Counter())

    def save(self, out: str) -> None:
        """Write it, in one step."""
        values = {
            "run": self.run, "today": self.today, "shards": self.shards, "finished": len(self.done) == self.shards,
            "counts": self.counts, "done": self.done,
        }  # fmt: skip
        write(out, RECORD, json_line(values))


class PlanShard:
    """What a Ray worker does: it holds a planner and plans one shard after another."""

    def __init__(self, setup: Setup, out: str, form: str) -> None:
        self.planner, self.setup, self.out, self.form = setup.planner(), setup, out, form

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row that describes a shard → a row that reports on it."""
        report = plan_shard(self.planner, Shard(**row), self.setup, self.out, self.form)
        return {**report, "pid": os.getpid()}


def run_on_ray(job: Job, watch: Watch) -> Summary:
    """Plan every line into shards of the folder `job.out`, the same rows as `run_batch` makes (rule EVA-2.9).

    Every machine must have the package, and see input, output and `--catalog` under the same path or URI.
    Raises InputError.
    """
    planner = _check(job)
    paths = inputs(job.source)
    form = "parquet" if is_parquet(paths[0]) else "jsonl"
    shards = list(split(paths, ROWS))
    record = _begun(job, planner, paths, len(shards))
    setup = replace(_portable(job.setup, planner), today=date.fromisoformat(record.today))
    record.save(job.out)
    ignored: set[str] = set()
    left = [shard for shard in shards if shard.shard not in record.done]
    for report in _reports(left, (setup, job.out, form), job.workers) if left else ():
        record.done[report["shard"]] = Counter(json.loads(report["counts"]))
        ignored.update(report["ignored"])
        record.save(job.out)
        watch(Status(record.counts, len(record.done) / len(shards)))
    return Summary(record.counts, tuple(sorted(ignored)), record.run)


def _check(job: Job) -> Planner:
    for name, given in (("IN", job.source), ("OUT", job.out)):
        if given == "-":
            raise InputError(name, "-", "a path that every machine sees, with --engine ray")
    try:
        import ray.data  # noqa: F401
    except ImportError:
        raise InputError(
            "--engine", "ray, which is not installed", "local, or pip install 'search-planner[ray]'"
        ) from None
    planner = job.setup.planner()
    if planner.ladders.asks_models(job.setup.judge):
        # one limit of requests a minute cannot be kept by many machines that do not talk to each other
        raise InputError("--engine", f"ray with --judge {job.setup.judge}", "--judge heuristic, or --engine local")
    return planner


def _begun(job: Job, planner: Planner, paths: list[str], shards: int) -> Record:
    """The record of the run to go on with, or of a new one."""
    whole = identity(job, planner, _fingerprint(paths))
    system, place = folder(job.out)
    system.create_dir(place, recursive=True)
    exists = system.get_file_info(f"{place}/{RECORD}").is_file
    if job.start == "force" or not exists:
        return Record(whole, job.setup.today.isoformat(), shards)
    if job.start == "new":
        raise InputError("OUT", job.out, "--resume, to go on with the run that is there, or --force, to begin again")
    with system.open_input_stream(f"{place}/{RECORD}") as source:
        raw = json.loads(source.read())
    if raw["run"] != whole:
        differ = ", ".join(name for name in whole if raw["run"].get(name) != whole[name])
        raise InputError("--resume", differ, "the same as when the run was begun, or --force")
    done = {int(shard): Counter(counts) for shard, counts in raw["done"].items()}
    return Record(whole, raw["today"], shards, done)


def _fingerprint(paths: list[str]) -> str:
    parts = []
    for path in paths:
        system, place = folder(path)
        parts.append(f"{place.rsplit('/', 1)[-1]}:{system.get_file_info(place).size}")
    return f"sha256:{sha256(' '.join(parts).encode()).hexdigest()[:16]}"


def _portable(setup: Setup, planner: Planner) -> Setup:
    """The setup without any secret: of a key it matters only that it is set."""
    keys = {name for leaf in planner.catalog.leaves for name in leaf.auth.required}
    kept = {name: "set" for name in keys if setup.env.get(name, "").strip()}
    places = ("PLANNER_STATE_DIR", "XDG_STATE_HOME", "HOME", "APPDATA")
    return replace(setup, env=kept | {name: setup.env[name] for name in places if name in setup.env})


def _reports(shards: list[Shard], arguments: tuple[Setup, str, str], workers: int | None) -> Any:
    """Reports of the shards as they are planned, in whatever order."""
    ray = _connected()
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    rows = ray.data.from_items([as_row(shard) for shard in shards], override_num_blocks=len(shards))
    size = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    pool = ray.data.ActorPoolStrategy(size=min(size, len(shards)))
    planned = rows.map(PlanShard, fn_constructor_args=arguments, compute=pool)
    return planned.iter_rows()


def _connected() -> Any:
    """Ray on the cluster of RAY_ADDRESS, or on one of this machine's own."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if not ray.is_initialized():
        local = {} if os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
        ray.init(log_to_driver=False, logging_level="ERROR", **local)
    return ray
