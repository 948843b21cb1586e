"""After any judge, quota and caps hold, and every change is told."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.channels.enforcement import enforce
from planner.channels.factors import GroupJudgement, Judgement, LeafFactors, LeafJudgement, ScoredLeaf
from planner.channels.request import build_request
from planner.errors import InputError
from planner.settings import load_settings
from tests.channels.small import ALL_KEYS, catalog, context, judged, reading
from tests.channels.steps import channels, named_plan, plan

ZH = reading("怎么样")
NATIVE = {"red", "know", "video", "blog", "dig"}
WEB_ONLY = judged({"web": 1.0, "papers": 0.9, "clips": 0.8}, {"find": 0.9, "deep": 0.8, "wiki": 0.7, "cite": 0.6})


def natives(found):
    return [p.channel for p in found.channels if p.channel in NATIVE]


@pytest.mark.rule("SEL-7.3")
def test_two_natives_replace_the_lowest_ranked_others_when_full():
    found = plan(WEB_ONLY, context(ZH, max_channels=3))
    assert len(natives(found)) == 2
    assert [p.channel for p in found.channels if p.channel not in NATIVE] == ["find"]
    assert found.chinese_native_quota_met is True
    assert any("Chinese guard" in line for line in found.adjustments)


@pytest.mark.rule("SEL-7.3")
def test_natives_that_can_run_come_before_others():
    verdict = judged({"web": 1.0}, {"find": 0.9, "deep": 0.9, "wiki": 0.9, "red": 0.3, "know": 0.3})
    assert natives(plan(verdict, context(ZH, max_channels=3))) == ["red", "know"]
    assert natives(plan(verdict, context(ZH, env={"WEB_KEY": "x"}, max_channels=3)))[0] == "video"


@pytest.mark.rule("SEL-7.3")
def test_too_few_natives_that_can_run_is_a_warning():
    found = plan(WEB_ONLY, context(ZH, env={}, skip=("video", "blog", "dig")))
    assert found.chinese_native_quota_met is True
    assert any("keys are missing" in line for line in found.warnings)


@pytest.mark.rule("SEL-7.3", "SEL-5.1")
def test_the_guard_looks_at_no_history():
    with_history = plan(WEB_ONLY, context(ZH, history={"zh": 9, "zh-tech": 9}))
    assert natives(with_history) == natives(plan(WEB_ONLY, context(ZH)))


@pytest.mark.rule("SEL-7.4")
def test_a_free_native_replaces_a_paid_one_where_both_cap_and_guard_must_hold():
    verdict = judged({"zh": 1.0}, {"red": 1.0, "know": 0.9, "video": 0.1})
    found = plan(verdict, context(ZH, max_cost_usd=0.004))
    assert found.chinese_native_quota_met is True
    assert found.total_cost_usd <= 0.004
    assert set(natives(found)) == {"red", "video"}
    assert plan(verdict, context(ZH, max_cost_usd=0.0)).total_cost_usd == 0.0


@pytest.mark.rule("SEL-7.4", "SEL-7.7")
def test_a_cap_of_one_channel_leaves_room_for_one_native_and_says_so():
    found = plan(WEB_ONLY, context(ZH, max_channels=1))
    assert len(found.channels) == len(natives(found)) == 1
    assert found.chinese_native_quota_met is False
    assert any("max_channels = 1" in line for line in found.warnings)


@pytest.mark.rule("SEL-7.4")
def test_with_one_group_the_native_group_that_can_meet_the_quota_is_kept():
    found = plan(judged({"zh-tech": 0.9, "zh": 0.8}), context(ZH, max_groups=1, skip=("blog",)))
    assert len(natives(found)) == 2
    assert len(found.groups) == 1


@pytest.mark.rule("SEL-7.2", "SEL-7.7")
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"languages": "en_only"}, "en_only"),
        ({"skip": ("red", "know", "video", "blog")}, "channel_skip"),
    ],
)
def test_the_users_own_words_beat_the_guard_and_a_warning_says_which(given, reason):
    found = plan(WEB_ONLY, context(ZH, **given))
    assert found.chinese_native_quota_met is False
    assert any(reason in line for line in found.warnings)
    assert not {p.channel for p in found.channels} & set(given.get("skip", ()))


@pytest.mark.rule("SEL-7.7")
def test_without_han_the_quota_counts_as_met():
    assert plan(WEB_ONLY, context()).chinese_native_quota_met is True


@pytest.mark.rule("SEL-7.8")
def test_kana_exempts_a_query_only_by_setting():
    kanji = reading("東京の天気", language="ja")
    kanji = type(kanji)(**{f: getattr(kanji, f) for f in kanji.__dataclass_fields__} | {"kana": True})
    assert len(natives(plan(WEB_ONLY, context(kanji)))) >= 2
    exempt = load_settings({"guard": {"exempt_kana": True}}, {})
    found = plan(WEB_ONLY, context(kanji, settings=exempt))
    assert natives(found) == []
    assert found.chinese_native_quota_met is True


def pick(channel, group, score=0.5):
    return ScoredLeaf(channel, group, LeafFactors(0.0, score, 0.0, 1.0, 0.0), score)


@pytest.mark.rule("SEL-7.1")
def test_invented_and_doubled_channels_are_dropped_and_noted():
    pool = [pick("find", "web"), pick("wiki", "web")]
    result = enforce([pick("find", "web"), pick("find", "web"), pick("ghost", "web")], pool, {"web": 1.0}, context())
    assert channels(result.picks) == ["find", "wiki"]
    assert len([line for line in result.adjustments if "dropped" in line]) == 2


@pytest.mark.rule("SEL-7.5")
def test_slots_freed_by_enforcement_are_refilled():
    pool = [pick("find", "web"), pick("wiki", "web", 0.2)]
    result = enforce([pick("ghost", "web"), pick("find", "web")], pool, {"web": 1.0}, context(max_channels=2))
    assert channels(result.picks) == ["find", "wiki"]
    assert any("freed slot" in line for line in result.adjustments)


@pytest.mark.rule("SEL-3.3")
def test_explicit_channels_are_kept_in_order_without_judging():
    found = named_plan(["wiki", "red", "find", "pre", "tube", "ghost"], WEB_ONLY, context(ZH, languages="en_only"))
    assert [p.channel for p in found.channels] == ["wiki", "red", "find", "pre", "tube"]
    assert found.chinese_native_quota_met is False
    assert any("ghost" in line for line in found.warnings)
    assert len(found.groups) == 4
    assert any("max_groups" in line for line in found.warnings)
    assert any("en_only does not apply" in line for line in found.warnings)


@pytest.mark.rule("SEL-3.3")
def test_explicit_channels_yield_to_ceiling_cost_and_skip():
    capped = named_plan(["wiki", "find", "pre"], judged(), context(max_channels=2))
    assert [p.channel for p in capped.channels] == ["wiki", "find"]
    assert any("ceiling" in line for line in capped.adjustments)
    costly = named_plan(["deep", "find"], judged(), context(max_cost_usd=0.001))
    assert [p.channel for p in costly.channels] == ["find"]
    skipped = named_plan(["wiki", "find"], judged(), context(skip=("wiki",)))
    assert [p.channel for p in skipped.channels] == ["find"]
    assert any("channel_skip" in line for line in skipped.warnings)


@pytest.mark.rule("SEL-3.3")
def test_no_known_explicit_channel_is_an_input_error():
    with pytest.raises(InputError, match="explicit_channels"):
        named_plan(["ghost"], judged(), context())


ANY_NUMBER = st.one_of(st.floats(), st.integers(), st.none(), st.text(max_size=3), st.just(1e308), st.just(math.nan))
SOME_NAME = st.one_of(st.sampled_from(sorted(catalog().leaf_by_channel)), st.text(max_size=8))
SOME_GROUP = st.one_of(st.sampled_from([g.name for g in catalog().groups]), st.text(max_size=8))
HOSTILE = st.builds(
    Judgement,
    st.dictionaries(SOME_GROUP, st.builds(GroupJudgement, ANY_NUMBER, ANY_NUMBER, st.text(max_size=5)), max_size=12),
    st.dictionaries(SOME_NAME, st.builds(LeafJudgement, ANY_NUMBER, ANY_NUMBER, st.text(max_size=5)), max_size=30),
)
CHANNELS = st.lists(st.sampled_from(sorted(catalog().leaf_by_channel)), max_size=15, unique=True)


@st.composite
def requests(draw):
    given = {
        "mode": draw(st.sampled_from(["fast", "deep", "comprehensive"])),
        "priority": tuple(draw(CHANNELS)[:4]),
        "skip": tuple(draw(CHANNELS)),
        "languages": draw(st.sampled_from(["all", "en_only", "zh_only", "mixed"])),
        "recency": draw(st.sampled_from(["any", "7d"])),
    }
    if draw(st.booleans()):
        given["max_channels"] = draw(st.integers(1, 9))
    if draw(st.booleans()):
        given["max_groups"] = draw(st.integers(1, 4))
    if draw(st.booleans()):
        given["max_cost_usd"] = draw(st.sampled_from([0.0, 0.004, 0.008, 0.02, 1.0]))
    named = tuple(draw(CHANNELS)[:2])
    groups = frozenset(g for c in named for g in catalog().leaf_by_channel[c].groups)
    read = reading(draw(st.sampled_from(["怎么样", "how"])), named=named, named_groups=groups)
    keys = draw(st.sampled_from([{}, ALL_KEYS, {"WEB_KEY": "x"}]))
    return context(read, env=keys, history=draw(st.sampled_from([None, {"zh": 5, "web": 3}])), **given)


def feasible_natives(ctx):
    """The most natives any plan could hold under the user's words and the caps, by trying all sets."""
    from itertools import combinations

    cat, limits = ctx.catalog, ctx.limits
    if limits.scope == "en_only":
        return 0
    allowed = [x for x in cat.leaves if x.channel in NATIVE and x.channel not in limits.skip]
    for count in range(min(limits.guard, limits.target), 0, -1):
        for chosen in combinations(allowed, count):
            cheap = limits.affordable(sum(x.cost_usd for x in chosen))
            one_group = any(all(g in x.groups for x in chosen) for g in ("zh", "zh-tech", "clips"))
            if cheap and (one_group or limits.max_groups > 1):
                return count
    return 0


