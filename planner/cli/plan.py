"""`planner plan`: the sources for a question, and the channels behind its web searches."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from planner.cli.common import FieldCommand, catalog_option, console, json_option, note, print_json, settings_option
from planner.cli.routing import given_fields, print_source_plan, routing_options

if TYPE_CHECKING:
    from planner.combined import CombinedPlan


@click.command(cls=FieldCommand)
@click.argument("question")
@routing_options
@click.option(
    "--judge",
    type=click.Choice(["auto", "standard", "fast", "heuristic"]),
    help="Who reads the question and judges channels.",
)
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
    planner = Planner(catalog=catalog, settings=settings)
    made = plan(text, planner=planner, judge=judge, **given_fields(options))
    if unasked := planner.ladders.of(judge).note:
        note(unasked)
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    _print_reading(made)
    print_source_plan(made.source_plan)
    for line in made.warnings:
        console().print(f"[yellow]note[/] {line}")
    if made.channels:
        from planner.cli.tables import print_plan

        print_plan(made.channels, explain=False)


def _print_reading(made: CombinedPlan) -> None:
    from rich.markup import escape

    read, reader, out = made.request, made.reader, console()
    parts = [read["task_type"], read["goal_mode"], f"freshness {read['freshness_required']}"]
    if read["need_counter_evidence"]:
        parts.append("counter-evidence asked for")
    by = f"{reader.tier} ({reader.model})" if reader.model else reader.tier
    out.print(f"[bold]Read as[/] {' · '.join(parts)} · by {by}")
    out.print(f"[bold]Subject[/] {escape(read['primary_subject'])}")
    if read["information_gaps"]:
        out.print(f"[bold]Gaps[/] {escape('; '.join(read['information_gaps']))}")
    for step in reader.degradations:
        out.print(f"[yellow]reading fell back[/] {step.from_} → {step.to}: {escape(step.reason)}")
