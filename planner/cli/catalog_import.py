"""`planner catalog import`: other people's tools and skills as a catalog."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.catalog.importing.sources import ACCEPTED, read_source
from planner.cli.common import FieldCommand, json_option, note, print_json
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.catalog.importing.flow import Report
    from planner.catalog.importing.found import Remark, Source


@click.command("import", cls=FieldCommand)
@click.argument("source")
@click.option("--to", required=True, metavar="DIR", help="The folder to write; it must not exist yet, or be empty.")
@json_option
def import_(source: str, to: str, as_json: bool) -> None:
    """Make a catalog of SOURCE.

    SOURCE is a folder of SKILL.md files, a tree with a router and group indexes, a .jsonl of cards (name, description,
    examples, group), a .json with a saved tools/list, the URL of an MCP server, or the command that starts one
    ("python -m their_server"). What is in the catalog, what is not and why stands in DIR/import.json too.
    """
    from planner.catalog.importing.flow import import_catalog

    report = import_catalog(_read(source), Path(to))
    if as_json:
        print_json(report.as_json())
    else:
        _print(report, to)
    sys.exit(1 if report.problems else 0)


def _read(source: str) -> Source:
    path = Path(source)
    if source.strip() and path.exists():
        return read_source(path)
    if source.startswith(("http://", "https://")):
        from planner.server.reading import tools_at

        return tools_at(source)
    try:
        command = shlex.split(source)
    except ValueError:  # an open quotation
        command = []
    if not command or shutil.which(command[0]) is None:
        raise InputError("SOURCE", source, ACCEPTED)
    from planner.server.reading import tools_of

    return tools_of(command)


def _folded(remarks: Sequence[Remark]) -> Iterator[tuple[str, str]]:
    """(where, reason), each reason once: the report in the folder has every place."""
    places: dict[str, list[str]] = {}
    for remark in remarks:
        places.setdefault(remark.reason, []).append(remark.where)
    for reason, where in places.items():
        yield where[0] + (f" and {len(where) - 1} more" if len(where) > 1 else ""), reason


def _print(report: Report, to: str) -> None:
    for where, reason in _folded(report.refused):
        note(f"left out: {where}: {reason}")
    for where, reason in _folded(report.notes):
        note(f"note: {where}: {reason}")
    for problem in report.problems:
        note(f"problem: {problem}")
    for group, members in report.groups.items():
        made = " (made here)" if group in report.clustered else ""
        click.echo(f"{group}{made}: {', '.join(members)}")
    note(f"{len(report.names)} leaves in {len(report.groups)} groups, {len(report.refused)} left out: {to}")
