"""`planner catalog`: list, show, check, build, import."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from planner import paths
from planner.catalog.loader import load_catalog
from planner.catalog.model import Catalog, Leaf
from planner.cli.catalog_import import import_
from planner.cli.common import FieldGroup, catalog_option, console, json_option, note, print_json
from planner.errors import InputError
from planner.settings import load_settings


@click.group(cls=FieldGroup)
def command() -> None:
    """List, show, check and build the catalog, or import one."""


command.add_command(import_)


def _root(catalog: str | None) -> Path:
    chosen = catalog or load_settings(None, os.environ).catalog
    return Path(chosen) if chosen else paths.shipped("skills")


@command.command("list")
@catalog_option
@click.option("--required-env", is_flag=True, help="Only the names of all variables that channels can require.")
@json_option
def list_(catalog: str | None, required_env: bool, as_json: bool) -> None:
    """The channels, by group."""
    loaded = load_catalog(_root(catalog))
    for warning in loaded.warnings:
        note(f"note: {warning}")
    if required_env:
        _print_required(loaded, as_json)
    elif as_json:
        print_json({"version": loaded.version, "channels": [describe(leaf) for leaf in loaded.leaves]})
    else:
        _print_list(loaded)


def _print_required(loaded: Catalog, as_json: bool) -> None:
    names = sorted({name for leaf in loaded.leaves for name in leaf.auth.required})
    if as_json:
        print_json(names)
    else:
        click.echo("\n".join(names))


def _print_list(loaded: Catalog) -> None:
    from rich.table import Table

    table = Table("group", "channel", "languages", "key", "USD", "description", box=None, pad_edge=False)
    for group in loaded.groups:
        for leaf in loaded.members[group.name]:
            table.add_row(
                group.name.removeprefix("channels-"), leaf.channel, ",".join(leaf.languages),
                leaf.auth.label(os.environ), f"{leaf.cost_usd:g}", leaf.description,
            )  # fmt: skip
    console().print(table)


def describe(leaf: Leaf) -> dict[str, Any]:
    """A leaf as JSON values."""
    return {
        "name": leaf.name, "channel": leaf.channel, "description": leaf.description, "groups": list(leaf.groups),
        "kind": leaf.kind, "domains": list(leaf.domains), "scenarios": list(leaf.scenarios),
        "trigger_keywords": list(leaf.triggers), "aliases": list(leaf.aliases), "hosts": list(leaf.hosts),
        "languages": list(leaf.languages), "model_tier": leaf.model_tier, "cost_usd": leaf.cost_usd,
        "auth": leaf.auth.label(os.environ), "required_env": list(leaf.auth.required),
        "optional_env": list(leaf.auth.optional), "runnable": leaf.auth.satisfied(os.environ),
    }  # fmt: skip


@command.command()
@click.argument("name")
@catalog_option
@json_option
def show(name: str, catalog: str | None, as_json: bool) -> None:
    """One channel (any accepted spelling) or group."""
    loaded = load_catalog(_root(catalog))
    if name in loaded.group_by_name:
        group = loaded.group_by_name[name]
        value: Any = {field: _plain(getattr(group, field)) for field in group.__dataclass_fields__}
    elif channels := loaded.channels_named(name):
        found = [describe(loaded.leaf_by_channel[c]) for c in channels]
        value = found[0] if len(found) == 1 else found
    else:
        raise InputError("NAME", name, "a channel, alias or group (`planner catalog list`)")
    if as_json:
        print_json(value)
        return
    for record in value if isinstance(value, list) else [value]:
        for key, item in record.items():
            click.echo(f"{key}: {', '.join(item) if isinstance(item, list) else item}")


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, dict) else value


@command.command()
@catalog_option
@json_option
def check(catalog: str | None, as_json: bool) -> None:
    """Problems of a catalog folder, each with file and line; exit code 1 when there are any."""
    from planner.catalog.build import stale_compiled
    from planner.catalog.check import check as find_problems
    from planner.catalog.pages import read_pages

    root = _root(catalog)
    problems = [*find_problems(read_pages(root)), *stale_compiled(root)]
    if as_json:
        rows = [{"path": str(p.path), "line": p.line, "message": p.message, "left_out": p.fatal} for p in problems]
        print_json(rows)
    else:
        for problem in problems:
            click.echo(str(problem))
        note(f"{len(problems)} problem(s)" if problems else "no problems")
    sys.exit(1 if problems else 0)


@command.command()
@catalog_option
def build(catalog: str | None) -> None:
    """Write the leaf metadata of the group indexes, and the compiled catalog with its scorer."""
    from planner.catalog.build import build as build_catalog

    report = build_catalog(_root(catalog))
    for line in report:
        note(line)
