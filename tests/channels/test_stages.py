"""Stage 1 keeps groups, stage 2 picks leaves."""

import pytest

from tests.channels.small import GROUPS, catalog, context, judged, leaf, reading
from tests.channels.steps import channels, names, plan, stage1, stage2

ZH = reading("怎么样")


@pytest.mark.rule("SEL-5.6", "SEL-1.1")
def test_groups_that_pass_are_kept_best_first_up_to_the_cap():
    verdict = judged({"papers": 0.9, "talk": 0.8, "web": 0.7, "clips": 0.6})
    assert names(stage1(verdict, context()).kept) == ["talk", "papers", "web"]
    assert names(stage1(verdict, context(max_groups=1)).kept) == ["talk"]


@pytest.mark.rule("SEL-5.6")
def test_a_score_of_exactly_the_threshold_passes():
    assert names(stage1(judged({"talk": (0.25 / 0.6, 0.25 / 0.6)}), context()).kept) == ["talk"]
    assert names(stage1(judged({"talk": 0.416}), context()).kept) == ["web"]


@pytest.mark.rule("SEL-1.2")
def test_a_group_without_channels_is_scored_and_left_out():
    stage = stage1(judged({"tools": 1.0, "web": 0.9}), context())
    assert names(stage.kept) == ["web"]
    assert stage.skipped["tools"] == "holds no channel"


@pytest.mark.rule("SEL-5.2")
def test_a_group_whose_channels_are_all_skipped_is_left_out():
    stage = stage1(judged({"papers": 1.0, "web": 0.9}), context(skip=("pre", "med", "cite")))
    assert names(stage.kept) == ["web"]
    assert "channel_skip" in stage.skipped["papers"]


@pytest.mark.rule("SEL-5.2")
@pytest.mark.parametrize(
    ("domain", "scenario", "priority", "kept"),
    [
        (0.14, 0.49, (), False),
        (0.15, 0.0, (), True),
        (0.0, 0.5, (), True),
        (0.0, 0.0, ("fund",), True),
    ],
)
def test_a_group_may_require_that_its_domain_matches(domain, scenario, priority, kept):
    stage = stage1(judged({"money": (domain, scenario)}), context(priority=priority))
    assert ("money" not in stage.skipped) is kept


@pytest.mark.rule("SEL-5.2")
def test_english_only_leaves_native_groups_and_leaves_out():
    stage = stage1(judged({"zh": 1.0, "clips": 0.9}), context(ZH, languages="en_only"))
    assert set(stage.skipped) >= {"zh", "zh-tech"}
    assert set(stage.skipped_leaves) == {"red", "know", "video", "blog", "dig"}


@pytest.mark.rule("SEL-5.2")
def test_chinese_only_leaves_english_groups_and_leaves_out():
    stage = stage1(judged({"talk": 1.0, "papers": 0.9}), context(ZH, languages="zh_only"))
    assert "talk" in stage.skipped
    assert {"pre", "med"} <= set(stage.skipped_leaves)
    assert "cite" not in stage.skipped_leaves


@pytest.mark.rule("SEL-5.1")
def test_a_demoted_group_loses_its_slot_but_not_its_pass():
    verdict = judged({"papers": 0.9, "talk": 0.5})
    assert names(stage1(verdict, context(history={"papers": 3})).kept) == ["talk", "papers"]
    assert names(stage1(verdict, context(history={"papers": 3}, max_groups=1)).kept) == ["talk"]
    assert names(stage1(judged({"papers": 0.6}), context(history={"papers": 9})).kept) == ["papers"]


@pytest.mark.rule("SEL-5.3", "SEL-5.1")
def test_a_chinese_question_keeps_the_best_native_group_whatever_its_history():
    verdict = judged({"papers": 0.9, "web": 0.8, "clips": 0.8, "zh": 0.3, "zh-tech": 0.1})
    stage = stage1(verdict, context(ZH, history={"zh": 5}))
    assert names(stage.kept) == ["papers", "web", "zh"]
    assert any("guard" in line for line in stage.adjustments)


@pytest.mark.rule("SEL-5.3")
def test_with_one_slot_the_native_group_takes_it_and_a_warning_says_so():
    stage = stage1(judged({"papers": 0.9}), context(ZH, max_groups=1))
    assert names(stage.kept) == ["zh"]
    assert any("only group slot" in line for line in stage.warnings)


@pytest.mark.rule("SEL-5.4")
def test_a_priority_leaf_brings_its_group_in_by_a_free_slot():
    stage = stage1(judged({"papers": 0.9}), context(priority=("fund",)))
    assert names(stage.kept) == ["papers", "money"]
    assert stage.hinted == "money"


@pytest.mark.rule("SEL-5.4")
def test_a_priority_leaf_takes_the_last_non_native_slot():
    verdict = judged({"papers": 0.9, "web": 0.8, "clips": 0.7})
    assert names(stage1(verdict, context(priority=("fund",))).kept) == ["papers", "web", "money"]
    zh = stage1(judged({"zh": 0.9, "web": 0.9, "zh-tech": 0.9}), context(ZH, priority=("fund",)))
    assert names(zh.kept) == ["zh", "zh-tech", "money"]


@pytest.mark.rule("SEL-5.4")
def test_a_priority_leaf_left_outside_is_a_warning():
    stage = stage1(judged({"papers": 0.9}), context(priority=("fund",), max_groups=1))
    assert names(stage.kept) == ["papers"]
    assert any("fund" in line for line in stage.warnings)


