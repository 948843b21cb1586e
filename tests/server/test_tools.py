import importlib.util
import json
import os
from pathlib import Path

import jsonschema
import pytest

from planner.server.mcp import build_server
from tests.server.calls import EN, ROUTE, ZH, good_calls

pytestmark = pytest.mark.anyio
SNAPSHOT = Path(__file__).with_name("tools.json")


async def listed(connect):
    async with connect() as client:
        return {tool.name: tool for tool in (await client.list_tools()).tools}


async def called(connect, name, arguments):
    async with connect() as client:
        return await client.call_tool(name, arguments)


@pytest.mark.rule("MCP-1.2", "MCP-1.10", "MCP-1.13")
async def test_every_tool_answers_by_its_schema_and_says_the_same_in_text(connect):
    tools = await listed(connect)
    async with connect() as client:
        answers = await good_calls(client.call_tool)
    assert set(answers) == set(tools)
    for name, answer in answers.items():
        assert not answer.is_error, answer.content
        jsonschema.Draft202012Validator(tools[name].output_schema).validate(answer.structured_content)
        assert len(answer.content) == 1
        assert json.loads(answer.content[0].text) == answer.structured_content


@pytest.mark.rule("MCP-1.10")
async def test_schemas_are_valid_and_self_contained(connect):
    for tool in (await listed(connect)).values():
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert all(ref.startswith("#/$defs/") for ref in references(schema))
            assert not {"ge", "le", "strict"} & set(keywords(schema))


def references(schema):
    return [value for key, value in walk(schema) if key == "$ref"]


def keywords(schema):
    return [key for key, value in walk(schema) if not isinstance(value, dict)]


def walk(schema):
    items = schema.items() if isinstance(schema, dict) else enumerate(schema) if isinstance(schema, list) else ()
    for key, value in items:
        yield key, value
        yield from walk(value)


@pytest.mark.rule("MCP-1.8")
async def test_the_list_of_tools_is_the_reviewed_one(connect):
    shown = [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"output_schema"})
        for tool in (await listed(connect)).values()
    ]
    # after a look at the difference: REVIEWED=1 pytest tests/server/test_tools.py
    if os.environ.get("REVIEWED") == "1":
        SNAPSHOT.write_text(json.dumps(shown, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert shown == json.loads(SNAPSHOT.read_text("utf-8"))


@pytest.mark.rule("MCP-1.8")
async def test_only_recording_writes(connect):
    writing = {name for name, tool in (await listed(connect)).items() if not tool.annotations.read_only_hint}
    assert writing == {"record_outcome_tool"}
    assert (await listed(connect))["record_outcome_tool"].annotations.destructive_hint is False


@pytest.mark.rule("MCP-1.9")
async def test_the_tools_cost_at_most_2000_tokens(connect, monkeypatch):
    litellm = importlib.util.find_spec("litellm")  # it ships the encodings; importing it would take seconds
    tokenizers = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tokenizers))
    import tiktoken

    shown = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in (await listed(connect)).values()
    ]
    assert len(tiktoken.get_encoding("cl100k_base").encode(json.dumps(shown))) <= 2_000


@pytest.mark.rule("MCP-1.1")
async def test_channels_are_answered_in_the_promised_shape(connect):
    answer = await called(connect, "select_channels_tool", {
        "query": ZH, "channel_priority": ["xiaohongshu", "zhihu"], "channel_skip": [], "mode": "fast",
    })  # fmt: skip
    told = answer.structured_content
    assert told["groups"][0] == "channels-chinese-ugc"
    assert told["channels"][0] == "xiaohongshu"
    assert not any(channel.startswith("search-") for channel in told["channels"])
    assert "xiaohongshu" in told["rationale"]
    assert told["chinese_native_quota_met"] is True
    assert told["judge"] == {"tier": "heuristic", "model": None}


@pytest.mark.rule("MCP-1.1")
async def test_it_is_the_plan_of_the_library(connect, planner):
    answer = await called(connect, "select_channels_tool", {
        "query": EN, "mode": "deep", "recency": "30d", "languages": "en_only", "max_channels": 6, "max_groups": 2,
        "max_cost_usd": 0.01, "rubrics": ["latency"], "query_type": "comparison", "channel_skip": "HN",
    })  # fmt: skip
    budget = {"max_channels": 6, "max_groups": 2, "max_cost_usd": 0.01}
    plan = planner.select(
        EN,
        {"mode": "deep", "rubrics": ["latency"], "query_type": "comparison", "channel_skip": ["hackernews"]},
        {"languages": "en_only", "recency": "30d", "budget": budget},
    )
    told = answer.structured_content
    assert told["channels"] == [pick.channel for pick in plan.channels]
    assert told["skipped_channels"] == list(plan.skipped_channels)
    assert told["warnings"] == list(plan.warnings)


@pytest.mark.rule("MCP-1.1")
async def test_picks_that_lack_a_key_are_named(connect):
    from planner.pipeline import Planner

    async with connect(planner=Planner(env={"HOME": "/nowhere"})) as client:
        told = (await client.call_tool("select_channels_tool", {"query": ZH})).structured_content
    assert told["lacking_keys"]["xiaohongshu"] == "paid (TIKHUB_API_KEY missing)"


