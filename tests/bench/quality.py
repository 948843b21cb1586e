"""How good the heuristic plan is: `python tests/bench/quality.py [--cv] [--curve] [--queries FILE] [--json]`.

Prints nDCG@8, the recall of grade-3 channels and the group F1 of the full planner (mode deep, every key set) on the
development queries, beside the same relevances ranked flat, popularity, BM25 over the cards and chance; then by
language and by query shape. The scorer is fitted anew without the queries it is measured on. `--cv` measures on the
training queries by 5-fold cross-validation instead; `--curve` fits on growing parts of them.

nDCG: linear gain, log2 discount, ideal over all gold. recall3: over queries with a grade-3 channel. Both by
ir_measures. Group F1: listed groups against gold_groups, per query, then the mean.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.catalog.compiling import read_examples
from planner.catalog.features import features_of
from planner.catalog.fit import Example, fit
from planner.catalog.model import Catalog
from planner.catalog.pages import read_pages
from planner.catalog.scorer import scorer_from
from planner.pipeline import Planner

ROOT = Path(__file__).parents[2]
DEV = ROOT / "tests" / "data" / "channel-queries-dev.jsonl"
DEPTH = 8
FOLDS = 5
SIZES = (80, 160, 320, 640, 1280, 2560)

Row = Mapping[str, Any]
Ranking = Sequence[str]
Ranker = Callable[[Row], tuple[Ranking, Sequence[str] | None]]  # channels, and groups where it picks any


class Bench:
    """A planner with every key set, whose scorer can be fitted on any examples."""

    def __init__(self) -> None:
        plain = Planner(env={})
        keys = {name: "set" for leaf in plain.catalog.leaves for name in leaf.auth.required}
        self.planner = Planner(env=keys, settings={"judge": {"default": "heuristic"}})
        self._features: dict[str, Any] = {}

    @property
    def catalog(self) -> Catalog:
        return self.planner.catalog

    def features(self, query: str) -> Any:
        if query not in self._features:
            self._features[query] = features_of(self.catalog.read(query))
        return self._features[query]

    def learn(self, rows: Iterable[Row]) -> None:
        """Fit the planner's scorer on these rows."""
        examples = [Example(self.features(r["query"]), r["gold"], r["gold_groups"]) for r in rows]
        record = fit(examples, self.catalog.leaves, self.catalog.groups)
        self.planner._catalog = replace(self.catalog, scorer=scorer_from(record, self.catalog.leaves))

    def planned(self, row: Row) -> tuple[Ranking, Sequence[str]]:
        plan = self.planner.select(row["query"], {"mode": "deep"})
        return [c.channel for c in plan.channels], [g.name for g in plan.groups]

    def flat(self, row: Row) -> tuple[Ranking, None]:
        """The scorer's relevances without groups, named channels first."""
        named = self.catalog.read(row["query"]).named
        relevance = self.catalog.scorer.relevance(self.features(row["query"]))
        pairs = zip(relevance, (leaf.channel for leaf in self.catalog.leaves), strict=True)
        return [c for _, c in sorted(pairs, key=lambda rc: (rc[1] not in named, -rc[0]))][:DEPTH], None


def popularity(rows: Sequence[Row]) -> Ranker:
    total: dict[str, float] = defaultdict(float)
    for row in rows:
        for channel, grade in row["gold"].items():
            total[channel] += grade
    best = sorted(total, key=lambda c: (-total[c], c))[:DEPTH]
    return lambda row: (best, None)


def chance(catalog: Catalog) -> Ranker:
    channels = [leaf.channel for leaf in catalog.leaves]
    return lambda row: (random.Random(row["query"]).sample(channels, DEPTH), None)


def bm25(catalog: Catalog) -> Ranker:
    """BM25 over name, description, aliases, triggers and examples of each card; words and CJK bigrams."""
    from rank_bm25 import BM25Okapi

    draft = read_pages(catalog.root)
    channels = [leaf.channel for leaf in draft.leaves]
    cards = [
        " \n ".join(
            (leaf.channel, leaf.description, *leaf.aliases, *leaf.triggers, *draft.examples.get(leaf.channel, ()))
        )
        for leaf in draft.leaves
    ]
    index = BM25Okapi([_tokens(catalog, text) for text in cards])

    def rank(row: Row) -> tuple[Ranking, None]:
        scores = index.get_scores(_tokens(catalog, row["query"]))
        return sorted(channels, key=lambda c: -scores[channels.index(c)])[:DEPTH], None

    return rank


def _tokens(catalog: Catalog, text: str) -> list[str]:
    found = features_of(replace(catalog.lexicon.read(text[:20]), text=" ".join(text.casefold().split()), query=text))
    return [g for g in found.latin if " " not in g and "~" not in g] + [g for g in found.cjk if len(g) == 2]


