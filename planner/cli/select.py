"""`planner select`: which channels to search for a question."""

from __future__ import annotations

import sys
from typing import Any

import click

from planner.cli.common import (
    FieldCommand,
    catalog_option,
    json_option,
    note,
    option_of,
    print_json,
    read_json,
    settings_option,
)
from planner.errors import InputError
from planner.pipeline import Planner

_MODES = ["fast", "deep", "comprehensive"]
_LANGUAGES = ["all", "en_only", "zh_only", "mixed"]
_RECENCY = ["any", "7d", "30d", "90d"]
_JUDGES = ["auto", "standard", "fast", "heuristic"]


@click.command(cls=FieldCommand)
@click.argument("query", required=False)
@click.option("--request", "request_file", metavar="FILE|-", help="A whole request as JSON instead of options.")
@click.option("--mode", type=click.Choice(_MODES), help="How many channels: fast 5, deep and comprehensive 8.")
@click.option("--query-type", metavar="TEXT", help="What kind of question the clarifier took it for.")
@click.option("--rubric", "rubrics", multiple=True, metavar="TEXT", help="What a good answer must cover; repeatable.")
@click.option(
    "--priority", "channel_priority", multiple=True, metavar="CHANNEL", help="A channel to prefer; repeatable."
)
@click.option("--skip", "channel_skip", multiple=True, metavar="CHANNEL", help="A channel to leave out; repeatable.")
@click.option(
    "--channel", "explicit_channels", multiple=True, metavar="CHANNEL", help="Search exactly this one; repeatable."
)
@click.option("--languages", type=click.Choice(_LANGUAGES), help="Languages to search in.")
@click.option("--recency", type=click.Choice(_RECENCY), help="How fresh results must be.")
@click.option("--max-channels", type=int, metavar="N", help="At most so many channels (ceiling 8).")
@click.option("--max-groups", type=int, metavar="N", help="At most so many groups (ceiling 3).")
@click.option("--max-cost-usd", type=float, metavar="USD", help="At most so many dollars for one call to each.")
@click.option("--judge", type=click.Choice(_JUDGES), help="Who judges relevance; any ends in the heuristic.")
@click.option("--dry-run", is_flag=True, help="Which model would be asked, with how many tokens, at which price.")
@click.option("--explain", is_flag=True, help="The factors behind each pick, and why the next three were left out.")
@settings_option
@catalog_option
@json_option
def command(
    query: str | None, request_file: str | None, settings: str | None, catalog: str | None, as_json: bool,
    explain: bool, dry_run: bool, judge: str | None, **given: Any,
) -> None:  # fmt: skip
    """Which channels to search for QUERY (read from standard input when it is -)."""
    planner = Planner(catalog=catalog, settings=settings)
    arguments = _arguments(query, request_file, given)
    if dry_run:
        from planner.cli.dry_run import print_preview

        print_preview(planner.preview(**arguments, judge=judge), as_json=as_json)
        return
    plan = planner.select(**arguments, judge=judge)
    if unasked := planner.ladders.of(judge).note:
        note(unasked)
    if as_json:
        print_json(plan.model_dump(mode="json"))
        return
    from planner.cli.tables import print_plan

    print_plan(plan, explain=explain)


def _arguments(query: str | None, request_file: str | None, given: dict[str, Any]) -> dict[str, Any]:
    if request_file is None:
        return _from_options(query, given)
    context = click.get_current_context()
    options = [option_of(name, context) for name, value in given.items() if value not in (None, ())]
    if query is not None or options:
        raise InputError("--request", ["QUERY", *options] if query else options, "no other options beside it")
    raw = read_json(request_file, "--request")
    if not isinstance(raw, dict):
        raise InputError("--request", raw, "a JSON object with a query")
    return {"query": raw}


def _from_options(query: str | None, given: dict[str, Any]) -> dict[str, Any]:
    if query is None:
        raise InputError("query", None, 'a question, as in: planner select "…", or --request FILE')
    clarify = {
        "mode": given["mode"], "query_type": given["query_type"], "rubrics": list(given["rubrics"]),
        "channel_priority": list(given["channel_priority"]), "channel_skip": list(given["channel_skip"]),
    }  # fmt: skip
    budget = {key: given[key] for key in ("max_channels", "max_groups", "max_cost_usd")}
    return {
        "query": sys.stdin.read() if query == "-" else query,
        "clarify_result": clarify,
        "scope": {"languages": given["languages"], "recency": given["recency"], "budget": budget},
        "explicit_channels": list(given["explicit_channels"]),
    }