@pytest.mark.rule("MCP-1.3")
@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("select_channels_tool", {"query": ZH, "chanel_skip": ["zhihu"]}, "did you mean channel_skip?"),
        ("plan_tool", {"question": EN, "budget": 5}, "did you mean budget_limit?"),
        ("plan_tool", {"question": EN, "zzz": 5}, "'zzz' is not an argument; known: question, budget_limit"),
        ("route_sources_tool", {**ROUTE, "goal_mod": "compare"}, "did you mean goal_mode?"),
        ("next_step_tool", {"state": {}, "event": {"sorce": "web"}}, "event.sorce: is not a known field"),
        ("record_outcome_tool", {"outcomes": [{"channel": "zhihu", "result": 1}]}, "outcomes.0.result"),
    ],
)
async def test_unknown_arguments_are_refused(connect, tool, arguments, said):
    answer = await called(connect, tool, arguments)
    assert answer.is_error
    assert said in answer.content[0].text


@pytest.mark.rule("MCP-1.4")
@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("select_channels_tool", {}, "query: is required"),
        ("select_channels_tool", {"query": "  "}, "query: got '  '; accepted: text of 1 to 4000 characters"),
        ("select_channels_tool", {"query": ZH, "mode": "fats"}, "mode: got 'fats'; accepted: 'fast', 'deep' or"),
        ("select_channels_tool", {"query": ZH, "max_channels": 0}, "max_channels: got 0; accepted: greater than"),
        ("select_channels_tool", {"query": ZH, "max_channels": True}, "max_channels: got True"),
        ("select_channels_tool", {"query": ZH, "explicit_channels": ["nowhere"]}, "at least one channel of"),
        ("route_sources_tool", {**ROUTE, "budget_limit": 2000}, "budget_limit"),
        ("route_sources_tool", {**ROUTE, "available_sources": ["web", "email"]}, "available_sources.1: got 'email'"),
        ("next_step_tool", {}, "either a plan or a state"),
        ("next_step_tool", {"plan": {"a": 1}}, "plan"),
        ("next_step_tool", {"state": {"a": 1}}, "state.plan"),
        ("record_outcome_tool", {"outcomes": []}, "1 to 1,000"),
        ("record_outcome_tool", {"outcomes": [{"channel": "zhihuu"}]}, "did you mean zhihu?"),
    ],
)
async def test_errors_can_be_acted_on(connect, tool, arguments, said):
    answer = await called(connect, tool, arguments)
    assert answer.is_error
    assert said in answer.content[0].text
    assert "pydantic" not in answer.content[0].text


@pytest.mark.rule("MCP-1.4")
async def test_a_crash_keeps_its_words_to_itself(connect, planner, monkeypatch, caplog):
    monkeypatch.setattr(planner, "aselect", crash)
    answer = await called(connect, "select_channels_tool", {"query": ZH})
    assert answer.is_error
    assert "hunter2" not in answer.content[0].text


async def crash(**_arguments):
    raise RuntimeError("password hunter2")


async def test_null_and_a_single_string_are_what_models_mean_by_them(connect):
    answer = await called(connect, "select_channels_tool", {
        "query": ZH, "channel_priority": "zhihu", "channel_skip": None, "max_channels": None, "judge": None,
    })  # fmt: skip
    assert answer.structured_content["channels"][0] in ("xiaohongshu", "zhihu")


async def test_engines_by_key(connect):
    answer = await called(connect, "route_sources_tool", {**ROUTE, "available_engines": "auto"})
    assert "tavily_search" in [level["source"] for level in answer.structured_content["fallback_chain"]]


@pytest.mark.rule("MCP-1.11")
@pytest.mark.parametrize("first", ["plan_tool", "route_sources_tool"])
async def test_a_plan_is_carried_out_to_its_stop(connect, first):
    arguments = {"question": EN, "budget_limit": 4} if first == "plan_tool" else {**ROUTE, "budget_limit": 4}
    async with connect() as client:
        plan = (await client.call_tool(first, arguments)).structured_content
        step = (await client.call_tool("next_step_tool", {"plan": plan})).structured_content
        actions = []
        while (action := step["directive"]["action"]) != "stop":
            actions.append(action)
            found = {"results": [{"grade": "B", "id": str(len(actions))}]}
            event = {"type": "round"} if action == "end_round" else found
            answer = await client.call_tool("next_step_tool", {"state": step["state"], "event": event})
            step = answer.structured_content
            assert len(actions) < 30
    assert actions.count("search") == 4
    assert step["directive"]["why"] == "budget_spent"


@pytest.mark.rule("MCP-1.11")
async def test_a_failure_falls_down_the_chain(connect):
    async with connect() as client:
        plan = (await client.call_tool("route_sources_tool", ROUTE)).structured_content
        state = (await client.call_tool("next_step_tool", {"plan": plan})).structured_content["state"]
        event = {"source": "web", "failure": "quota_exhausted"}
        step = (await client.call_tool("next_step_tool", {"state": state, "event": event})).structured_content
    assert step["directive"]["action"] == "fall_back"
    assert step["state"]["degradation_log"][-1]["reason"] == "quota_exhausted"


@pytest.mark.rule("MCP-1.12")
async def test_outcomes_of_a_session_are_recorded(connect, planner):
    async with connect() as client:
        first = await client.call_tool("record_outcome_tool", {"outcomes": [{"channel": "arxiv"}]})
        session = first.structured_content["session"]
        more = {"outcomes": [{"channel": "arxiv", "results": 2}], "session": session}
        assert (await client.call_tool("record_outcome_tool", more)).structured_content["session"] == session
    assert [event["results"] for event in planner.history.events(("arxiv",))][-2:] == [0, 2]


async def test_a_server_says_who_it_is(connect):
    async with connect() as client:
        assert "never searches" in client.instructions
    assert build_server.__doc__
