"""`planner select --dry-run`: which models would be asked, in which order, at which price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.cli.common import console, print_json

if TYPE_CHECKING:
    from planner.judges.preview import Preview


def print_preview(seen: Preview, *, as_json: bool) -> None:
    """The rungs as a table or as JSON."""
    if as_json:
        print_json(seen.summary())
        return
    out = console()
    if not seen.rungs:
        out.print("heuristic: no model would be asked, nothing would be sent")
        return
    from rich.table import Table

    table = Table("tier", "model", "tokens in", "tokens out, at most", "cost in US dollars, at most", "note")
    for rung in seen.rungs:
        cost = "unknown" if rung.cost_usd is None else f"{rung.cost_usd:.6f}"
        tokens = str(rung.tokens_in), str(rung.tokens_out_max)
        table.add_row(rung.tier, rung.model, *tokens, cost, rung.barred or "")
    out.print(table)
    if seen.prompt.note:
        out.print(seen.prompt.note)
