"""Plans as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.channels.model import ChannelPlan
from planner.cli.common import console, print_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


_WIDE = 110  # columns a terminal needs for groups and keys beside the reasons


def print_plan(plan: ChannelPlan, explain: bool) -> None:
    """The channels in order, then what the reader must know: groups, changes, warnings."""
    out = console()
    _channels(plan, out)
    out.print("[bold]Groups[/] " + " · ".join(f"{g.name} {g.score:.2f}" for g in plan.groups))
    out.print(f"[bold]Judge[/] {_judge(plan)}")
    if explain:
        _explain(plan, out)
    for step in plan.degradations:
        out.print(f"[yellow]fell back[/] {step.from_} → {step.to}: {_plain(step.reason)}")
    for line in plan.adjustments:
        out.print(f"[cyan]changed[/] {_plain(line)}")
    for line in plan.warnings:
        out.print(f"[yellow]note[/] {_plain(line)}")


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _judge(plan: ChannelPlan) -> str:
    model = f" ({plan.judge.model})" if plan.judge.model else ""
    cost = f" · ${plan.total_cost_usd:.4f} for one call to each" if plan.total_cost_usd else ""
    return f"{plan.judge.tier}{model}{_usage(plan)} · {plan.elapsed_ms:.1f} ms{cost}"


def _usage(plan: ChannelPlan) -> str:
    if plan.cached:
        return " · from the cache"
    if plan.usage is None or plan.usage.tokens_in is None:
        return ""
    price = "" if plan.usage.cost_usd is None else f", ${plan.usage.cost_usd:.6f}"
    return f" · {plan.usage.tokens_in} tokens in, {plan.usage.tokens_out} out{price}"


def _table(out: Console, *columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD if out.is_terminal else None, pad_edge=False, expand=False)
    for name in columns:
        numeric = name in ("#", "score")
        table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric or name == "channel")
    return table


def _channels(plan: ChannelPlan, out: Console) -> None:
    wide = out.width >= _WIDE
    table = _table(out, "#", "channel", "score", *(("group", "key") if wide else ()), "why")
    for rank, pick in enumerate(plan.channels, 1):
        group = pick.group.removeprefix("channels-")
        about = (group, pick.auth) if wide else ()
        table.add_row(str(rank), pick.channel, f"{pick.score:.2f}", *about, _plain(pick.rationale))
    print_table(out, table)


def _explain(plan: ChannelPlan, out: Console) -> None:
    names = list(plan.channels[0].factors) if plan.channels else []
    table = _table(out, "channel", "score", *names, "kept out by")
    for pick in plan.channels:
        table.add_row(pick.channel, f"{pick.score:.2f}", *_factors(pick.factors, names), "")
    for next_best in plan.runners_up:
        cells = _factors(next_best.factors, names)
        table.add_row(next_best.channel, f"{next_best.score:.2f}", *cells, _plain(next_best.kept_out_by))
    print_table(out, table)
    groups = _table(out, "group", "score", *(plan.groups[0].factors if plan.groups else ()), "why")
    for group in plan.groups:
        factors = [f"{value:.2f}" for value in group.factors.values()]
        groups.add_row(group.name, f"{group.score:.2f}", *factors, _plain(group.rationale))
    print_table(out, groups)
    for name, reason in plan.skip_reasons.items():
        out.print(f"[dim]skipped[/] {name}: {_plain(reason)}")


def _factors(factors: Mapping[str, float], names: Sequence[str]) -> list[str]:
    return [f"{factors[name]:.2f}" for name in names]
