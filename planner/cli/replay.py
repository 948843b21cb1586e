"""`planner replay`: record the answers behind plans, replay the plans offline, say which recordings went stale."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from planner.catalog.loader import load_catalog
from planner.cli.common import FieldGroup, catalog_option, json_option, note, print_json, settings_option
from planner.errors import CatalogError, InputError, ReplayMiss, shown
from planner.pipeline import Planner
from planner.replay import replay
from planner.replay.repeating import catalog_of, env_of, notes_of, settings_of
from planner.replay.stale import made_with, notes_in, stale
from planner.settings import Settings, load_settings

_JUDGES = ["auto", "standard", "fast"]


@click.group(cls=FieldGroup)
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
    own = load_settings(settings, os.environ)
    with replay(cassette, record=True) as session, _untaught(own, os.environ, catalog) as planner:
        plans = [planner.select(query, judge=judge) for query in queries]
        who = answered_by or _models(plans)
        session.notes.update(notes_of(who, cassette, planner.catalog, planner.settings, os.environ))
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
    given = catalog or (load_settings(settings, os.environ).catalog if settings else None)
    found = {str(path): _stale(path, given) for path in _files(cassettes)}
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


def _stale(path: Path, catalog: str | None) -> list[str]:
    try:
        return stale(
            path, made_with(load_catalog(Path(catalog) if catalog else catalog_of(path, notes_in(path))).version)
        )
    except CatalogError as missing:
        return [str(missing)]


def _rerun(path: Path, catalog: str | None) -> str | None:
    try:
        with replay(path) as session:
            notes = session.notes
            used = load_catalog(Path(catalog) if catalog else catalog_of(path, notes))
            with _untaught(settings_of(notes), env_of(notes, used, os.environ), used.root) as planner:
                return next((problem for plan in _plans(notes) if (problem := _difference(planner, plan))), None)
    except ReplayMiss as miss:
        return str(miss).removeprefix(f"{path}: ")


@contextmanager
def _untaught(settings: Settings, env: Mapping[str, str], catalog: str | Path | None) -> Iterator[Planner]:
    """A planner that knows nothing of what searches gave on this machine: its plans can be made on another."""
    off = settings.history.model_copy(update={"store": "off"})
    with TemporaryDirectory() as empty:
        alone = settings.model_copy(update={"history": off})
        yield Planner(catalog=catalog, settings=alone, env={**env, "PLANNER_STATE_DIR": empty})


def _plans(notes: Mapping[str, Any]) -> list[dict[str, Any]]:
    plans = notes.get("plans") or []
    for plan in plans if isinstance(plans, list) else [plans]:
        if (
            not isinstance(plan, dict)
            or not isinstance(plan.get("plan"), dict)
            or not {"query", "judge"} <= plan.keys()
        ):
            raise InputError("plans", plan, "query, judge and plan, as `planner replay record` writes them")
    return plans


def _difference(planner: Planner, recorded: Mapping[str, Any]) -> str | None:
    plan = planner.select(recorded["query"], judge=recorded["judge"]).core()
    changed = [key for key, value in plan.items() if value != recorded["plan"].get(key)]
    return f"the plan for {shown(recorded['query'])} differs in {', '.join(changed)}" if changed else None
