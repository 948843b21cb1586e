"""A small hand-made catalog whose every number a reader can check, and questions about it."""

from pathlib import Path

from planner.catalog.model import Auth, Catalog, Group, Leaf
from planner.catalog.reading import Reading
from planner.channels.factors import GroupJudgement, Judgement, LeafJudgement
from planner.channels.limits import build_limits
from planner.channels.model import Budget, ClarifyResult, Scope, SelectionRequest
from planner.channels.scoring import Context
from planner.settings import default_settings

SETTINGS = default_settings()
KEYED = Auth(all_of=("ZH_KEY",))


def leaf(channel, *groups, **fields):
    return Leaf(name=f"search-{channel}", channel=channel, description=channel, groups=groups, **fields)


GROUPS = (
    Group("zh", "Chinese life", surface="zh", native=True, recency_sensitive=True, members=("red", "know", "video")),
    Group("zh-tech", "Chinese tech", surface="zh", native=True, members=("blog", "dig")),
    Group("papers", "papers", members=("pre", "med", "cite")),
    Group("talk", "English talk", surface="en", recency_sensitive=True, members=("forum", "news")),
    Group("web", "the web", fallback=True, recency_sensitive=True, members=("find", "deep", "wiki")),
    Group("money", "companies", surface="en", requires_domain_match=True, members=("fund",)),
    Group("clips", "video", members=("tube", "video")),
    Group("tools", "no channel"),
)
LEAVES = (
    leaf("red", "zh", languages=("zh",), auth=KEYED, cost_usd=0.004),
    leaf("know", "zh", languages=("zh",), auth=KEYED, cost_usd=0.004),
    leaf("video", "zh", "clips", languages=("zh",)),
    leaf("blog", "zh-tech", languages=("zh",)),
    leaf("dig", "zh-tech", languages=("zh",)),
    leaf("pre", "papers", languages=("en",)),
    leaf("med", "papers", languages=("en",)),
    leaf("cite", "papers"),
    leaf("forum", "talk", languages=("en",)),
    leaf("news", "talk", languages=("en",)),
    leaf("find", "web"),
    leaf("deep", "web", auth=Auth(all_of=("WEB_KEY",)), cost_usd=0.008),
    leaf("wiki", "web"),
    leaf("fund", "money", languages=("en",), auth=Auth(any_of=("A_KEY", "B_KEY"))),
    leaf("tube", "clips"),
)
ALL_KEYS = {"ZH_KEY": "set", "WEB_KEY": "set", "A_KEY": "set"}


def catalog(groups=GROUPS, leaves=LEAVES):
    return Catalog("test", groups, leaves, lexicon=None, intents=None, scorer=None, root=Path())


def reading(query="how do vaccines work", language="en", **fields):
    han = any("\u4e00" <= c <= "\u9fff" for c in query)
    return Reading(query=query, text=query, language="zh" if han else language, han=han, kana=False, **fields)


def context(read=None, cat=None, env=ALL_KEYS, settings=SETTINGS, history=None, boosted=(), **given):
    """`given`: mode, priority, skip, languages, recency, max_channels, max_groups, max_cost_usd."""
    read, cat = read or reading(), cat or catalog()
    budget = Budget(**{k: given[k] for k in ("max_channels", "max_groups", "max_cost_usd") if k in given})
    request = SelectionRequest(
        query=read.query,
        clarify_result=ClarifyResult(
            mode=given.get("mode", "deep"),
            channel_priority=given.get("priority", ()),
            channel_skip=given.get("skip", ()),
        ),
        scope=Scope(languages=given.get("languages", "all"), recency=given.get("recency", "any"), budget=budget),
    )
    limits, _ = build_limits(request, read, cat, settings, env)
    return Context(read, limits, cat, settings, frozenset(boosted), history)


def judged(groups=None, leaves=None):
    """Semantic factors as {name: value} or {name: (value, value)}."""
    return Judgement(
        {name: GroupJudgement(*_pair(value)) for name, value in (groups or {}).items()},
        {name: LeafJudgement(*_pair(value, second=0.0)) for name, value in (leaves or {}).items()},
    )


def _pair(value, second=None):
    return value if isinstance(value, tuple) else (value, value if second is None else second)
