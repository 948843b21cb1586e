import json

import pytest

from planner.channels.model import ChannelPlan
from planner.errors import InputError
from planner.evaluation.ab import Inquiry, run
from planner.evaluation.arms import Arm, build_arms
from planner.evaluation.journal import Journal
from planner.evaluation.seeing import SeeingPlanner
from tests.evaluation.small_ab import CHINESE, ENGLISH, ROWS, TODAY, compare, lines_of


@pytest.fixture(scope="module")
def planner(all_keys, tmp_path_factory):
    return SeeingPlanner(env={**all_keys, "HOME": str(tmp_path_factory.mktemp("home"))})


@pytest.fixture(scope="module")
def report(planner, tmp_path_factory):
    return compare(planner, tmp_path_factory.mktemp("ab"))


class Stopping:
    """A planner that counts what it is asked, and dies at the n-th question as a killed process would."""

    def __init__(self, planner, dies_at=None):
        self.catalog, self.settings, self.env = planner.catalog, planner.settings, planner.env
        self._planner, self._dies_at, self.asked = planner, dies_at, []

    def factors(self):
        return self._planner.factors()

    def select(self, request, **options):
        if len(self.asked) == self._dies_at:
            raise KeyboardInterrupt
        self.asked.append(request.query)
        return self._planner.select(request, **options)


def inquiry_of(*planners):
    arms = [Arm(name, planner, "heuristic") for name, planner in zip("ab", planners, strict=False)]
    return Inquiry(lines_of(ROWS[:6]), [], arms, 8, 1)


@pytest.mark.rule("EVA-1.8")
def test_an_interrupted_run_goes_on_without_asking_twice(planner, tmp_path):
    whole = run(inquiry_of(planner, planner), Journal(tmp_path / "whole", {}), TODAY)
    dying = Stopping(planner, dies_at=7)  # in the middle of the fourth query
    with pytest.raises(KeyboardInterrupt):
        run(inquiry_of(dying, dying), Journal(tmp_path, {}), TODAY)
    journal = Journal(tmp_path, {})
    with journal.path.open("ab") as file:
        file.write(b'{"id": "cut off in the midd')
    journal.resume()
    assert len(journal.finished) == 3
    second = Stopping(planner)
    resumed = run(inquiry_of(second, second), journal, TODAY)
    assert len(second.asked) == 6
    assert not set(second.asked) & set(dying.asked[:6])
    assert without_times(resumed) == without_times(whole)
    again = Journal(tmp_path, {})
    again.resume()
    assert len(again.finished) == 6


def without_times(report):
    text = json.loads(json.dumps(report))
    for query in text["queries"]:
        for arm in query["arms"].values():
            arm.pop("latency_ms")
    for arm in text["arms"].values():
        arm["cost"] = {key: value for key, value in arm["cost"].items() if "latency" not in key}
    return text


@pytest.mark.rule("EVA-1.8")
def test_another_comparison_has_another_journal(planner, tmp_path):
    one = inquiry_of(planner, planner)
    other = Inquiry(one.lines[:3], [], one.arms, 8, 1)
    assert Journal(tmp_path, one.identity()).path != Journal(tmp_path, other.identity()).path


def test_a_plan_survives_the_journal(planner, tmp_path):
    plan = planner.select("how do vaccines work")
    assert ChannelPlan.model_validate(json.loads(json.dumps(plan.model_dump(mode="json")))) == plan


@pytest.mark.rule("EVA-1.1")
def test_an_arm_may_be_a_settings_file(planner, tmp_path):
    own = tmp_path / "bold.yaml"
    own.write_text("selection: {group_threshold: 0.1}")
    arms = build_arms(["heuristic", str(own)], planner)
    assert [arm.name for arm in arms] == ["heuristic", "bold"]
    assert arms[1].planner.settings.selection.group_threshold == 0.1
    assert arms[1].planner.catalog.version == planner.catalog.version
    assert arms[1].planner.env is planner.env


@pytest.mark.rule("EVA-1.1")
@pytest.mark.parametrize("names", [["heuristic"], ["flat", "flat"], ["heuristic", "heuristc"]])
def test_arms_that_cannot_be_compared_are_refused(planner, names):
    with pytest.raises(InputError, match="--arms"):
        build_arms(names, planner)