@pytest.mark.rule("SEL-7.6", "SEL-7.4", "SEL-7.5", "SEL-7.2", "SEL-1.1", "SEL-8.1")
@settings(max_examples=1000, deadline=None)
@given(HOSTILE, requests())
def test_no_judge_output_breaks_an_invariant(verdict, ctx):
    found = plan(verdict, ctx)
    limits, picked = ctx.limits, [p.channel for p in found.channels]
    assert len(picked) == len(set(picked)) <= limits.target
    assert set(picked) <= set(ctx.catalog.leaf_by_channel) - limits.skip
    assert {p.group for p in found.channels} == {g.name for g in found.groups}
    assert len(found.groups) <= limits.max_groups
    assert limits.affordable(found.total_cost_usd)
    assert all(0.0 <= p.score <= 0.95 for p in found.channels)
    assert limits.scope != "en_only" or not natives(found)
    if ctx.reading.han:
        assert len(natives(found)) >= feasible_natives(ctx)
        assert found.chinese_native_quota_met is (len(natives(found)) >= 2)
        assert found.chinese_native_quota_met or any("native" in line for line in found.warnings)
    if limits.scope in ("all", "mixed"):
        allowed = [x for x in ctx.catalog.leaves if x.channel not in limits.skip]
        assert picked or not any(limits.affordable(leaf.cost_usd) for leaf in allowed)
    found.model_dump_json()


@pytest.mark.rule("SEL-6.1", "SEL-8.3")
@settings(max_examples=200, deadline=None)
@given(HOSTILE, requests())
def test_the_same_input_gives_the_same_plan(verdict, ctx):
    assert plan(verdict, ctx).core() == plan(verdict, ctx).core()


def test_a_request_and_its_round_trip_are_equal():
    request, _ = build_request("q", {"mode": "deep"}, {"languages": "mixed"}, ["zhihu"])
    assert type(request).model_validate_json(request.model_dump_json()) == request
