"""`planner doctor`: what is configured, which keys are set (names only), what each file's problem is."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from planner import paths
from planner.catalog.compiled import FILE, read_compiled, stamp
from planner.catalog.loader import load_catalog
from planner.catalog.model import Catalog
from planner.cli.common import catalog_option, json_option, print_json, settings_option
from planner.errors import PlannerError
from planner.history.history import FILE as HISTORY
from planner.settings import Settings, load_settings


@click.command()
@settings_option
@catalog_option
@json_option
def command(settings: str | None, catalog: str | None, as_json: bool) -> None:
    """What is configured, which keys are set, and what is wrong."""
    report = examine(settings, catalog)
    if as_json:
        print_json(report)
    else:
        _print(report)
    sys.exit(3 if report["problems"] else 0)


def examine(settings: str | None, catalog: str | None) -> dict[str, Any]:
    """The report as JSON values. Key names only, never a value."""
    problems: list[str] = []
    chosen, loaded = _settings(settings, problems), None
    root = Path(catalog or (chosen.catalog if chosen and chosen.catalog else paths.shipped("skills")))
    try:
        loaded = load_catalog(root)
    except PlannerError as error:
        problems.append(str(error))
    return {
        "settings": {"from": list(chosen.origin) if chosen else [], "notes": list(chosen.notes) if chosen else []},
        "catalog": _catalog(root, loaded),
        "keys": _keys(loaded) if loaded else {},
        "channels_that_can_run": _runnable(loaded) if loaded else [],
        "history": _history(chosen) if chosen else {},
        "state_folder": str(paths.state_folder(os.environ)),
        "problems": problems,
    }


def _settings(source: str | None, problems: list[str]) -> Settings | None:
    try:
        return load_settings(source, os.environ)
    except PlannerError as error:
        problems.append(str(error))
        return None


def _history(settings: Settings) -> dict[str, Any]:
    from planner.history.examining import examined

    return examined(settings.history.store, paths.state_folder(os.environ) / HISTORY)


def _catalog(root: Path, loaded: Catalog | None) -> dict[str, Any]:
    if loaded is None:
        return {"folder": str(root)}
    compiled = read_compiled(root)
    state = "missing" if compiled is None else "fresh" if compiled.get("stamp") == stamp(root) else "stale"
    channels = sum(leaf.is_channel for leaf in loaded.leaves)
    return {
        "folder": str(root), "version": loaded.version, "groups": len(loaded.groups), "channels": channels,
        FILE: state, "warnings": list(loaded.warnings),
    }  # fmt: skip


def _keys(catalog: Catalog) -> dict[str, str]:
    names = sorted({name for leaf in catalog.leaves for name in (*leaf.auth.required, *leaf.auth.optional)})
    required = {name for leaf in catalog.leaves for name in leaf.auth.required}
    state = {name: "set" if os.environ.get(name, "").strip() else "missing" for name in names}
    return {name: state[name] + ("" if name in required else " (optional)") for name in names}


def _runnable(catalog: Catalog) -> list[str]:
    return [leaf.channel for leaf in catalog.leaves if leaf.is_channel and leaf.auth.satisfied(os.environ)]


def _print(report: dict[str, Any]) -> None:
    for section in ("settings", "catalog", "keys", "history"):
        click.echo(section)
        for key, value in report[section].items():
            click.echo(f"  {key}: {', '.join(value) if isinstance(value, list) else value}")
    can_run = report["channels_that_can_run"]
    click.echo(f"channels that can run now ({len(can_run)}): {', '.join(can_run)}")
    click.echo(f"state folder: {report['state_folder']}")
    for problem in report["problems"]:
        click.echo(f"problem: {problem}")
