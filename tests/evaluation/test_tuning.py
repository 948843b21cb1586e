import json
import math
from dataclasses import replace
from types import SimpleNamespace

import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.evaluation.queries import read_queries
from planner.evaluation.tuning import Effort, best_share, found_on, parts, tune, verdict
from planner.evaluation.tuning_examples import Examples, examples_of
from planner.evaluation.tuning_space import (
    NUMBERS,
    TABLES,
    as_parameters,
    base_point,
    between,
    rounded,
    search,
    suggest,
    with_point,
)  # fmt: skip
from planner.settings import default_settings

BASE = base_point(default_settings())
ALL = {table: tuple(BASE[table]) for table in TABLES}
SMALL = Effort(folds=2, trials=3, seed=1)
unit = st.floats(0, 1)


def silent(_text):
    """Nobody looks."""


@pytest.fixture(scope="module")
def examples(catalog, all_keys):
    """Questions whose gold is one group, and its most useful channel."""
    rows = []
    for group in catalog.groups:
        for leaf in catalog.members[group.name][:2]:
            query = f"{' '.join(leaf.triggers[:2])} {leaf.description[:60]}"
            rows.append({"id": leaf.channel, "query": query, "gold": {leaf.channel: 3}, "gold_groups": [group.name]})
    unique = {row["id"]: row for row in rows}
    content = "\n".join(json.dumps(row) for row in [*unique.values(), {"id": "unlabelled", "query": "x"}])
    lines, bad = read_queries(content.encode())
    assert not bad
    return examples_of(lines, catalog, default_settings(), all_keys)


@st.composite
def points(draw):
    def simplex(names):
        values = draw(st.lists(st.floats(0.01, 1), min_size=len(names), max_size=len(names)))
        return {name: value / math.fsum(values) for name, value in zip(names, values, strict=True)}

    numbers = {name: draw(st.floats(low, high)) for name, (low, high) in NUMBERS.items()}
    return numbers | {table: simplex(BASE[table]) for table in TABLES}


@pytest.mark.rule("EVA-3.1")
@given(points(), points(), unit)
def test_weights_stay_on_their_simplex_on_the_way_and_when_written(one, other, share):
    point = rounded(between(one, other, share))
    settings = with_point(default_settings(), point)
    assert settings.selection.group_threshold == point["group_threshold"]
    for table in TABLES:
        assert math.fsum(point[table].values()) == pytest.approx(1, abs=1e-12)
        assert min(point[table].values()) >= 0


@pytest.mark.rule("EVA-3.1")
@given(points())
def test_the_search_can_begin_anywhere(point):
    again = suggest(optuna.trial.FixedTrial(as_parameters(point, ALL)), point, ALL)
    for name in NUMBERS:
        assert again[name] == pytest.approx(point[name])
    for table in TABLES:
        assert again[table] == pytest.approx(point[table], abs=1e-6)


@pytest.mark.rule("EVA-3.1")
def test_a_search_finds_a_known_best_and_the_same_with_the_same_seed():
    def objective(point):
        return -abs(point["group_threshold"] - 0.6) - abs(point["leaf_weights"]["scenario"] - 0.5)

    found = search(objective, BASE, ALL, 60, 3)
    assert objective(found) > objective(BASE) / 2
    assert search(objective, BASE, ALL, 60, 3) == found
    assert objective(search(objective, BASE, ALL, 1, 3)) == pytest.approx(objective(BASE))


@pytest.mark.rule("EVA-3.3")
def test_only_weights_that_the_queries_inform_are_tuned(examples, catalog, all_keys):
    assert examples.informed["group_weights"] == ("domain", "scenario", "language")
    assert set(examples.informed["leaf_weights"]) <= {"scenario", "keyword"}
    point, _ = found_on(sorted(examples.by_id), examples, rounded(BASE), SMALL, 1)
    for name in ("priority", "recency"):
        assert point["group_weights"][name] == pytest.approx(BASE["group_weights"][name], abs=1e-4)
    keyless = examples_of([each.line for each in examples.by_id.values()], catalog, default_settings(), {})
    assert "auth" in keyless.informed["leaf_weights"]


