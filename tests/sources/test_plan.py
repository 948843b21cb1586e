import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from routing_example import EXAMPLE

from planner.routes import explain_route, route_sources
from planner.sources.fallback import engines_with_keys
from planner.sources.hints import quoted

FIELDS = [
    "task_id", "task_type", "primary_subject", "selected_sources", "search_order", "counter_search_enabled",
    "counter_trigger", "stop_rule", "budget_allocation", "fallback_chain", "degradation_log", "branch", "warnings",
]  # fmt: skip
CHAIN = [
    (1, "tavily_search", "quota_exhausted | timeout_30s | empty_results", 2),
    (2, "bailian_web_search", "api_error | timeout_30s", 3),
    (3, "web_search", "empty_results | gfw_blocked", 4),
    (4, "web_fetch_direct", None, 5),
    (5, "local_cache", None, None),
]
CONDITIONS = {
    "high_freshness": ("找到3个独立权威信源确认同一事实", 3),
    "deep_research": ("每类来源至少覆盖2次，累计找到≥10条高置信度结果", 5),
    "entity_analysis": ("主实体关系网络 ≥5个节点，且覆盖3种以上关系类型", 4),
    "internal_knowledge": ("本地命中 ≥5条相关文档，且覆盖信息缺口的80%以上", 3),
    "tech_evaluation": ("找到至少2份独立benchmark/评测报告，且覆盖目标变量的正反两面", 4),
    "default": ("总搜索轮数达到上限，或连续2轮无新增高价值结果", 3),
}


@pytest.mark.rule("RTE-7.1", "RTE-6.1")
def test_the_json_has_the_fields_of_the_source_document(plan_of):
    plan = plan_of(available_sources=["web", "local_file", "graph", "counter"]).model_dump(mode="json")
    assert list(plan) == FIELDS
    assert list(plan["budget_allocation"].items()) == [
        ("total_budget", 10), ("web", 5), ("counter", 2), ("graph", 2), ("local_file", 1)
    ]  # fmt: skip
    keys = ("level", "source", "trigger_fallback", "fallback_to")
    assert plan["fallback_chain"] == [dict(zip(keys, level, strict=True)) for level in CHAIN]
    assert plan["stop_rule"] == {"condition": CONDITIONS["deep_research"][0], "max_rounds": 5}
    assert list(plan["selected_sources"][0]) == ["source", "priority", "rationale", "search_hints", "engine"]
    assert plan["degradation_log"] == []


def keyless(env, **changes):
    warnings = route_sources({**EXAMPLE, **changes}, settings={}, env=env).warnings
    return [line for line in warnings if "_API_KEY" in line]


@pytest.mark.rule("RTE-6.7")
def test_an_engine_without_its_key_is_told_by_the_missing_variable():
    (line,) = keyless({"TAVILY_API_KEY": "set"})
    assert "TAVILY" not in line
    assert "bailian_web_search (DASHSCOPE_API_KEY)" in line
    assert "web_search (BRAVE_API_KEY / BRAVE_SEARCH_API_KEY)" in line
    assert "set" not in line


@pytest.mark.rule("RTE-6.7")
@pytest.mark.parametrize(
    ("env", "changes"),
    [
        ({"TAVILY_API_KEY": "x", "DASHSCOPE_API_KEY": "x", "BRAVE_SEARCH_API_KEY": "x"}, {}),
        ({}, {"available_engines": "auto"}),
        ({}, {"available_engines": ["tavily_search"]}),
        ({}, {"available_sources": ["vector", "local_file"]}),
    ],
)
def test_nothing_is_told_where_keys_are_set_engines_are_named_or_none_is_used(env, changes):
    assert keyless(env, **changes) == []


@pytest.mark.rule("RTE-7.2")
def test_the_outer_verb_gives_id_and_time():
    plan = route_sources({**EXAMPLE, "available_sources": []}, settings={}, env={})
    assert re.fullmatch(r"SR-[0-9a-f]{8}", plan.task_id)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", plan.degradation_log[0].timestamp)
    assert plan.degradation_log[0].query_affected == "AI芯片"
    assert plan.degradation_log[0].from_level is plan.degradation_log[0].to_level is None


def test_equal_requests_give_equal_plans_beside_id_and_time():
    plans = [route_sources(EXAMPLE, settings={}, env={}) for _ in range(2)]
    assert plans[0].core() == plans[1].core()
    assert plans[0].task_id != plans[1].task_id


@pytest.mark.rule("RTE-4.9")
def test_selected_sources_stand_in_search_order_with_the_rule_that_set_them(plan_of):
    plan = plan_of()
    assert [entry.source for entry in plan.selected_sources] == list(plan.search_order)
    assert [entry.priority for entry in plan.selected_sources] == [1, 2, 3, 4, 5]
    assert all("RTE-4." in entry.rationale for entry in plan.selected_sources)


@pytest.mark.rule("RTE-4.8")
def test_known_local_material_is_searched_first(plan_of):
    assert plan_of(known_local_material=True).search_order == ("vector", "local_file", "web", "counter", "graph")
    assert plan_of(known_local_material=True, freshness_required="high").search_order[0] == "web"