@pytest.mark.rule("EVA-1.2")
def test_flat_takes_the_best_leaves_wherever_they_stand(planner):
    flat = build_arms(["heuristic", "flat"], planner)[1]
    for row in ENGLISH:
        plan = flat.plan(lines_of([row])[0].request, TODAY)
        scores = [pick.score for pick in plan.channels]
        assert scores == sorted(scores, reverse=True)
        assert all(other.score <= scores[-1] for other in plan.runners_up)


@pytest.mark.rule("EVA-1.6")
def test_every_plan_of_every_arm_keeps_its_promises(report):
    for arm in report["arms"].values():
        assert set(arm["invariants"].values()) == {1.0}


@pytest.mark.rule("EVA-1.6")
def test_a_broken_promise_is_seen(planner, tmp_path):
    class Careless(Stopping):
        def select(self, request, **options):
            plan = super().select(request, **options)
            return plan.model_copy(update={"channels": plan.channels * 3})

    inquiry = inquiry_of(planner, Careless(planner))
    broken = run(inquiry, Journal(tmp_path, {}), TODAY)["arms"]["b"]["invariants"]
    assert broken["no_channel_twice"] == 0
    assert broken["channel_cap"] == 0


@pytest.mark.rule("EVA-1.5")
def test_a_difference_has_an_interval_and_corrected_p_values(report):
    row = report["pairs"][0]["labels"]["ndcg"]
    assert row["n"] == len(ENGLISH) + 2
    assert row["difference"] == pytest.approx(row["a"] - row["b"])
    assert row["low"] <= row["difference"] <= row["high"]
    assert row["p"] <= row["p_holm"] <= 1


@pytest.mark.rule("EVA-1.13")
def test_few_queries_stand_without_interval_and_test(planner, tmp_path):
    report = compare(planner, tmp_path, rows=CHINESE)
    row = report["pairs"][0]["labels"]["ndcg"]
    assert row["a"] is not None
    assert (row["low"], row["p"], row["p_holm"]) == (None, None, None)
    assert "2 paired queries are too few" in report["about"]["too_few"]


@pytest.mark.rule("EVA-1.9")
def test_slices_are_by_language_mode_and_shape(report):
    slices = report["pairs"][0]["slices"]
    assert {row["name"]: row["n"] for row in slices["language"]} == {"en": len(ENGLISH), "zh": 3, "other": 1}
    assert [row["name"] for row in slices["mode"]] == ["fast"]
    assert {"product", "question"} <= {row["name"] for row in slices["shape"]}
    assert slices["language"][0]["labels"]["ndcg"]["p_holm"] is not None
    assert slices["language"][1]["labels"]["ndcg"]["p"] is None


@pytest.mark.rule("EVA-1.10")
def test_what_differs_is_explained(report):
    rows = report["pairs"][0]["most_different"]
    gaps = [abs(row["ndcg"][0] - row["ndcg"][1]) for row in rows if row["ndcg"][0] is not None]
    assert gaps == sorted(gaps, reverse=True)
    for row in rows:
        for change in row["changes"]:
            assert change["why_not"]
            assert change["channel"] in [pick["channel"] for pick in row["picks"][change["only_in"]]]


@pytest.mark.rule("EVA-1.10")
def test_a_factor_that_made_the_difference_is_named(planner, tmp_path):
    own = tmp_path / "words.yaml"
    own.write_text(
        "selection: {leaf_weights: {priority: 0.5, scenario: 0.0, keyword: 0.25, auth: 0.15, experience: 0.1}}"
    )
    rows = compare(planner, tmp_path, ("heuristic", str(own)))["pairs"][0]["most_different"]
    named = {factor for row in rows for change in row["changes"] for factor in change["factors"]}
    assert "scenario" in named


@pytest.mark.rule("EVA-1.14")
def test_the_cost_of_planning_counts_what_is_known(planner, tmp_path):
    report = compare(planner, tmp_path, ("standard", "heuristic"), ROWS[:3])
    cost = report["arms"]["standard"]["cost"]
    assert (cost["tokens_in"], cost["cost_usd"], cost["degraded"]) == (0, 0, 1)
    assert cost["why"] == {"standard → heuristic: no_model": 3}
    assert 0 < cost["latency_p50_ms"] <= cost["latency_p95_ms"]
