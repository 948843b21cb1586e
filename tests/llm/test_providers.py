"""Requests as other providers want them, recorded by a local server that speaks their protocol."""

import json

import pytest

from planner import Planner
from planner.llm import libraries, state
from tests.recorders.fault_rows import GOOD, OK, QUERY
from tests.recorders.faults import Reply, chat, serve

KEY = "test-key-of-a-provider"


def anthropic(request, _before):
    tools = request.json.get("tools")
    part = (
        {"type": "tool_use", "id": "t1", "name": tools[0]["name"], "input": GOOD}
        if tools
        else {"type": "text", "text": OK}
    )
    body = {
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [part],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 900, "output_tokens": 120},
    }  # fmt: skip
    return Reply(body=json.dumps(body).encode())


def ollama(_request, _before):
    body = {
        "model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": OK},
        "response": OK, "done": True, "done_reason": "stop", "prompt_eval_count": 900, "eval_count": 120,
    }  # fmt: skip
    return Reply(body=json.dumps(body).encode())


def gemini(_request, _before):
    part = {"content": {"role": "model", "parts": [{"text": OK}]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 900, "candidatesTokenCount": 120, "totalTokenCount": 1020}
    return Reply(body=json.dumps({"candidates": [part], "usageMetadata": usage}).encode())


def openai(_request, _before):
    return chat(OK)


PROVIDERS = [
    ("openai/gpt-4.1", "OPENAI_API_KEY", openai, "/v1", "/v1/chat/completions"),
    ("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY", anthropic, "", "/v1/messages"),
    ("deepseek/deepseek-chat", "DEEPSEEK_API_KEY", openai, "/v1", "/v1/chat/completions"),
    ("dashscope/qwen-plus", "DASHSCOPE_API_KEY", openai, "/v1", "/v1/chat/completions"),
    ("hosted_vllm/qwen", None, openai, "/v1", "/v1/chat/completions"),
    ("litellm_proxy/any", "LITELLM_PROXY_API_KEY", openai, "/v1", "/v1/chat/completions"),
    ("ollama_chat/qwen2.5", None, ollama, "", "/api/chat"),
    ("gemini/gemini-2.5-flash", "GEMINI_API_KEY", gemini, "", None),
]


@pytest.mark.rule("JDG-3.4")
@pytest.mark.parametrize(("model", "variable", "script", "suffix", "path"), PROVIDERS, ids=[p[0] for p in PROVIDERS])
def test_each_provider_is_asked_in_its_own_protocol(env, model, variable, script, suffix, path):
    libraries.load()
    state.forget()
    keys = {variable: KEY} if variable else {}
    with serve(script) as server:
        tier = {"model": model, "api_base": server.url + suffix}
        planner = Planner(settings={"llm": {"standard": tier}}, env={**env, **keys})
        plan = planner.select(QUERY, judge="standard")
    assert plan.judge.tier == "standard", plan.degradations
    assert plan.usage.tokens_in == 900
    if path:
        assert server.seen[0].path == path
    if variable:
        assert KEY in json.dumps(server.seen[0].headers) + server.seen[0].path
