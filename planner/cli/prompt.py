"""`planner prompt`: what a model would be sent."""

from __future__ import annotations

import click

from planner.cli.common import FieldGroup, catalog_option, json_option, print_json, settings_option
from planner.pipeline import Planner


@click.group(cls=FieldGroup)
def command() -> None:
    """Show what a model would be sent."""


@command.command()
@click.argument("query")
@click.option("--query-type", metavar="TEXT", help="What kind of question the clarifier took it for.")
@click.option("--rubric", "rubrics", multiple=True, metavar="TEXT", help="What a good answer must cover; repeatable.")
@settings_option
@catalog_option
@json_option
def show(
    query: str,
    query_type: str | None,
    rubrics: tuple[str, ...],
    settings: str | None,
    catalog: str | None,
    as_json: bool,
) -> None:
    """The messages and the answer's schema for QUERY, and how many tokens they are. Nothing is sent."""
    planner = Planner(catalog=catalog, settings=settings)
    seen = planner.preview(query, {"query_type": query_type, "rubrics": list(rubrics)})
    tokens = {"total": seen.tokens_in, "schema": seen.tokens_schema, "counted_for": seen.model}
    if as_json:
        print_json(
            {"prompt_version": seen.prompt.version, **seen.request(), "tokens": tokens, "note": seen.prompt.note}
        )
        return
    for part in ("system", "user", "schema"):
        click.echo(f"--- {part}\n{getattr(seen.prompt, part)}\n")
    click.echo(f"--- {seen.prompt.version}: {seen.tokens_in} tokens, {seen.tokens_schema} of them the schema")
    click.echo(f"    (by the counter for {seen.model})" + (f"; {seen.prompt.note}" if seen.prompt.note else ""))