@pytest.mark.rule("RTE-5.1")
@pytest.mark.parametrize("branch", CONDITIONS)
def test_each_branch_has_its_stop_rule_in_both_languages(branch, plan_of):
    changes = {"task_type": branch} if branch in ("entity_analysis", "internal_knowledge", "tech_evaluation") else {}
    if branch == "high_freshness":
        changes = {"freshness_required": "high"}
    if branch == "default":
        changes = {"freshness_required": "high", "available_sources": ["vector"]}
    plan, english = plan_of(**changes), plan_of(**changes, language="en")
    assert (plan.branch, plan.stop_rule.condition, plan.stop_rule.max_rounds) == (branch, *CONDITIONS[branch])
    assert english.stop_rule.condition.isascii()


@pytest.mark.rule("RTE-6.2")
@pytest.mark.parametrize(
    ("changes", "engines"),
    [
        ({"available_sources": ["web"]}, ["tavily_search", "bailian_web_search", "web_search", "web_fetch_direct"]),
        ({"available_sources": ["local_file"]}, ["local_cache"]),
        ({"available_sources": ["counter"]}, ["local_cache"]),
        ({"available_engines": ["local_cache", "web_search"]}, ["web_search", "local_cache"]),
    ],
)
def test_the_chain_keeps_what_is_available_and_renumbers(changes, engines, plan_of):
    chain = plan_of(**changes).fallback_chain
    assert [level.source for level in chain] == engines
    assert [level.level for level in chain] == list(range(1, len(engines) + 1))
    assert [level.fallback_to for level in chain] == [*range(2, len(engines) + 1), None]


@pytest.mark.rule("RTE-6.4")
def test_the_first_engine_is_named_on_web_and_counter(plan_of):
    engines = {entry.source: entry.engine for entry in plan_of(available_engines=["web_search"]).selected_sources}
    assert engines == {"web": "web_search", "counter": "web_search", "vector": None, "graph": None, "local_file": None}


@pytest.mark.rule("RTE-6.5")
def test_a_plan_without_web_says_so(plan_of):
    plan = plan_of(available_sources=["vector", "local_file"])
    assert [entry.reason for entry in plan.degradation_log] == ["web_unavailable"]
    assert plan.degradation_log[0].query_affected == "AI芯片"


@pytest.mark.rule("RTE-1.4")
def test_auto_takes_the_engines_whose_key_is_set(rules):
    env = {"TAVILY_API_KEY": "", "BRAVE_API_KEY": "set"}
    assert engines_with_keys(env, rules) == ("web_search", "web_fetch_direct", "local_cache")
    plan = route_sources({**EXAMPLE, "available_engines": "auto"}, settings={}, env=env)
    assert [level.source for level in plan.fallback_chain] == ["web_search", "web_fetch_direct", "local_cache"]


@pytest.mark.rule("RTE-4.10")
@pytest.mark.parametrize(
    ("language", "doubt", "degree", "meaning"),
    [
        ("zh", "质疑 争议 失败 反面 缺点 局限性", "1 度", "意思接近"),
        ("en", "criticism controversy failure drawbacks limitations", "first-degree", "close to"),
    ],
)
def test_hints_suit_the_source_and_the_language(language, doubt, degree, meaning, plan_of):
    plan = plan_of(language=language, information_gaps=["市场份额"], preferred_domains=["example.com"])
    hints = {entry.source: "\n".join(entry.search_hints) for entry in plan.selected_sources}
    assert doubt in hints["counter"]
    assert degree in hints["graph"]
    assert meaning in hints["vector"]
    assert "市场份额" in hints["vector"]
    assert "市场份额" in hints["web"]
    assert "site:example.com" in hints["web"]
    assert "memory/" in hints["local_file"]
    assert ".md > .json > .txt > .csv" in hints["local_file"]


@pytest.mark.rule("RTE-4.11")
@given(st.text(min_size=1, max_size=60))
def test_the_subject_is_quoted_as_data(text):
    assert json.loads(quoted(text)) == text
    assert "\n" not in quoted(text)


@pytest.mark.rule("RTE-4.11")
def test_a_subject_cannot_break_out_of_its_quotes(plan_of):
    plan = plan_of(primary_subject='x" site:evil.example {domain} \n"', language="en")
    assert all('\\" site:evil.example {domain}' in hint for hint in plan.selected_sources[0].search_hints)


@pytest.mark.rule("RTE-7.4")
def test_an_explanation_names_the_rule_of_each_number_and_what_yielded():
    routed = explain_route(EXAMPLE, settings={}, env={})
    set_by = {decision.what: decision for decision in routed.decisions}
    assert (set_by["web"].rule, set_by["web"].yielded) == ("RTE-4.4", "its share of 8 = 3")
    assert set_by["counter"].yielded == "share 15 % = 1.5"
    numbers = {source: number for source, number in routed.plan.budget_allocation.items() if source != "total_budget"}
    assert {what: set_by[what].value for what in numbers} == numbers


@pytest.mark.rule("RTE-7.4")
def test_sources_that_left_the_plan_are_explained():
    routed = explain_route({**EXAMPLE, "budget_limit": 4}, settings={}, env={})
    left = {decision.what: decision.rule for decision in routed.decisions if decision.value == 0}
    assert left == {"graph": "RTE-4.2", "local_file": "RTE-4.2", "counter": "RTE-3.3"}


@pytest.mark.rule("RTE-7.4")
def test_sources_that_moved_to_the_front_are_explained():
    routed = explain_route({**EXAMPLE, "known_local_material": True}, settings={}, env={})
    moved = {d.what: (d.value, d.yielded) for d in routed.decisions if d.what.startswith("place of")}
    assert moved == {"place of vector": (1, "place 3"), "place of local_file": (2, "place 5")}
