"""The report as one self-contained page: the JSON's numbers, plots, the queries that differ most. No network."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import Any

from planner.evaluation import charts, metrics, statistics, wording
from planner.evaluation.comparison import LABELS
from planner.evaluation.costs import latency_ms
from planner.evaluation.markup import Form, Numbers, figure, grid, section, table
from planner.evaluation.report_queries import every_query, side_by_side

_TESTED: dict[str, Form] = {
    "a": wording.number,
    "b": wording.number,
    "difference": wording.signed,
    "interval": wording.number,
    "p_holm": wording.number,
    "n": str,
}
_COSTS: dict[str, Form] = {
    "latency_p50_ms": wording.number,
    "latency_p95_ms": wording.number,
    "tokens_in": wording.count,
    "tokens_out": wording.count,
    "cost_usd": wording.dollars,
    "degraded": wording.share,
    "cached": wording.share,
}
_AGREEMENT = (
    metrics.jaccard,
    metrics.rank_biased_overlap,
    metrics.kendall_tau,
    metrics.top_one,
    metrics.group_agreement,
)
_STATISTICS = (statistics.bootstrap_interval, statistics.permutation_p, statistics.holm, statistics.percentile)


def page(report: dict[str, Any]) -> str:
    """The whole page (rule EVA-1.12)."""
    numbers = Numbers(report)
    parts = [_summary(numbers)]
    for at in range(len(report["pairs"])):
        parts += [_quality(numbers, at), _agreement(numbers, at), _slices(numbers, at), side_by_side(numbers, at)]
    parts += [_cost(numbers), _promises(numbers), every_query(numbers), _definitions(report)]
    template = Template((Path(__file__).parent / "report.html").read_text("utf-8"))
    return template.substitute(title=escape(" vs ".join(report["arms"])), body="".join(parts))


def _summary(numbers: Numbers) -> str:
    report = numbers.report
    verdicts = "".join(_verdict(numbers, at) for at in range(len(report["pairs"])))
    notes = "".join(f'<p class="note">{escape(line)}</p>' for line in wording.remarks(report))
    facts = [
        ("Queries", numbers.at("about", "queries", form=str)),
        ("with gold", numbers.at("about", "labelled", form=str)),
        ("k", numbers.at("about", "k", form=str)),
        ("Answers", escape(report["about"]["answers"]["source"])),
        ("Digests as of", escape(report["about"]["today"])),
        ("Catalog", f"<code>{escape(report['about']['catalog_version'][:19])}</code>"),
    ]
    arms = [
        (
            f'<span class="key arm{at % 4}"></span>{escape(name)}',
            *map(escape, (arm["judge"], ", ".join(arm["settings"]))),
        )
        for at, (name, arm) in enumerate(report["arms"].items())
    ]
    listed = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    return f"{verdicts}{notes}<dl>{listed}</dl>" + table("Arms", ("arm", "judge", "settings from"), arms, "words")


def _verdict(numbers: Numbers, at: int) -> str:
    row, path = numbers.look_up("pairs", at, "labels", "ndcg"), ("pairs", at, "labels", "ndcg")
    text = escape(wording.verdict(numbers.report["pairs"][at], numbers.report))
    if row["low"] is not None:
        gap = numbers.at(*path, "difference", form=wording.signed)
        text += f" Difference {gap}, 95 % interval {numbers.interval(*path)}, p {numbers.at(*path, 'p_holm')}."
    return f'<p class="verdict">{text}</p>'


def _name(numbers: Numbers, at: int, title: str) -> str:
    pairs = numbers.report["pairs"]
    return title if len(pairs) == 1 else f"{title}: {pairs[at]['a']} and {pairs[at]['b']}"


def _tested(numbers: Numbers, *path: str | int) -> list[str]:
    return [
        numbers.interval(*path) if key == "interval" else numbers.at(*path, key, form=form)
        for key, form in _TESTED.items()
    ]


def _quality(numbers: Numbers, at: int) -> str:
    report, pair = numbers.report, numbers.report["pairs"][at]
    if not report["about"]["labelled"]:
        return section(f"plots-{at}", _name(numbers, at, "Plots"), grid(_plots(numbers, at)))
    head = ("metric", escape(pair["a"]), escape(pair["b"]), "difference", "95 % interval", "p (Holm)", "n")
    rows = [[wording.metric(name, report), *_tested(numbers, "pairs", at, "labels", name)] for name in LABELS]
    named = {wording.metric(name, report): row for name, row in pair["labels"].items()}
    plots = [figure("Mean differences and 95 % intervals", charts.forest(named)), *_plots(numbers, at)]
    listing = table("Means over queries", head, rows)
    return section(f"labels-{at}", _name(numbers, at, "Against labels"), listing, grid(plots))


def _plots(numbers: Numbers, at: int) -> list[str]:
    report, pair = numbers.report, numbers.report["pairs"][at]
    a, b = pair["a"], pair["b"]
    points, what = _points(report, a, b)
    gaps = {query: one - other for query, (one, other) in points.items()}
    parts = {arm: report["arms"][arm]["contributions"] for arm in (a, b)}
    legend = "".join(f'<span class="keep"><span class="key f-{name}"></span>{name}</span> ' for name in parts[a])
    times = {arm: [query["arms"][arm]["latency_ms"] for query in report["queries"]] for arm in (a, b)}
    lines = "".join(f'<span class="key arm{n}"></span>{escape(arm)} ' for n, arm in enumerate(times))
    return [
        figure(f"{what}, difference per query", charts.difference_bars(gaps, a, b)),
        figure(f"{what} of each query", charts.scatter(points, a, b), "On the dashed line both arms score the same."),
        figure("Factors: weight × factor, mean over picks", charts.factor_bars(parts), legend),
        figure("Latency: share of plans that were done", charts.latency(times), lines),
    ]


def _points(report: dict[str, Any], a: str, b: str) -> tuple[dict[str, tuple[float, float]], str]:
    labelled = report["about"]["labelled"]

    def value(arm: dict[str, Any]) -> float | None:
        return arm["labels"].get("ndcg") if labelled else statistics.mean(arm["scores"])

    found = {query["id"]: (value(query["arms"][a]), value(query["arms"][b])) for query in report["queries"]}
    points = {query: (one, other) for query, (one, other) in found.items() if one is not None and other is not None}
    return points, wording.metric("ndcg", report) if labelled else "Mean score of the picks"


def _agreement(numbers: Numbers, at: int) -> str:
    pair = numbers.report["pairs"][at]
    rows = [
        [
            wording.metric(name, numbers.report),
            numbers.at("pairs", at, "agreement", name, "mean"),
            numbers.interval("pairs", at, "agreement", name),
            numbers.at("pairs", at, "agreement", name, "n", form=str),
        ]
        for name in pair["agreement"]
    ]
    head = ("measure", "mean", "95 % interval", "n")
    return section(f"agreement-{at}", _name(numbers, at, "Agreement"), table("How alike the plans are", head, rows))


def _slices(numbers: Numbers, at: int) -> str:
    report, pair = numbers.report, numbers.report["pairs"][at]
    shown = LABELS if report["about"]["labelled"] else ()
    head = ("n", escape(pair["a"]), escape(pair["b"]), "difference", "95 % interval", "p (Holm)", "paired", "Jaccard")
    parts = []
    for metric in shown or ("",):
        top = head if metric else ("n", "Jaccard")
        tables = "".join(
            table(f"By {kind}", (kind, *top), _slice_rows(numbers, at, kind, metric)) for kind in pair["slices"]
        )
        name = wording.metric(metric, report) if metric else "Agreement"
        parts.append(f"<details{' open' if metric in ('ndcg', '') else ''}><summary>{name}</summary>{tables}</details>")
    note = f"<p class='small'>No interval and no test below {statistics.FEWEST} paired queries: too few.</p>"
    return section(f"slices-{at}", _name(numbers, at, "By language, mode and shape"), note, *parts)


def _slice_rows(numbers: Numbers, at: int, kind: str, metric: str) -> list[list[str]]:
    rows = []
    for n, row in enumerate(numbers.report["pairs"][at]["slices"][kind]):
        path = ("pairs", at, "slices", kind, n)
        tested = _tested(numbers, *path, "labels", metric) if metric else []
        alike = numbers.at(*path, "agreement", "jaccard")
        rows.append([escape(row["name"]), numbers.at(*path, "n", form=str), *tested, alike])
    return rows


def _cost(numbers: Numbers) -> str:
    rows, why = [], []
    for name, arm in numbers.report["arms"].items():
        cells = [numbers.at("arms", name, "cost", key, form=form) for key, form in _COSTS.items()]
        rows.append([escape(name), *cells])
        for reason in arm["cost"]["why"]:
            times = numbers.at("arms", name, "cost", "why", reason, form=str)
            why.append(f"<li>{escape(name)}, {times} plan(s): {escape(reason)}</li>")
    head = ("arm", "p50 ms", "p95 ms", "tokens in", "tokens out", "US dollars", "degraded", "cached")
    reasons = f"<h3>Why plans fell back</h3><ul>{''.join(why)}</ul>" if why else ""
    return section("cost", "Cost of planning", table("All queries together", head, rows), reasons)


def _promises(numbers: Numbers) -> str:
    arms = list(numbers.report["arms"])
    rows = [
        [title, *(numbers.at("arms", arm, "invariants", key, form=wording.share) for arm in arms)]
        for key, title in wording.PROMISES.items()
    ]
    note = "<p class='small'>Each must be 100 %. The group cap does not bind the flat arm, which has no groups.</p>"
    listing = table("Share of plans that keep them", ("promise", *map(escape, arms)), rows)
    return section("promises", "Promises", listing, note)


def _definitions(report: dict[str, Any]) -> str:
    measured = {**metrics.OF_CHANNELS, **metrics.OF_GROUPS}
    documented = [*measured.values(), *_AGREEMENT, *_STATISTICS, latency_ms]
    items = "".join(f"<li>{escape(' '.join((f.__doc__ or '').split()))}</li>" for f in documented)
    seed = f"Seed {report['about']['seed']}, {report['about']['resamples']} resamples."
    return section("definitions", "Definitions", f"<p class='small'>{seed}</p><ul class='small'>{items}</ul>")