@pytest.mark.rule("EVA-3.2")
def test_no_search_sees_a_query_it_is_measured_on(examples):
    class Watching(Examples):
        def values(self, point, ids):
            seen[-1].update(ids)
            return super().values(point, ids)

    seen = [set()]
    watching = Watching(examples.settings, examples.by_id)
    tuned = tune(watching, SMALL, lambda _text: seen.append(set()))
    assert sorted(name for fold in tuned.folds for name in fold.ids) == sorted(examples.by_id)
    for fold, searched in zip(tuned.folds, seen[1:], strict=False):
        assert searched == set(examples.by_id) - set(fold.ids)


@pytest.mark.rule("EVA-3.6")
def test_where_nothing_holds_on_inner_folds_the_numbers_are_kept(examples, monkeypatch):
    blind = {table: dict.fromkeys(BASE[table], 0.0) for table in TABLES}
    blind["group_weights"]["language"] = blind["leaf_weights"]["auth"] = 1.0
    worst = rounded(BASE) | blind
    monkeypatch.setattr("planner.evaluation.tuning.search", lambda *_: worst)
    ids = sorted(examples.by_id)
    assert best_share(ids, examples, rounded(BASE), SMALL, 1) == 0
    assert found_on(ids, examples, rounded(BASE), SMALL, 1) == (rounded(BASE), 0)


@pytest.mark.rule("EVA-3.5")
def test_the_report_gives_before_and_after_and_what_the_difference_means(examples):
    report = tune(examples, SMALL, silent).report()
    assert report["queries"] == len(examples.by_id)
    assert report["before"].keys() == report["after"].keys() >= {"ndcg", "group_f1", "recall3", "aim"}
    difference = report["difference"]
    assert difference["aim"] == pytest.approx(report["after"]["aim"] - report["before"]["aim"])
    assert json.loads(json.dumps(report))["folds"][0]["queries"] + report["folds"][1]["queries"] == report["queries"]


@pytest.mark.rule("EVA-3.5")
@pytest.mark.parametrize(
    ("low", "high", "share", "said"),
    [
        (None, None, 1, "too few"), (0.1, 0.2, 1, "better by 0.1500"), (-0.2, -0.1, 1, "worse"),
        (-0.1, 0.1, 1, "chance"), (0.1, 0.2, 0, "kept"),
    ],
)  # fmt: skip
def test_the_verdict(low, high, share, said):
    assert said in verdict(0.15 if (low or 0) >= 0 else -0.15, low, high, share)


@pytest.mark.parametrize(
    ("effort", "field"), [(Effort(folds=1), "--folds"), (Effort(trials=0), "--trials"), (Effort(folds=50), "QUERIES")]
)
def test_an_effort_that_makes_no_sense_is_refused(examples, effort, field):
    with pytest.raises(InputError) as refused:
        tune(examples, effort, silent)
    assert refused.value.field == field


def test_parts_hold_everything_once():
    ids = [str(n) for n in range(11)]
    found = parts(ids, 3, seed=4)
    assert sorted(name for part in found for name in part) == sorted(ids)
    assert {len(part) for part in found} == {3, 4}
    assert parts(ids, 3, seed=4) == found != parts(ids, 3, seed=5)


def test_queries_without_labels_alone_are_refused(catalog):
    lines = [SimpleNamespace(gold={}, gold_groups=())]
    with pytest.raises(InputError, match="labelled queries"):
        examples_of(lines, catalog, default_settings(), {})


def test_scores_are_those_of_the_planner_itself(examples, env):
    from planner.evaluation.metrics import label_scores
    from planner.pipeline import Planner

    point = rounded(BASE) | {"group_threshold": 0.2, "named_damping": 0.3}
    planner = Planner(env=env, settings=with_point(default_settings(), point))
    ids = sorted(examples.by_id)[:8]
    lines = {name: replace(examples.by_id[name].line) for name in ids}
    plans = {name: planner.select(lines[name].request) for name in ids}
    expected = label_scores(
        {name: lines[name].gold for name in ids}, {name: lines[name].gold_groups for name in ids},
        {name: [pick.channel for pick in plans[name].channels] for name in ids},
        {name: [group.name for group in plans[name].groups] for name in ids}, 8,
    )  # fmt: skip
    assert examples.scores(point, ids) == expected
