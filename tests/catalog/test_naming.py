"""Is a platform named as the place, as the subject, as a place to avoid, or not at all? Families of traps."""

import pytest


def named(catalog, query):
    reading = catalog.lexicon.read(query)
    return set(reading.named) | set(reading.families)


@pytest.mark.rule("SEL-4.4", "SEL-1.4")
@pytest.mark.parametrize(
    ("query", "channel"),
    [
        ("小红书有没有人用 Cursor 做编程", "xiaohongshu"),
        ("小紅書上的露營清單", "xiaohongshu"),
        ("知乎上怎么看延迟退休", "zhihu"),
        ("小破站 讲线性代数的", "bilibili"),
        ("B站有没有好的剪辑课", "bilibili"),
        ("what do people on HN think of zig", "hackernews"),
        ("reddit threads about budget standing desks", "reddit"),
        ("ＲＥＤＤＩＴ opinions on standing desks", "reddit"),
        ("r/homelab nas build", "reddit"),
        ("유튜브에서 기타 강의", "youtube"),
        ("arxiv papers on sparse attention", "arxiv"),
        ("find it on Google Scholar", "google-scholar"),
        ("推特上大家怎么说", "twitter"),
        ("公众号文章 县域经济", "wechat"),
    ],
)
def test_a_platform_named_as_the_place_is_recognised(catalog, query, channel):
    assert channel in named(catalog, query)


@pytest.mark.rule("SEL-4.5")
@pytest.mark.parametrize(
    "query",
    [
        "how does reddit make money",
        "知乎 财报",
        "who founded quora and linkedin's revenue",
        "小红书 上市 估值",
        "is youtube premium worth it",
        "github actions cache not restored",
        "抖音推荐算法原理",
        "stackoverflowerror in recursive java method",
        "bilibili 股价",
        "twitter layoffs timeline",
    ],
)
def test_a_platform_that_is_the_subject_is_not_named(catalog, query):
    assert not named(catalog, query)


@pytest.mark.rule("SEL-4.5")
@pytest.mark.parametrize(
    ("query", "avoided"),
    [
        ("不要知乎的，找找别处", "zhihu"),
        ("not reddit please, something with data", "reddit"),
        ("除了B站还有哪里有网课", "bilibili"),
    ],
)
def test_a_platform_to_be_avoided_is_not_named(catalog, query, avoided):
    reading = catalog.lexicon.read(query)
    assert avoided not in reading.named
    assert avoided in reading.avoided


@pytest.mark.rule("SEL-4.7")
@pytest.mark.parametrize(
    ("query", "is_platform"),
    [
        ("what are people saying on X about FSD", True),
        ("X 上怎么看这次发布会", True),
        ("search x/twitter for reactions", True),
        ("solve x + 3 = 7", False),
        ("derivative of f(x) on x axis", False),
        ("how does x depend on x and y", False),
        ("iPhone X 电池", False),
    ],
)
def test_x_is_a_platform_only_where_it_is_spoken_of_as_one(catalog, query, is_platform):
    assert ("twitter" in named(catalog, query)) is is_platform


@pytest.mark.rule("SEL-4.9")
@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("arxvi papers on diffusion", "arxiv"),
        ("githib repos for pdf parsing", "github"),
        ("redit advice on mattresses", "reddit"),
        ("yotube tutorials knitting", "youtube"),
        ("wikipeda article on the hanseatic league", "wikipedia"),
        ("hacker nwes on rust", "hackernews"),
        ("stack overlow regex question", "stackoverflow"),
    ],
)
def test_typos_in_platform_names_are_understood(catalog, query, meant):
    assert meant in named(catalog, query)


@pytest.mark.rule("SEL-4.9")
@pytest.mark.parametrize(
    "query", ["Wikimedia Foundation spending", "credit card debt", "redis cluster", "health shown", "exact answer"]
)
def test_real_words_are_not_taken_for_typos(catalog, query):
    assert not named(catalog, query)


@pytest.mark.rule("SEL-4.9")
@pytest.mark.parametrize(
    ("query", "channel"),
    [
        ("https://github.com/vllm-project/vllm/issues/12 still open?", "github-issues"),
        ("explain https://arxiv.org/abs/1706.03762", "arxiv"),
        ("https://zhuanlan.zhihu.com/p/123 说得对吗", "zhihu"),
        ("what is en.wikipedia.org/wiki/Hanse about", "wikipedia"),
        ("https://www.bilibili.com/video/BV1xx 讲了什么", "bilibili"),
    ],
)
def test_a_url_names_its_channel_by_its_host(catalog, query, channel):
    assert catalog.lexicon.read(query).named == (channel,)


@pytest.mark.rule("SEL-1.5")
def test_a_family_names_its_group_and_all_its_leaves(catalog):
    reading = catalog.lexicon.read("search github for pdf parsers")
    assert set(reading.families["github"]) == {"github-repos", "github-issues", "github-code"}
    assert reading.named_groups == {"channels-code-package"}
    assert catalog.channels_named("GitHub") == reading.families["github"]


@pytest.mark.rule("SEL-1.4")
@pytest.mark.parametrize(
    "spelling", ["search-hackernews", "HackerNews", "hacker_news", "HN", "hacker news", "search_hackernews"]
)
def test_every_accepted_spelling_means_the_channel(catalog, spelling):
    assert catalog.channels_named(spelling) == ("hackernews",)


@pytest.mark.rule("SEL-4.6")
@pytest.mark.parametrize(
    "query",
    ["john met a friend", "metformin dosing", "related and unrelated", "最好看的动作片推荐", "研究一下哪款好用"],
)
def test_terms_inside_other_words_name_nothing(catalog, query):
    assert not named(catalog, query)


@pytest.mark.rule("SEL-3.5")
@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("reddit 和 hacker news 上怎么看 rust", "zh"),
        ("用 Cursor 和 Claude Code 写 Rust 的体验", "mixed"),
        ("知乎上怎么看", "zh"),
    ],
)
def test_channel_names_do_not_make_a_query_mixed(catalog, query, language):
    assert catalog.lexicon.read(query).language == language
