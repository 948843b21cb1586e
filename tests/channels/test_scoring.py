"""score = Σ weight × factor; structural factors are code's; named channels go first."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.model import Auth
from planner.channels.scoring import score_groups, score_leaf, trusted, unit, weighted
from tests.channels.small import ALL_KEYS, SETTINGS, catalog, context, judged, leaf, reading


def group(name, judgement, ctx):
    return next(g for g in score_groups(trusted(judgement, ctx), ctx) if g.name == name)


def scored(channel, judgement, ctx, under=None):
    record = ctx.catalog.leaf_by_channel[channel]
    return score_leaf(record, under or record.groups[0], trusted(judgement, ctx).leaves[channel], ctx)


@pytest.mark.rule("SEL-4.1")
def test_a_group_score_is_the_weighted_sum_of_its_factors():
    ctx = context(reading("怎么样"), priority=("red",), recency="7d")
    found = group("zh", judged({"zh": (0.8, 0.4)}), ctx)
    assert found.score == pytest.approx(0.35 * 0.8 + 0.25 * 0.4 + 0.15 + 0.15 + 0.10)


@pytest.mark.rule("SEL-4.2")
def test_a_leaf_score_is_the_weighted_sum_of_its_factors():
    ctx = context(priority=("cite",), boosted=["cite"])
    assert scored("cite", judged(leaves={"cite": (0.6, 1.0)}), ctx).score == pytest.approx(
        0.40 + 0.15 + 0.15 + 0.10 + 0.05
    )


@pytest.mark.rule("SEL-4.2")
def test_no_leaf_scores_above_095_or_below_0():
    best = context(priority=("cite",), boosted=["cite"])
    assert scored("cite", judged(leaves={"cite": (9.0, 9.0)}), best).score == pytest.approx(0.95)
    assert scored("red", judged(), context(env={})).score == 0.0


@pytest.mark.rule("SEL-4.3", "SEL-7.6")
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1, 1e308, "0.5", None, True])
def test_a_judges_number_is_always_read_as_0_to_1(value):
    assert 0.0 <= unit(value) <= 1.0


@pytest.mark.rule("SEL-4.4")
def test_a_named_channel_beats_any_unnamed_one_even_without_its_key():
    ctx = context(reading("red 上", named=("red",), named_groups=frozenset({"zh"})), env={})
    verdict = judged({"papers": 1.0}, dict.fromkeys(ctx.catalog.leaf_by_channel, (1.0, 1.0)))
    named = scored("red", verdict, ctx)
    others = [scored(c, verdict, ctx) for c in ctx.catalog.leaf_by_channel if c != "red"]
    assert named.score == pytest.approx(0.35)
    assert all(other.score < named.score for other in others)


@pytest.mark.rule("SEL-4.4")
def test_groups_without_a_named_channel_are_damped():
    ctx = context(reading("red 上", named=("red",), named_groups=frozenset({"zh"})))
    assert group("zh", judged(), ctx).factors.domain == 1.0
    assert group("papers", judged({"papers": 0.5}), ctx).factors.domain == pytest.approx(0.3)


@pytest.mark.rule("SEL-1.5")
def test_a_family_lifts_the_member_the_judge_finds_most_relevant():
    ctx = context(reading("gh", families={"gh": ("pre", "med")}, named_groups=frozenset({"papers"})))
    verdict = trusted(judged(leaves={"pre": 0.2, "med": 0.7}), ctx)
    assert (verdict.leaves["med"].scenario, verdict.leaves["med"].keyword) == (1.0, 1.0)
    assert verdict.leaves["pre"].scenario == pytest.approx(0.12)


@pytest.mark.rule("SEL-4.10", "SEL-8.2")
@pytest.mark.parametrize(
    ("auth", "env", "factor", "label"),
    [
        (Auth(), {}, 1.0, "free"),
        (Auth(optional=("A",)), {}, 1.0, "free"),
        (Auth(all_of=("A",)), {"A": "secret"}, 1.0, "paid (A set)"),
        (Auth(all_of=("A",)), {"A": "  "}, -0.5, "paid (A missing)"),
        (Auth(all_of=("A", "B")), {"A": "x"}, -0.5, "paid (B missing)"),
        (Auth(any_of=("A", "B")), {"B": "x"}, 1.0, "paid (B set)"),
        (Auth(any_of=("A", "B")), {}, -0.5, "paid (A or B missing)"),
    ],
)
def test_auth_counts_and_is_told_without_its_value(auth, env, factor, label):
    cat = catalog(leaves=(leaf("one", "papers", auth=auth),))
    ctx = context(cat=cat, env=env)
    assert scored("one", judged(), ctx).factors.auth == factor
    assert auth.label(env) == label


@pytest.mark.rule("SEL-4.11")
@pytest.mark.parametrize(
    ("query", "scope", "zh", "papers", "talk"),
    [
        ("怎么样", "all", 1.0, 0.5, 0.0),
        ("how", "all", 0.0, 0.5, 1.0),
        ("how", "mixed", 1.0, 1.0, 1.0),
        ("how", "zh_only", 1.0, 0.5, 0.0),
        ("怎么样", "en_only", 0.0, 0.5, 1.0),
    ],
)
def test_the_language_factor_follows_the_groups_surface(query, scope, zh, papers, talk):
    ctx = context(reading(query), languages=scope)
    found = {g.name: g.factors.language for g in score_groups(trusted(judged(), ctx), ctx)}
    assert (found["zh"], found["papers"], found["talk"]) == (zh, papers, talk)


def test_a_mixed_query_speaks_both_languages():
    ctx = context(reading("which one", language="mixed"))
    found = {g.name: g.factors.language for g in score_groups(trusted(judged(), ctx), ctx)}
    assert (found["zh"], found["talk"]) == (1.0, 1.0)


@pytest.mark.rule("SEL-4.12")
@pytest.mark.parametrize(("recency", "factor"), [("any", 0), ("7d", 1), ("30d", 1), ("90d", 0)])
def test_fresh_groups_gain_when_fresh_results_are_wanted(recency, factor):
    ctx = context(recency=recency)
    assert group("talk", judged(), ctx).factors.recency == factor
    assert group("papers", judged(), ctx).factors.recency == 0


@pytest.mark.rule("SEL-4.13", "SEL-1.4")
def test_priority_is_the_share_of_known_entries_a_group_holds():
    ctx = context(priority=("search-pre", "FORUM", "nonsense"))
    assert group("papers", judged(), ctx).factors.priority == 0.5
    assert group("web", judged(), ctx).factors.priority == 0.0


@pytest.mark.rule("SEL-5.1")
def test_three_empty_sessions_halve_the_order_and_not_the_score():
    ctx = context(history={"papers": 3, "talk": 2})
    papers, talk = (group(n, judged({"papers": 0.8, "talk": 0.8}), ctx) for n in ("papers", "talk"))
    assert papers.order == pytest.approx(papers.score / 2)
    assert talk.order == talk.score


@given(st.lists(st.floats(), min_size=5, max_size=5))
def test_a_weighted_sum_of_units_stays_in_0_to_1(values):
    from planner.channels.factors import GroupFactors

    assert 0.0 <= weighted(SETTINGS.selection.group_weights.in_order, GroupFactors(*map(unit, values))) <= 1.0 + 1e-9


def test_every_key_set_makes_every_leaf_runnable():
    assert all(record.auth.satisfied(ALL_KEYS) for record in catalog().leaves)
