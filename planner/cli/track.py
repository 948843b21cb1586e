"""`planner track`: say the next step while a plan is carried out; what happened is kept in a state file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from planner import paths
from planner.cli.common import FieldGroup, console, json_option, print_json, read_json, settings_option
from planner.errors import InputError
from planner.sources.events import Directive, Progress

_STEPS = {
    "search": "search {where}",
    "retry_narrower": "search {where} again with narrower terms (every result was of grade C)",
    "change_strategy": "search {where} with another strategy (most results are of grade C)",
    "fall_back": "fall back to {where} ({why})",
    "end_round": "end the round: planner track round",
    "stop": "stop: {why}",
}


def state_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where the state is kept."""
    return click.option("--state", metavar="FILE", help="The state file (default: track.json in the state folder).")(
        function
    )


@click.group(cls=FieldGroup)
def command() -> None:
    """Say the next step while a plan is carried out."""


@command.command()
@click.argument("plan")
@state_option
@click.option("--replace", is_flag=True, help="Begin anew where another plan is being carried out.")
@settings_option
@json_option
def start(plan: str, state: str | None, replace: bool, settings: str | None, as_json: bool) -> None:
    """Begin to carry out PLAN (a file, or - for standard input), as `planner route` or `planner plan` print it."""
    from planner.tracker import PlanTracker, begin

    tracker = PlanTracker(read_json(plan, "PLAN"), settings=settings)
    begin(_file(state), tracker, replace=replace)
    _print(tracker.directive, as_json)


@command.command()
@click.option("--source", required=True, metavar="NAME", help="The source that was searched.")
@click.option("--engine", metavar="NAME", help="The engine that was called, where the source has one.")
@click.option("--result", "results", multiple=True, metavar="GRADE[:ID]", help="A result: S, A, B or C; repeatable.")
@click.option("--failed", metavar="REASON", help="Why there are no results, as in quota_exhausted.")
@click.option("--http-status", type=int, metavar="N", help="Instead of a reason: the status the engine answered.")
@click.option("--error", metavar="TEXT", help="Instead of a reason: the error's text, body or class name.")
@click.option("--progress", "counts", multiple=True, metavar="NAME=N", help="A count so far; repeatable.")
@click.option("--query", metavar="TEXT", help="What was searched for.")
@state_option
@json_option
def record(
    *, source: str, engine: str | None, results: tuple[str, ...], failed: str | None, http_status: int | None,
    error: str | None, counts: tuple[str, ...], query: str | None, state: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Report one engine call: its results, or why there are none."""
    from planner.tracker import tracked

    graded = [_result(text) for text in results]
    progress = _progress(counts)
    with tracked(_file(state)) as tracker:
        called = engine or tracker.directive.engine or source
        failure = failed or _reason(called, http_status, error)
        directive = tracker.record(source, engine, results=graded, failure=failure, progress=progress, query=query)
    _print(directive, as_json)


@command.command("round")
@click.option("--progress", "counts", multiple=True, metavar="NAME=N", help="A count so far; repeatable.")
@state_option
@json_option
def end_round(counts: tuple[str, ...], state: str | None, as_json: bool) -> None:
    """Report the end of a round."""
    from planner.tracker import tracked

    progress = _progress(counts)
    with tracked(_file(state)) as tracker:
        directive = tracker.end_round(progress=progress)
    _print(directive, as_json)


@command.command()
@state_option
@json_option
def status(state: str | None, as_json: bool) -> None:
    """Show what has happened, and the next step; --json prints the whole state."""
    from planner.tracker import load

    tracker = load(_file(state))
    if as_json:
        print_json(tracker.state.model_dump(mode="json"))
        return
    out = console()
    for source, tally in tracker.state.tallies.items():
        out.print(f"{source}: {tally.used} of {tally.allocation} searches{', spent' if not tally.left else ''}")
    for entry in tracker.state.degradation_log:
        out.print(f"[yellow]{entry.reason}[/] {entry.from_level or '-'} → {entry.to_level or '-'}", highlight=False)
    quality = tracker.state.quality
    out.print(f"{quality.total} results, {quality.high} of grade S or A, {quality.low} of grade C")
    _print(tracker.directive, as_json)


def _file(state: str | None) -> Path:
    return Path(state) if state else paths.state_folder(os.environ) / "track.json"


def _print(directive: Directive, as_json: bool) -> None:
    if as_json:
        print_json(directive.model_dump(mode="json"))
        return
    where = " ".join(filter(None, (directive.source, directive.channel, directive.engine and f"({directive.engine})")))
    out = console()
    step = _STEPS[directive.action].format(where=where, why=directive.why)
    out.print(f"Round {directive.round}: {step}", markup=False)
    for hint in directive.hints:
        out.print(f"  {hint}", markup=False)
    if directive.may_stop_early:
        out.print("At least half of the results are of grade S or A: stopping early is allowed.")


def _result(text: str) -> dict[str, str]:
    grade, _, identity = text.partition(":")
    if grade not in ("S", "A", "B", "C"):
        raise InputError("--result", text, "GRADE or GRADE:ID, with a grade of S, A, B or C")
    return {"grade": grade, **({"id": identity} if identity else {})}


def _reason(engine: str, http_status: int | None, error: str | None) -> str | None:
    if http_status is None and error is None:
        return None
    from planner.sources.failures import Failure, reason_of
    from planner.sources.loading import load_error_table

    seen = Failure(engine, status=http_status, body=error or "", exception=(error or "").strip() or None)
    return reason_of(seen, load_error_table())


def _progress(counts: tuple[str, ...]) -> dict[str, Any]:
    known = list(Progress.model_fields)
    values: dict[str, Any] = {}
    for text in counts:
        name, _, number = text.partition("=")
        if name not in known:
            raise InputError("--progress", text, f"NAME=N, with a name of {', '.join(known)}")
        try:
            values[name] = json.loads(number)
        except ValueError:
            raise InputError(f"--progress {name}", number, "a number") from None
    return values
