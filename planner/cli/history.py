"""`planner history`: record what searches gave, look at it, take it elsewhere, delete it."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import Counter
from contextlib import closing
from typing import Any

import click

from planner.cli.common import (
    FieldGroup,
    catalog_option,
    console,
    json_option,
    note,
    print_json,
    read_json,
    settings_option,
)
from planner.errors import InputError
from planner.pipeline import Planner

_FIELDS = ("session", "query", "outcomes")


@click.group(cls=FieldGroup)
def command() -> None:
    """Record what searches gave; groups that give nothing are searched less eagerly."""


@command.command()
@click.argument("channels", nargs=-1, metavar="[CHANNEL=RESULTS]...")
@click.option("--session", metavar="ID", help="The research session (default: a new one, whose id is printed).")
@click.option("--query", metavar="TEXT", help="The question; kept only with history.record_queries.")
@click.option("--group", metavar="NAME", help="The group under which the channels were picked.")
@click.option("--failed", metavar="REASON", help="Why there are no results, as in timeout_30s.")
@click.option("--pattern", metavar="TEXT", help="The way of asking that this speaks for or against.")
@click.option("--feedback", type=click.Choice(["accepted", "rejected"]), help="What the user said of the results.")
@click.option(
    "--outcomes", "file", metavar="FILE|-", help="All this as JSON: {session, query, outcomes: [{channel, …}]}."
)
@settings_option
@catalog_option
@json_option
def record(
    channels: tuple[str, ...], session: str | None, query: str | None, file: str | None, settings: str | None,
    catalog: str | None, as_json: bool, **shared: str | None,
) -> None:  # fmt: skip
    """Record searches: the number of results of each CHANNEL, as in zhihu=12, or --failed and the channels alone."""
    given: dict[str, Any] = {
        "session": session,
        "query": query,
        "outcomes": [_outcome(text, shared) for text in channels],
    }
    if file is not None:
        given = _from_file(file, [name for name, value in (given | shared).items() if value])
    with closing(Planner(catalog=catalog, settings=settings).history) as history:
        done = history.record(given["outcomes"], session=given.get("session"), query=given.get("query"))
    for warning in done.warnings:
        note(f"warning: {warning}")
    if as_json:
        print_json(dataclasses.asdict(done))
    else:
        click.echo(f"session {done.session}: {done.recorded} recorded")


def _outcome(text: str, shared: dict[str, str | None]) -> dict[str, Any]:
    channel, equals, number = text.partition("=")
    if bool(equals) == bool(shared["failed"]):
        raise InputError("CHANNEL", text, "CHANNEL=RESULTS, as in zhihu=12, or CHANNEL alone with --failed")
    if equals and not (number.isascii() and number.isdigit()):
        raise InputError("RESULTS", number, "a whole number, 0 or more")
    values = {"group": shared["group"], "failure": shared["failed"], "pattern": shared["pattern"]}
    return {"channel": channel, "results": int(number or 0), "feedback": shared["feedback"], **values}


def _from_file(file: str, options: list[str]) -> dict[str, Any]:
    if options:
        raise InputError("--outcomes", options, "no other options beside it")
    value = read_json(file, "--outcomes")
    given = value if isinstance(value, dict) else {"outcomes": value}
    if unknown := sorted(set(given) - set(_FIELDS)):
        raise InputError("--outcomes", unknown, ", ".join(_FIELDS))
    return {"outcomes": [], **given}


@command.command()
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="So many sessions.")
@settings_option
@catalog_option
@json_option
def show(limit: int, settings: str | None, catalog: str | None, as_json: bool) -> None:
    """The last sessions, and how many in a row gave nothing, by group."""
    planner = Planner(catalog=catalog, settings=settings)
    with closing(planner.history) as history:
        events = history.latest(limit)
        counts, warnings = history.empty_sessions()
    for warning in warnings:
        note(f"warning: {warning}")
    least = planner.settings.history.empty_sessions
    demoted = sorted(group for group, sessions in counts.items() if sessions >= least)
    if as_json:
        print_json({"empty_sessions": dict(counts), "demoted": demoted, "events": events})
        return
    _print_events(events)
    for group, sessions in sorted(counts.items()):
        click.echo(f"{group}: {sessions} empty in a row{', demoted' if group in demoted else ''}")


def _print_events(events: list[dict[str, Any]]) -> None:
    from rich.table import Table

    columns = ("session", "at", "channel", "group", "results", "failure", "feedback", "pattern")
    table = Table(*columns, box=None, pad_edge=False)
    for event in events:
        table.add_row(*("" if event[name] is None else str(event[name]) for name in columns))
    console().print(table, markup=False) if events else note("nothing has been recorded")


@command.command()
@settings_option
@catalog_option
def export(settings: str | None, catalog: str | None) -> None:
    """Everything that was recorded, oldest first, one JSON object a line."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    with closing(Planner(catalog=catalog, settings=settings).history) as history:
        for event in history.events():
            sys.stdout.write(json.dumps(event, ensure_ascii=not utf8) + "\n")


@command.command()
@click.option("--yes", is_flag=True, help="Really delete.")
@settings_option
@catalog_option
def clear(yes: bool, settings: str | None, catalog: str | None) -> None:
    """Delete everything that was recorded, and the digests made of it."""
    from planner.history.compacting import remove_digests

    with closing(Planner(catalog=catalog, settings=settings).history) as history:
        if not yes:
            sessions = Counter(event["session"] for event in history.events())
            raise InputError("--yes", None, f"--yes, to delete {len(sessions)} sessions, {sessions.total()} outcomes")
        gone, digests = history.clear(), remove_digests(history.folder)
    note(f"{gone} sessions and {digests} digests deleted")