@pytest.mark.rule("SEL-5.5")
def test_when_nothing_passes_the_fallback_group_is_kept():
    stage = stage1(judged(), context())
    assert names(stage.kept) == ["web"]
    assert any("fell back" in line for line in stage.adjustments)


@pytest.mark.rule("SEL-5.5")
def test_when_the_fallback_is_filtered_the_best_survivor_is_kept():
    stage = stage1(judged({"clips": 0.2}), context(skip=("find", "deep", "wiki")))
    assert names(stage.kept) == ["clips"]


@pytest.mark.rule("SEL-1.6", "SEL-5.5")
def test_a_catalog_without_flags_keeps_its_best_groups_and_has_no_guard():
    from planner.catalog.model import Group

    plain = tuple(Group(g.name, g.description, members=g.members) for g in GROUPS)
    ctx = context(ZH, cat=catalog(plain))
    stage = stage1(judged({"papers": 0.3, "clips": 0.2, "web": 0.1}), ctx)
    assert names(stage.kept) == ["papers", "clips", "web"]
    assert plan(judged({"papers": 0.3}), ctx).chinese_native_quota_met is None


@pytest.mark.rule("SEL-1.3")
def test_a_leaf_of_two_picked_groups_is_picked_once_under_the_better():
    verdict = judged({"zh": 0.9, "clips": 0.7}, {"video": 0.9, "tube": 0.5})
    picks = stage2(verdict, context(ZH)).picks
    assert [p.group for p in picks if p.channel == "video"] == ["zh"]


@pytest.mark.rule("SEL-6.1")
def test_ties_fall_to_group_score_then_priority_order_then_prior_then_catalog_order():
    verdict = judged({"papers": 0.9, "web": 0.8}, {"pre": 0.5, "wiki": 0.5})
    assert channels(stage2(verdict, context()).picks)[:2] == ["pre", "wiki"]
    ordered = context(priority=("cite", "med"))
    assert channels(stage2(judged({"papers": 0.9}), ordered).picks)[:2] == ["cite", "med"]
    priors = catalog(leaves=(leaf("pre", "papers"), leaf("med", "papers", prior=0.2)))
    assert channels(stage2(judged({"papers": 0.9}), context(cat=priors)).picks) == ["med", "pre"]


@pytest.mark.rule("SEL-3.2")
@pytest.mark.parametrize(("mode", "count"), [("fast", 5), ("deep", 8), ("comprehensive", 8)])
def test_the_mode_sets_the_target(mode, count):
    everything = judged({"papers": 0.9, "web": 0.8, "talk": 0.7}, dict.fromkeys(catalog().leaf_by_channel, 0.5))
    assert len(stage2(everything, context(mode=mode)).picks) == count


@pytest.mark.rule("SEL-6.2")
def test_from_the_fourth_pick_on_a_leaf_needs_evidence():
    verdict = judged(
        {"papers": 0.9, "web": 0.8}, {"pre": 0.5, "med": 0.10, "cite": 0.09, "find": 0.0, "wiki": (0.0, 1.0)}
    )
    result = stage2(verdict, context())
    assert channels(result.picks) == ["wiki", "pre", "med"]
    assert "no evidence" in result.passed_over["cite"]


@pytest.mark.rule("SEL-6.3")
def test_a_hinted_group_gives_only_its_priority_leaves_and_at_most_half():
    own = {"papers": 0.9, "talk": 0.8}
    leaves = {"pre": 0.5, "med": 0.5, "cite": 0.5, "forum": 0.5, "news": 0.5, "find": 0.9, "deep": 0.9, "wiki": 0.9}
    ctx = context(priority=("find", "deep", "wiki"), max_channels=4)
    picks = channels(stage2(judged(own, leaves), ctx).picks)
    assert picks[:2] == ["find", "deep"]
    assert "wiki" not in picks
    few = stage2(judged({"talk": 0.9}, {"forum": 0.5}), context(priority=("find", "deep", "wiki"), max_channels=5))
    assert set(channels(few.picks)) >= {"find", "deep", "wiki", "forum"}


@pytest.mark.rule("SEL-6.4")
def test_below_three_picks_the_next_best_fill_up_and_say_so():
    found = plan(judged({"talk": 0.9}, {"forum": 0.9}), context(priority=("fund",), skip=("news",)))
    assert [p.channel for p in found.channels] == ["fund", "forum"]
    assert any("only 2" in line for line in found.warnings)
    hinted = plan(judged({"talk": 0.9}), context(priority=("find",), skip=("news",)))
    filler = next(p for p in hinted.channels if p.channel not in ("find", "forum"))
    assert "filler" in filler.rationale


@pytest.mark.rule("SEL-6.4")
def test_a_cap_below_three_wins_over_filling_up():
    assert len(stage2(judged({"papers": 0.9}), context(max_channels=2)).picks) == 2


@pytest.mark.rule("SEL-7.4")
def test_leaves_over_the_cost_cap_are_passed_over_for_cheaper_ones():
    verdict = judged({"web": 0.9}, {"deep": 0.9, "find": 0.5, "wiki": 0.4})
    found = plan(verdict, context(max_cost_usd=0.005))
    assert [p.channel for p in found.channels] == ["find", "wiki"]
    assert found.skip_reasons["search-deep"] == "over max_cost_usd"
