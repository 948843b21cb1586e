"""The parts of the page about single queries: the most different ones side by side, and all of them."""

from __future__ import annotations

from html import escape
from typing import Any

from planner.evaluation import wording
from planner.evaluation.markup import Numbers, section, table


def side_by_side(numbers: Numbers, at: int) -> str:
    """The queries on which the arms differ most, with each pick's factors (rule EVA-1.10)."""
    pair, pairs = numbers.report["pairs"][at], numbers.report["pairs"]
    texts = {query["id"]: query for query in numbers.report["queries"]}
    cards = [_card(numbers, at, n, texts[row["id"]]) for n, row in enumerate(pair["most_different"])]
    title = "Most different queries" + (f": {pair['a']} and {pair['b']}" if len(pairs) > 1 else "")
    order = "by the difference in nDCG, then by overlap" if numbers.report["about"]["labelled"] else "by overlap"
    note = f"<p class='small'>Ordered {order}. A badge is the gold grade; a bar shows what each factor adds.</p>"
    return section(f"different-{at}", title, note, *(cards or ["<p>All plans are the same.</p>"]))


def _card(numbers: Numbers, at: int, n: int, query: dict[str, Any]) -> str:
    path = ("pairs", at, "most_different", n)
    row = numbers.look_up(*path)
    measured = f"RBO {numbers.at(*path, 'rbo')}"
    if row["ndcg"][0] is not None:
        scores = (numbers.at(*path, "ndcg", side) for side in (0, 1))
        measured = f"nDCG {' and '.join(scores)} · {measured}"
    arms = "".join(_column(numbers, (*path, "picks", arm), arm, row, query) for arm in row["picks"])
    changes = "".join(_change(numbers, (*path, "changes", m), change) for m, change in enumerate(row["changes"]))
    lacking = f"<p class='small'>Only in one arm:</p><ul class='small'>{changes}</ul>" if changes else ""
    heading = f"<h3>{escape(query['id'])} <span class='small'>{measured}</span></h3>"
    text = f"<p class='query'>{escape(query['query'])}</p>"
    return f"<article>{heading}{text}<div class='pair'>{arms}</div>{lacking}</article>"


def _column(numbers: Numbers, path: tuple[str | int, ...], arm: str, row: dict[str, Any], query: dict[str, Any]) -> str:
    only = {change["channel"] for change in row["changes"] if change["only_in"] == arm}
    tallest = max((pick["score"] for picks in row["picks"].values() for pick in picks), default=1.0) or 1.0
    items = []
    for rank, pick in enumerate(numbers.look_up(*path)):
        grade = query["gold"].get(pick["channel"], 0) if query["gold"] else None
        badge = "" if grade is None else f"<span class='grade g{grade}' title='gold grade {grade}'>{grade}</span>"
        bars = "".join(
            f"<i class='f-{name}' style='width:{value / tallest * 100:.1f}%' title='{name} {value:+.3f}'></i>"
            for name, value in pick["parts"].items()
            if value > 0
        )
        score = numbers.at(*path, rank, "score", form=_two)
        kind = " class='only'" if pick["channel"] in only else ""
        group = escape(pick["group"].removeprefix("channels-"))
        items.append(
            f"<li{kind}><span class='pick'>{badge}<b>{escape(pick['channel'])}</b> {score}</span>"
            f"<span class='group'>{group}</span><span class='bar'>{bars}</span></li>"
        )
    of_groups = (*path[:-2], "groups", arm)
    groups = ", ".join(
        f"{escape(group['name'].removeprefix('channels-'))} {numbers.at(*of_groups, n, 'score', form=_two)}"
        for n, group in enumerate(numbers.look_up(*of_groups))
    )
    return f"<div><h4>{escape(arm)}</h4><p class='group'>groups: {groups}</p><ol>{''.join(items)}</ol></div>"


def _two(value: float) -> str:
    return f"{value:.2f}"


def _change(numbers: Numbers, path: tuple[str | int, ...], change: dict[str, Any]) -> str:
    factors = change["factors"]
    own, other = (numbers.at(*path, key, form=_two) for key in ("score", "score_elsewhere"))
    gaps = ", ".join(f"{name} {numbers.at(*path, 'factors', name, form=wording.signed)}" for name in factors)
    parts = (
        f" Score {own}, there {other}: {gaps}."
        if gaps
        else f" Both score it {own}: not the factors, the way of picking."
    )
    why = escape(change["why_not"])
    return f"<li><b>{escape(change['channel'])}</b> (only {escape(change['only_in'])}): {why}.{parts}</li>"


def every_query(numbers: Numbers) -> str:
    """All queries with both arms' picks; the head's buttons sort."""
    report = numbers.report
    arms, labelled = list(report["arms"]), bool(report["about"]["labelled"])
    rows = [_row(numbers, n, query, arms, labelled) for n, query in enumerate(report["queries"])]
    scores = [f"nDCG {escape(arm)}" for arm in arms] if labelled else []
    overlaps = ["RBO" if len(report["pairs"]) == 1 else f"RBO {escape(pair['b'])}" for pair in report["pairs"]]
    head = [f"<button type='button'>{name}</button>" for name in ("query", *scores, *overlaps, *map(escape, arms))]
    listing = table("All queries", head, rows, "all sortable")
    hidden = f"<details id='all'><summary>{len(rows)} queries</summary>{listing}</details>"
    return section("queries", "All queries", hidden)


def _row(numbers: Numbers, n: int, query: dict[str, Any], arms: list[str], labelled: bool) -> list[str]:
    name = f"<span id='q-{escape(query['id'])}'><b>{escape(query['id'])}</b> {escape(_short(query['query']))}</span>"
    scores = [_score(numbers, n, arm) for arm in arms] if labelled else []
    pairs = range(len(numbers.report["pairs"]))
    overlaps = [numbers.at("pairs", at, "per_query", query["id"], "rbo") for at in pairs]
    return [name, *scores, *overlaps, *(escape(", ".join(query["arms"][arm]["channels"])) for arm in arms)]


def _score(numbers: Numbers, n: int, arm: str) -> str:
    path = ("queries", n, "arms", arm, "labels")
    return numbers.at(*path, "ndcg") if "ndcg" in numbers.look_up(*path) else wording.NOTHING


def _short(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
