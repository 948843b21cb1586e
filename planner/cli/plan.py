"""`planner plan`: the sources for a question, and the channels behind its web searches."""

from __future__ import annotations

import sys
from typing import Any

import click

from planner.cli.common import FieldCommand, catalog_option, console, json_option, print_json, settings_option
from planner.cli.routing import given_fields, print_source_plan, routing_options


@click.command(cls=FieldCommand)
@click.argument("question")
@routing_options
@click.option("--judge", type=click.Choice(["auto", "standard", "fast", "heuristic"]), help="Who judges relevance.")
@settings_option
@catalog_option
@json_option
def command(
    question: str, judge: str | None, settings: str | None, catalog: str | None, as_json: bool, **options: Any
) -> None:
    """Where to search for QUESTION (- reads standard input), and how often. Options win over what is read from it."""
    from planner.combined import plan
    from planner.pipeline import Planner

    text = sys.stdin.read() if question == "-" else question
    made = plan(text, planner=Planner(catalog=catalog, settings=settings), judge=judge, **given_fields(options))
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    read = made.request
    console().print(
        f"[bold]Read as[/] {read['task_type']} · {read['goal_mode']} · freshness {read['freshness_required']}"
    )
    print_source_plan(made.source_plan)
    for line in made.warnings:
        console().print(f"[yellow]note[/] {line}")
    if made.channels:
        from planner.cli.tables import print_plan

        print_plan(made.channels, explain=False)