def measured(rows: Sequence[Row], rank: Ranker) -> list[dict[str, float]]:
    """ndcg, recall3 (absent without a grade-3 channel) and f1 (absent without groups) of each row."""
    from ir_measures import Qrel, R, ScoredDoc, iter_calc, nDCG

    ranked = [rank(row) for row in rows]
    qrels = [Qrel(str(n), c, int(g)) for n, row in enumerate(rows) for c, g in row["gold"].items()]
    run = [ScoredDoc(str(n), c, float(-k)) for n, (channels, _) in enumerate(ranked) for k, c in enumerate(channels)]
    results: list[dict[str, float]] = [{} for _ in rows]
    for metric in iter_calc([nDCG @ DEPTH, R(rel=3) @ DEPTH], qrels, run):
        row = rows[int(metric.query_id)]
        key = "ndcg" if metric.measure == nDCG @ DEPTH else "recall3"
        if key == "ndcg" or max(row["gold"].values()) >= 3:
            results[int(metric.query_id)][key] = metric.value
    for result, row, (_, groups) in zip(results, rows, ranked, strict=True):
        if groups is not None:
            both = len(set(groups) & set(row["gold_groups"]))
            result["f1"] = 2 * both / (len(groups) + len(row["gold_groups"]))
    return results


def means(results: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean of each metric over the queries that have it."""
    values: dict[str, list[float]] = defaultdict(list)
    for result in results:
        for key, value in result.items():
            values[key].append(value)
    return {key: sum(found) / len(found) for key, found in values.items()}


def unlike(rows: Iterable[Row], seen: Iterable[Row]) -> list[Row]:
    """The rows whose query is not among `seen`."""
    known = {row["query"].strip() for row in seen}
    return [row for row in rows if row["query"].strip() not in known]


def on_queries(bench: Bench, training: Sequence[Row], rows: Sequence[Row]) -> dict[str, list[dict[str, float]]]:
    bench.learn(training)
    rankers: dict[str, Ranker] = {
        "planner": bench.planned,
        "flat": bench.flat,
        "popularity": popularity(training),
        "bm25": bm25(bench.catalog),
        "random": chance(bench.catalog),
    }
    return {name: measured(rows, rank) for name, rank in rankers.items()}


def cross_validated(bench: Bench, rows: Sequence[Row]) -> tuple[list[Row], dict[str, list[dict[str, float]]]]:
    """Every training query measured by a scorer fitted without its fold."""
    order = list(rows)
    random.Random(0).shuffle(order)
    done: list[Row] = []
    found: dict[str, list[dict[str, float]]] = {"planner": [], "flat": []}
    for fold in range(FOLDS):
        held = order[fold::FOLDS]
        bench.learn(unlike(order, held))
        done += held
        found["planner"] += measured(held, bench.planned)
        found["flat"] += measured(held, bench.flat)
    return done, found


def curve(bench: Bench, training: Sequence[Row], rows: Sequence[Row]) -> dict[int, dict[str, float]]:
    """Planner figures by number of training queries, drawn at random once."""
    order = list(training)
    random.Random(0).shuffle(order)
    found = {}
    for size in sorted({*(s for s in SIZES if s < len(order)), len(order)}):
        bench.learn(order[:size])
        found[size] = means(measured(rows, bench.planned))
    return found


def by(key: str, rows: Sequence[Row], results: Sequence[dict[str, float]]) -> dict[str, dict[str, float]]:
    parts: dict[str, list[dict[str, float]]] = defaultdict(list)
    for row, result in zip(rows, results, strict=True):
        parts[str(row[key])].append(result)
    return {name: {"queries": len(part), **means(part)} for name, part in sorted(parts.items())}


def table(title: str, lines: Mapping[Any, Mapping[str, float]]) -> str:
    head = f"{title:<18}{'queries':>8}{'nDCG@8':>9}{'recall3':>9}{'group F1':>10}"
    body = [
        f"{name!s:<18}" + "".join(_cell(values.get(key), width) for key, width in _COLUMNS)
        for name, values in lines.items()
    ]
    return "\n".join([head, *body, ""])


_COLUMNS = (("queries", 8), ("ndcg", 9), ("recall3", 9), ("f1", 10))


def _cell(value: float | None, width: int) -> str:
    text = "" if value is None else f"{value:d}" if isinstance(value, int) else f"{value:.3f}"
    return f"{text:>{width}}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--queries", type=Path, default=DEV, help="graded queries, one JSON object a line")
    options.add_argument("--cv", action="store_true", help="cross-validate over the training queries instead")
    options.add_argument("--curve", action="store_true", help="the learning curve too")
    options.add_argument("--json", action="store_true", help="one JSON object")
    given = options.parse_args()
    bench, rows = Bench(), read_examples(given.queries)
    training = unlike(read_examples(bench.catalog.root / "examples.jsonl"), read_examples(DEV) + rows)
    if given.cv:
        rows, found = cross_validated(bench, training)
    else:
        found = on_queries(bench, training, rows)
    report: dict[str, Any] = {
        "ranking": {name: {"queries": len(rows), **means(results)} for name, results in found.items()},
        "language": by("lang", rows, found["planner"]),
        "query shape": by("query_shape", rows, found["planner"]),
    }
    if given.curve and not given.cv:
        report["trained on"] = curve(bench, training, rows)
    print(json.dumps(report) if given.json else "\n".join(table(name, lines) for name, lines in report.items()))


if __name__ == "__main__":
    main()
