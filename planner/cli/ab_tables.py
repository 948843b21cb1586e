"""A comparison as people read it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.markup import escape
from rich.table import Table

from planner.cli.common import console
from planner.evaluation import wording

if TYPE_CHECKING:
    from rich.console import Console

_MOST = 5


def print_report(report: dict[str, Any]) -> None:
    """Per pair: labels, agreement, slices, the most different queries; then cost and promises."""
    out = console()
    out.print(escape(wording.headline(report)))
    for line in wording.remarks(report):
        out.print(f"[yellow]note[/] {escape(line)}")
    for pair in report["pairs"]:
        _labels(pair, report, out)
        _agreement(pair, report, out)
        _slices(pair, report, out)
        _different(pair, out)
    _cost(report, out)
    _promises(report, out)


def _table(out: Console, title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD if out.is_terminal else None, pad_edge=False)
    for at, name in enumerate(columns):
        table.add_column(escape(name), justify="right" if at else "left", no_wrap=True)
    return table


def _labels(pair: dict[str, Any], report: dict[str, Any], out: Console) -> None:
    if not report["about"]["labelled"]:
        return
    table = _table(out, "Against labels", "metric", pair["a"], pair["b"], "difference", "95 %", "p (Holm)", "n")
    for name, row in pair["labels"].items():
        table.add_row(wording.metric(name, report), *_difference(row), str(row["n"]))
    out.print(table)


def _difference(row: dict[str, Any]) -> list[str]:
    numbers = [wording.number(row[key]) for key in ("a", "b")]
    return [*numbers, wording.signed(row["difference"]), wording.interval(row), wording.number(row["p_holm"])]


def _agreement(pair: dict[str, Any], report: dict[str, Any], out: Console) -> None:
    table = _table(out, f"Agreement of {pair['a']} and {pair['b']}", "measure", "mean", "95 %", "n")
    for name, row in pair["agreement"].items():
        numbers = wording.number(row["mean"]), wording.interval(row), str(row["n"])
        table.add_row(wording.metric(name, report), *numbers)
    out.print(table)


def _slices(pair: dict[str, Any], report: dict[str, Any], out: Console) -> None:
    columns = pair["a"], pair["b"], "difference", "95 %", "p (Holm)"
    for kind, rows in pair["slices"].items():
        table = _table(out, f"{wording.metric('ndcg', report)} by {kind}", kind, "n", *columns, "Jaccard")
        for row in rows:
            alike = wording.number(row["agreement"]["jaccard"])
            table.add_row(escape(row["name"]), str(row["n"]), *_difference(row["labels"]["ndcg"]), alike)
        out.print(table)


def _different(pair: dict[str, Any], out: Console) -> None:
    for row in pair["most_different"][:_MOST]:
        out.print(f"[bold]{escape(row['id'])}[/] RBO {wording.number(row['rbo'])}")
        for arm, picks in row["picks"].items():
            out.print(f"  {escape(arm)}: " + ", ".join(f"{p['channel']} {p['score']:.2f}" for p in picks))
        for change in row["changes"]:
            out.print(f"  only in {escape(change['only_in'])}: {change['channel']}; {escape(change['why_not'])}")


def _cost(report: dict[str, Any], out: Console) -> None:
    columns = "p50 ms", "p95 ms", "tokens in", "out", "USD", "degraded"
    table = _table(out, "Cost of planning", "arm", *columns)
    for name, arm in report["arms"].items():
        cost = arm["cost"]
        times = (f"{cost[key]:.1f}" for key in ("latency_p50_ms", "latency_p95_ms"))
        spent = (wording.count(cost[key]) for key in ("tokens_in", "tokens_out"))
        table.add_row(escape(name), *times, *spent, wording.dollars(cost["cost_usd"]), wording.share(cost["degraded"]))
    out.print(table)
    for name, arm in report["arms"].items():
        for reason, times in arm["cost"]["why"].items():
            out.print(f"  {escape(name)} fell back {times}x: {escape(reason)}")


def _promises(report: dict[str, Any], out: Console) -> None:
    for name, arm in report["arms"].items():
        broken = [f"{promise} {wording.share(kept)}" for promise, kept in arm["invariants"].items() if kept < 1]
        text = f"[red]broken: {', '.join(broken)}[/]" if broken else "all kept, 100 %"
        out.print(f"[bold]Promises[/] {escape(name)}: {text}")
