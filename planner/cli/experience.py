"""`planner experience`: make digests of what was recorded."""

from __future__ import annotations

from contextlib import closing
from datetime import date

import click

from planner.cli.common import FieldGroup, catalog_option, json_option, note, print_json, settings_option
from planner.errors import InputError
from planner.pipeline import Planner


@click.group(cls=FieldGroup)
def command() -> None:
    """Make digests of what was recorded; rules that proved themselves lift their channel."""


@command.command()
@click.argument("channels", nargs=-1)
@settings_option
@catalog_option
@json_option
def compact(channels: tuple[str, ...], settings: str | None, catalog: str | None, as_json: bool) -> None:
    """Write the digests of CHANNELS (default: of all that were searched) into the state folder."""
    from planner.history.compacting import compact as write_digests

    planner = Planner(catalog=catalog, settings=settings)
    named = [planner.catalog.channels_named(name) for name in channels]
    for name, found in zip(channels, named, strict=True):
        if not found:
            raise InputError("CHANNELS", name, "channels of the catalog (`planner catalog list`)")
    wanted = [channel for found in named for channel in found]
    days = planner.settings.selection.experience_days
    with closing(planner.history) as history:
        done = list(write_digests(history, planner.catalog, date.today(), days, wanted))
    for item in done:
        if not item.written:
            note(f"warning: {item.path} was written by somebody else and is left as it is")
    if as_json:
        rows = [
            {"channel": item.digest.channel, "path": str(item.path), "written": item.written,
             "events": item.digest.events, "rules": len(item.digest.rules), "failures": len(item.digest.failures)}
            for item in done
        ]  # fmt: skip
        print_json(rows)
        return
    for item in done:
        made = item.digest
        counts = f"{made.events} events, {len(made.rules)} rules, {len(made.failures)} failures"
        click.echo(f"{made.channel}: {counts}: {item.path}")
    if not done:
        note("nothing has been recorded")
