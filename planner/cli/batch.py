"""`planner batch`: plan a file of requests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from planner.cli.common import FieldCommand, catalog_option, json_option, note, print_json, settings_option
from planner.errors import InputError
from planner.evaluation.batch import Job, Status, Summary, Watch, run_batch
from planner.evaluation.batch_rows import FIELDS, Setup
from planner.judges.rungs import JUDGES
from planner.settings import load_settings

if TYPE_CHECKING:
    from rich.progress import Progress


@click.command(cls=FieldCommand)
@click.argument("source", metavar="IN")
@click.argument("out", metavar="OUT")
@click.option("--fields", type=click.Choice(FIELDS), default="core", help="Rows of at most 400 bytes, or whole plans.")
@click.option("--judge", type=click.Choice(JUDGES), default="heuristic", help="Who judges (heuristic).")
@click.option("--bad", metavar="FILE", help="Where refused lines go (OUT.bad.jsonl).")
@click.option("--allow-bad-lines", is_flag=True, help="Exit with 0 even when lines were refused.")
@click.option("--resume", is_flag=True, help="Go on with an unfinished run.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@click.option("--workers", type=int, metavar="N", help="Processes for plans that ask no model (one a core).")
@click.option("--concurrency", type=int, default=8, metavar="N", help="Plans at once where models are asked (8).")
@click.option("--per-minute", type=float, metavar="N", help="Requests sent to models a minute, on average.")
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", help="This machine, or a Ray cluster.")
@click.option("--today", type=click.DateTime(["%Y-%m-%d"]), help="The date for the whole batch (today).")
@settings_option
@catalog_option
@json_option
def command(
    source: str, out: str, as_json: bool, allow_bad_lines: bool, engine: str, workers: int | None, **given: Any
) -> int:
    """Plan every request of IN (JSON Lines or .parquet; - is a pipe) into OUT, in the same order.

    A request is {"query", "id"?, "clarify_result"?, "scope"?, "explicit_channels"?}. With --engine ray, IN may be a
    folder of files and OUT is a folder that every machine sees.
    """
    _refuse_same_files(source, out, given["bad"])
    job = Job(source, out, _setup(given), given["bad"], _start(given), workers,
              given["concurrency"], given["per_minute"])  # fmt: skip
    try:
        with _progress() as watch:
            summary = _engine(engine)(job, watch)
    except KeyboardInterrupt:
        if out != "-":
            note(f"planner: interrupted; what was planned is kept beside {out}, --resume goes on")
        raise
    _report(summary, job, as_json)
    return int(bool(summary.counts["bad"]) and not allow_bad_lines)


def _refuse_same_files(source: str, out: str, bad: str | None) -> None:
    """Raises InputError where one file would be read and written, or written twice (rule EVA-2.5)."""
    taken = {} if source == "-" else {os.path.realpath(source): "IN"}
    if not out:
        raise InputError("OUT", out, "a file, or -")
    own = [] if out == "-" else [out, *(f"{out}.{end}" for end in ("part", "journal", "lock", "bad.part"))]
    for name, paths in (("OUT", own), ("--bad", [bad, f"{bad}.part"] if bad else [])):
        for path in paths:
            if (other := taken.get(os.path.realpath(path))) is not None:
                raise InputError(name, path, f"another file than {other}")
        taken |= {os.path.realpath(path): name for path in paths}


def _setup(given: dict[str, Any]) -> Setup:
    env = dict(os.environ)
    today = given["today"].date() if given["today"] else date.today()
    settings = load_settings(given["settings"], env)
    return Setup(given["catalog"], settings, env, given["judge"], today, given["fields"])


def _start(given: dict[str, Any]) -> str:
    if given["resume"] and given["force"]:
        raise click.UsageError("--resume and --force exclude each other")
    return "resume" if given["resume"] else "force" if given["force"] else "new"


def _engine(name: str) -> Any:
    if name == "local":
        return run_batch
    from planner.evaluation.batch_ray import run_on_ray

    return run_on_ray


def _report(summary: Summary, job: Job, as_json: bool) -> None:
    if as_json and job.out != "-":
        print_json(summary.as_json())
        return
    counts = summary.counts
    parts = [f"{counts['rows']:,} planned", f"{counts['bad']:,} refused"]
    if counts["degraded"]:
        parts.append(f"{counts['degraded']:,} degraded")
    if counts["tokens_in"]:
        parts.append(f"{counts['tokens_in']:,} tokens in, {counts['tokens_out']:,} out, ${counts['cost_usd']:.4f}")
    note(", ".join(parts))
    if summary.ignored:
        note(f"fields that planning does not know were ignored: {', '.join(summary.ignored)}")
    if summary.note:
        note(summary.note)


@contextmanager
def _progress() -> Iterator[Watch]:
    """Plans, rate and time left on a terminal; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _status: None
        return
    with _bar() as bar:
        task = bar.add_task("", total=1.0, rate=0.0, planned=0)
        before: list[int] = []

        def watch(status: Status) -> None:
            planned = status.counts["rows"] + status.counts["bad"]
            before[1:] = []
            before.append(planned)
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = (planned - before[0]) / elapsed if elapsed else 0.0
            total = None if status.share is None else 1.0
            bar.update(task, total=total, completed=status.share or 0.0, rate=rate, planned=planned)

        yield watch


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        BarColumn(),
        TextColumn("{task.fields[planned]:,} planned · {task.fields[rate]:,.0f} a second · left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
