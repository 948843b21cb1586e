"""Families of questions that mislead a planner that reads words without their place."""

import pytest


def top(planner, query, count=2):
    return [pick.channel for pick in planner.select(query, {"mode": "deep"}).channels[:count]]


def groups(planner, query):
    return {group.name.removeprefix("channels-") for group in planner.select(query, {"mode": "deep"}).groups}


@pytest.mark.rule("SEL-4.6", "SEL-4.7")
@pytest.mark.parametrize(
    ("query", "unwanted"),
    [
        ("john deere tractor repair manual", "hackernews"),
        ("metformin dosing in elderly patients", "stackoverflow"),
        ("related and unrelated species of finches", "stackoverflow"),
        ("solve x + 3 = 7", "twitter"),
        ("最好看的动作片推荐", "github-code"),
        ("steve jobs biography facts", "linkedin"),
        ("python snake care for beginners", "stackoverflow"),
        ("migration routes of arctic terns", "github-issues"),
    ],
)
def test_a_word_inside_another_meaning_brings_no_channel(planner, query, unwanted):
    assert unwanted not in top(planner, query)


@pytest.mark.rule("SEL-4.5")
@pytest.mark.parametrize(
    ("query", "subject"),
    [("how does reddit make money", "reddit"), ("知乎 财报", "zhihu"), ("who founded linkedin", "linkedin")],
)
def test_a_platform_that_is_the_subject_does_not_lead(planner, query, subject):
    assert top(planner, query, 1) != [subject]


@pytest.mark.parametrize("query", ["研究一下哪款扫地机器人好用", "帮我分析一下买哪个婴儿车"])
def test_verbs_that_sound_academic_do_not_send_shoppers_to_papers(planner, query):
    assert "academic" not in groups(planner, query)


@pytest.mark.parametrize(
    ("query", "group"),
    [
        ("用python写一个爬虫抓取网页表格", "cn-tech"),
        ("C++ template deduction guide error", "community-en"),
        ("ASP.NET Core middleware order", "community-en"),
        ("Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'x'", "community-en"),
    ],
)
def test_code_is_recognised_beside_cjk_and_with_its_signs(planner, query, group):
    assert group in groups(planner, query)


@pytest.mark.rule("SEL-4.4")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("小红书有没有人用 Cursor 做编程", "xiaohongshu"),
        ("arxvi paper on sparse attention", "arxiv"),
        ("X 上怎么评价这次发布会", "twitter"),
        ("在ｂ站找一个剪辑教程", "bilibili"),
        ("小紅書上的露營裝備清單", "xiaohongshu"),
        ("유튜브에서 기타 강의 추천", "youtube"),
        ("https://github.com/vllm-project/vllm/issues/1234 is it fixed", "github-issues"),
    ],
)
def test_a_named_platform_leads(planner, query, first):
    assert top(planner, query, 1) == [first]
