"""Names, numbers and sentences of a report, the same on the terminal and on the page."""

from __future__ import annotations

from typing import Any

NOTHING = "–"
_NAMES = {
    "ndcg": "nDCG@{k}",
    "recall": "Recall@{k}",
    "recall3": "Recall3",
    "precision": "Precision@{k}",
    "reciprocal_rank": "Reciprocal rank",
    "group_f1": "Group F1",
    "jaccard": "Jaccard@{k}",
    "rbo": "Rank-biased overlap",
    "kendall_tau": "Kendall's tau-b",
    "top_one": "Same first pick",
    "groups": "Same groups",
}
PROMISES = {
    "quota": "Chinese quota met",
    "never_empty": "Never empty",
    "channel_cap": "Channel cap kept",
    "group_cap": "Group cap kept",
    "cost_cap": "Cost cap kept",
    "skips_and_languages": "Skips and languages kept",
    "no_channel_twice": "No channel twice",
    "groups_fit_picks": "Groups fit picks",
}


def metric(name: str, report: dict[str, Any]) -> str:
    """What a metric is called."""
    return _NAMES[name].format(k=report["about"]["k"])


def number(value: float | None) -> str:
    """Three decimals."""
    return NOTHING if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Three decimals and a sign; none for what rounds to 0."""
    if value is None:
        return NOTHING
    return f"{value:+.3f}".replace("-", "−") if abs(value) >= 0.0005 else "0.000"


def interval(row: dict[str, Any]) -> str:
    """Both ends, or a dash where there are too few queries."""
    form = signed if "difference" in row else number
    return NOTHING if row["low"] is None else f"{form(row['low'])} to {form(row['high'])}"


def count(value: float | None) -> str:
    """A whole number with thin groups."""
    return "unknown" if value is None else f"{value:,.0f}".replace(",", "\u202f")


def dollars(value: float | None) -> str:
    """US dollars."""
    return "unknown" if value is None else f"{value:.4f}"


def share(value: float) -> str:
    """A share in per cent; 100 only when it is all."""
    text = f"{value * 100:.1f}"
    return f"{'99.9' if text == '100.0' and value < 1 else text.removesuffix('.0')} %"


def headline(report: dict[str, Any]) -> str:
    """What was compared on how much."""
    about, arms = report["about"], " and ".join(report["arms"])
    gold = f"{about['labelled']} with gold" if about["labelled"] else "none with gold"
    return f"{arms} on {about['queries']} queries, {gold}. Differences: first arm minus the other."


def verdict(pair: dict[str, Any], report: dict[str, Any]) -> str:
    """The first metric's outcome in a sentence."""
    row = pair["labels"]["ndcg"]
    name = metric("ndcg", report)
    if row["difference"] is None:
        return f"No gold in the file: how alike {pair['a']} and {pair['b']} are, not which is better."
    if row["p_holm"] is None:
        return f"Too few queries to say whether {pair['a']} and {pair['b']} differ in {name}."
    if row["p_holm"] > 0.05:
        return f"No difference in {name} between {pair['a']} and {pair['b']} could be shown."
    better, worse = (pair["a"], pair["b"]) if row["difference"] > 0 else (pair["b"], pair["a"])
    return f"{better} is better than {worse} in {name}."


def remarks(report: dict[str, Any]) -> list[str]:
    """What a reader must know before believing the numbers."""
    about, found = report["about"], []
    if about["answers"]["source"] != "live":
        answers = about["answers"]
        found.append(f"The model answers are {answers['source']}: {answers['file']}, by {answers['answered_by']}.")
        if answers["source"] == "replayed":
            found.append("Times are those of the replay, not of the models.")
    if about["bad_lines"]:
        numbers = ", ".join(str(bad["line"]) for bad in about["bad_lines"][:10])
        more = ", …" if len(about["bad_lines"]) > 10 else ""
        found.append(f"{len(about['bad_lines'])} bad line(s) were skipped: {numbers}{more}.")
    if about["too_few"]:
        found.append(about["too_few"])
    if about["unknown_gold"]:
        found.append(f"The gold names what the catalog lacks: {', '.join(about['unknown_gold'])}.")
    for name, arm in report["arms"].items():
        if arm["cost"]["degraded"] == 1:
            found.append(f"Every plan of {name} fell back: what is measured is {', '.join(arm['cost']['answered'])}.")
    return found
