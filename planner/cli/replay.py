"""`planner replay`: record the answers behind plans, replay the plans offline, say which recordings went stale."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from planner.cli.common import catalog_option, json_option, note, print_json, settings_option
from planner.errors import InputError, ReplayMiss
from planner.pipeline import Planner
from planner.replay import replay
from planner.replay.stale import made_with, notes_of, stale

_JUDGES = ["auto", "standard", "fast"]


@click.group()
def command() -> None:
    """Record model answers and replay them offline."""


@command.command()
@click.argument("cassette", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("queries", nargs=-1, required=True)
@click.option("--judge", type=click.Choice(_JUDGES), default="standard", show_default=True, help="Who is asked.")
@click.option("--answered-by", metavar="TEXT", help="What answers, as the file shall say; the model's name otherwise.")
@settings_option
@catalog_option
def record(
    cassette: Path,
    queries: tuple[str, ...],
    judge: str,
    answered_by: str | None,
    settings: str | None,
    catalog: str | None,
) -> None:
    """Plan QUERIES, asking the models, and write their answers and the plans to CASSETTE."""
    planner = Planner(catalog=catalog, settings=settings)
    with replay(cassette, record=True) as session:
        plans = [planner.select(query, judge=judge) for query in queries]
        who = answered_by or _models(plans)
        session.notes.update(notes_of(who, planner.catalog.version, planner.settings))
        session.notes["plans"] = [
            {"query": query, "judge": judge, "plan": plan.core()} for query, plan in zip(queries, plans, strict=True)
        ]
    note(f"{cassette}: {session.requests} answers recorded")
    for query, plan in zip(queries, plans, strict=True):
        for step in plan.degradations:
            note(f"  {query}: fell back from {step.from_} to {step.to}: {step.reason}")


@command.command()
@click.argument("cassettes", nargs=-1, required=True, type=click.Path(path_type=Path))
@catalog_option
def run(cassettes: tuple[Path, ...], catalog: str | None) -> None:
    """Plan the recorded queries again, offline, and compare with the recorded plans. Exit code 1 when one differs."""
    failed = 0
    for path in _files(cassettes):
        problem = _rerun(path, catalog)
        failed += problem is not None
        click.echo(f"{path}: {problem or 'ok'}")
    sys.exit(1 if failed else 0)


@command.command()
@click.argument("cassettes", nargs=-1, required=True, type=click.Path(path_type=Path))
@catalog_option
@settings_option
@json_option
def check(cassettes: tuple[Path, ...], catalog: str | None, settings: str | None, as_json: bool) -> None:
    """Which recordings no longer fit, and why: prompt or catalog changed. Exit code 1 when one does not."""
    now = made_with(Planner(catalog=catalog, settings=settings).catalog.version)
    found = {str(path): stale(path, now) for path in _files(cassettes)}
    if as_json:
        print_json(found)
    else:
        for name, reasons in found.items():
            click.echo(f"{name}: {'; '.join(reasons) if reasons else 'ok'}")
    sys.exit(1 if any(found.values()) else 0)


def _files(given: tuple[Path, ...]) -> list[Path]:
    files = [file for path in given for file in (sorted(path.rglob("*.yaml")) if path.is_dir() else [path])]
    missing = [str(file) for file in files if not file.is_file()]
    if missing or not files:
        raise InputError("cassettes", missing or [str(path) for path in given], "recorded files, or folders of them")
    return files


def _models(plans: list[Any]) -> str:
    return ", ".join(sorted({plan.judge.model for plan in plans if plan.judge.model})) or "nothing that could be used"


def _rerun(path: Path, catalog: str | None) -> str | None:
    try:
        with replay(path) as session:
            planner = Planner(catalog=catalog, settings=session.notes.get("settings"))
            for recorded in session.notes.get("plans", ()):
                plan = planner.select(recorded["query"], judge=recorded["judge"])
                if plan.core() != recorded["plan"]:
                    changed = [key for key, value in plan.core().items() if value != recorded["plan"].get(key)]
                    return f"the plan for {recorded['query']!r} differs in {', '.join(changed)}"
    except ReplayMiss as miss:
        return str(miss).removeprefix(f"{path}: ")
    return None
