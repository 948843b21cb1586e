"""What `route` and `plan` share: the options of a routing request, and a source plan as people read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, get_args

import click

from planner.cli.common import console, print_table
from planner.sources.budget import Decision
from planner.sources.model import Freshness, GoalMode, SourcePlan, TaskType

if TYPE_CHECKING:
    from rich.console import Console

_BAR = 20
_OPTIONS = (
    click.option("--task-type", type=click.Choice(get_args(TaskType)), help="What kind of task it is."),
    click.option("--subject", "primary_subject", metavar="TEXT", help="What it is about."),
    click.option("--goal-mode", type=click.Choice(get_args(GoalMode)), help="What is to be done with the findings."),
    click.option(
        "--freshness",
        "freshness_required",
        type=click.Choice(get_args(Freshness)),
        help="How new: high within a day, medium within 30 days, low any time.",
    ),
    click.option("--sources", "available_sources", metavar="LIST", help="Available sources, as in web,vector."),
    click.option("--counter/--no-counter", "need_counter_evidence", default=None, help="Ask for counter-evidence."),
    click.option("--gap", "information_gaps", multiple=True, metavar="TEXT", help="What is not known yet; repeatable."),
    click.option("--budget", "budget_limit", type=int, metavar="N", help="How many searches, 1 to 1000 (default 10)."),
    click.option("--domain", "preferred_domains", multiple=True, metavar="HOST", help="A site to prefer; repeatable."),
    click.option(
        "--engine",
        "available_engines",
        multiple=True,
        metavar="NAME",
        help="A usable engine; repeatable; auto: by keys.",
    ),
    click.option(
        "--local-material",
        "known_local_material",
        is_flag=True,
        default=None,
        help="Local files are known to cover it.",
    ),
    click.option("--lang", "language", type=click.Choice(["zh", "en"]), help="The language of hints and texts."),
)


def routing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that make up a routing request."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given_fields(options: dict[str, Any]) -> dict[str, Any]:
    """The fields of a routing request that the options name; what was left out is left out."""
    fields = {key: value for key, value in options.items() if value not in (None, ())}
    if "available_sources" in fields:
        fields["available_sources"] = [part.strip() for part in fields["available_sources"].split(",") if part.strip()]
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}


def print_source_plan(plan: SourcePlan) -> None:
    """Order with budget bars, stop rule, chain, then what the reader must know."""
    out = console()
    total = plan.budget_allocation["total_budget"]
    out.print(f"[bold]{plan.branch}[/] · {total} searches")
    _sources(plan, total, out)
    out.print(f"[bold]Stop[/] {_plain(plan.stop_rule.condition)} · at most {plan.stop_rule.max_rounds} rounds")
    out.print("[bold]Chain[/] " + " → ".join(level.source for level in plan.fallback_chain))
    for entry in plan.degradation_log:
        out.print(f"[yellow]degraded[/] {entry.reason}")
    for line in plan.warnings:
        out.print(f"[yellow]note[/] {_plain(line)}")


def print_decisions(decisions: Sequence[Decision]) -> None:
    """Which rule set each number, and what a weaker rule wanted."""
    out = console()
    table = _table(out, "number", "value", "rule", "yielded")
    for decision in decisions:
        table.add_row(decision.what, str(decision.value), decision.rule, decision.yielded)
    print_table(out, table)


def _sources(plan: SourcePlan, total: int, out: Console) -> None:
    table = _table(out, "#", "source", "n", "share", "engine", "why")
    for entry in plan.selected_sources:
        number = plan.budget_allocation[entry.source]
        bar = "█" * max(1, round(_BAR * number / total))
        why = _plain(entry.rationale)
        table.add_row(str(entry.priority), entry.source, str(number), bar, entry.engine or "", why)
    print_table(out, table)


def _table(out: Console, *columns: str) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD if out.is_terminal else None, pad_edge=False)
    for name in columns:
        table.add_column(name, no_wrap=name not in ("why", "yielded"))
    return table


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
