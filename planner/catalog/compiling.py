"""A catalog folder → its compiled record: with a scorer fitted on graded examples, or with one that needs none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from planner.catalog.compiled import FORMAT, group_records, leaf_records, stamp, version_of
from planner.catalog.features import features_of
from planner.catalog.intents import Intents, intents_record
from planner.catalog.lexicon import Lexicon
from planner.catalog.model import Leaf
from planner.catalog.pages import Draft, read_pages
from planner.catalog.postings import Card, postings_record

EXAMPLES = "examples.jsonl"
GRADES = 3.0


def compiled_record(draft: Draft) -> dict[str, Any]:
    """The record a build writes: fitted where the folder has graded examples (needs the extra `build`)."""
    graded = read_examples(draft.root / EXAMPLES)
    scorer = _fitted(draft, graded) if graded else _unfitted(draft)
    return _record(draft, scorer, _priors(draft.leaves, graded))


def recompiled(root: Path, old: Mapping[str, Any] | None) -> dict[str, Any]:
    """A record made in memory where the file is missing or stale; a scorer fitted earlier on these leaves serves on."""
    draft = read_pages(root)
    scorer = (old or {}).get("scorer") or {}
    if scorer.get("channels") != [leaf.channel for leaf in draft.leaves]:
        scorer = _unfitted(draft)
    return _record(draft, scorer, _old_priors(old))


def _record(draft: Draft, scorer: Mapping[str, Any], priors: Mapping[str, float]) -> dict[str, Any]:
    record: dict[str, Any] = {
        "format": FORMAT,
        "groups": group_records(draft.groups),
        "leaves": leaf_records(draft.leaves, priors),
        "cues": asdict(draft.cues),
        "intents": intents_record(draft.intents),
        "scorer": dict(scorer),
        "warnings": [_told(problem, draft) for problem in draft.problems],
    }
    record["version"] = version_of(record)
    record["stamp"] = stamp(draft.root)
    return record


def _told(problem: Any, draft: Draft) -> str:
    """The problem with its path from the catalog's folder on: the record must not depend on where that lies."""
    return str(replace(problem, path=problem.path.relative_to(draft.root)))


def read_examples(path: Path) -> list[dict[str, Any]]:
    """Graded queries, one JSON object a line: query, gold {channel: grade 1..3}, gold_groups."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _fitted(draft: Draft, graded: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    from planner.catalog.fit import Example, fit

    lexicon, intents = _readers(draft)
    examples = []
    for row in graded:
        reading = lexicon.read(str(row["query"]))
        features = features_of(replace(reading, **intents.read(reading)))
        examples.append(Example(features, row["gold"], row["gold_groups"]))
    return fit(examples, draft.leaves, draft.groups)


def _readers(draft: Draft) -> tuple[Lexicon, Intents]:
    return Lexicon(draft.groups, draft.leaves, draft.cues), Intents(intents_record(draft.intents))


def _unfitted(draft: Draft) -> dict[str, Any]:
    cards = [Card(leaf, draft.examples.get(leaf.channel, ())) for leaf in draft.leaves]
    return postings_record(cards)


def _priors(leaves: Iterable[Leaf], graded: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Mean grade / 3 of each leaf over the examples: what is known of it before a query is read."""
    if not graded:
        return {}
    total = {leaf.channel: sum(row["gold"].get(leaf.channel, 0) for row in graded) for leaf in leaves}
    return {channel: round(grade / GRADES / len(graded), 4) for channel, grade in total.items() if grade}


def _old_priors(old: Mapping[str, Any] | None) -> dict[str, float]:
    return {row["channel"]: row["prior"] for row in (old or {}).get("leaves", ()) if "prior" in row}
