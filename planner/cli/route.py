"""`planner route`: which kinds of sources to spend searches on."""

from __future__ import annotations

from typing import Any

import click

from planner.cli.common import FieldCommand, json_option, print_json, read_json, settings_option
from planner.cli.routing import given_fields, print_decisions, print_source_plan, routing_options
from planner.errors import InputError
from planner.routes import explain_route


@click.command(cls=FieldCommand)
@click.option("--request", "request_file", metavar="FILE|-", help="A request as JSON; options are laid over it.")
@routing_options
@click.option("--explain", is_flag=True, help="Which rule set each number, and which weaker rule yielded.")
@settings_option
@json_option
def command(request_file: str | None, explain: bool, settings: str | None, as_json: bool, **options: Any) -> None:
    """How to spend a budget of searches over web, local files, vectors, a graph and counter-evidence."""
    routed = explain_route(_request(request_file, given_fields(options)), settings=settings)
    if as_json:
        value = routed.plan.model_dump(mode="json")
        print_json(value | {"explanation": [d._asdict() for d in routed.decisions]} if explain else value)
        return
    print_source_plan(routed.plan)
    if explain:
        print_decisions(routed.decisions)


def _request(request_file: str | None, fields: dict[str, Any]) -> dict[str, Any]:
    if request_file is None:
        return {"need_counter_evidence": False, **fields}
    raw = read_json(request_file, "--request")
    if not isinstance(raw, dict):
        raise InputError("--request", raw, "a JSON object with the fields of a routing request")
    return {**raw, **fields}
