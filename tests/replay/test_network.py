"""During a replay no model call reaches a server, whatever client it goes through; other sockets work."""

import asyncio
import socket
from urllib.parse import urlsplit

import pytest

from planner import Planner, ReplayMiss
from planner.llm import libraries, portal, state
from planner.replay import replay
from tests.recorders.fault_rows import OK, QUERY
from tests.recorders.faults import chat, serve

OTHER = "how do heat pumps work"
MODELS = (
    "openai/gpt-4.1", "anthropic/claude-haiku-4-5", "gemini/gemini-2.5-flash", "ollama_chat/qwen3:8b", "ollama/qwen3",
    "hosted_vllm/Qwen3-8B", "deepseek/deepseek-chat", "dashscope/qwen-plus", "mistral/mistral-medium-latest",
    "groq/x", "xai/x", "openrouter/x/y", "cohere/command-r", "litellm_proxy/judge",
)  # fmt: skip


def asked(model, api_base, query, env):
    settings = {"llm": {"standard": {"model": model, "api_base": api_base}, "backoff_s": 0.01}}
    return Planner(settings=settings, env=env).select(query, judge="standard")


@pytest.fixture
def server():
    with serve(chat(OK)) as running:
        yield running


@pytest.fixture
def cassette(tmp_path, server, env):
    path = tmp_path / "one.yaml"
    with replay(path, record=True):
        asked("openai/gpt-4.1", server.api_base, QUERY, env)
    server.seen.clear()
    return path


@pytest.fixture(params=[True, False], ids=["httpx", "aiohttp"])
def transport(request, monkeypatch):
    """The transport litellm uses; clients it made before are closed."""
    monkeypatch.setattr(libraries.litellm(), "disable_aiohttp_transport", request.param)
    portal.run(libraries.close_clients)
    yield request.param
    portal.run(libraries.close_clients)


@pytest.mark.rule("JDG-4.4")
@pytest.mark.parametrize("model", MODELS)
def test_each_client_that_litellm_uses_is_answered_by_the_recording_alone(model, transport, cassette, server, env):
    with pytest.raises(ReplayMiss), replay(cassette):
        asked(model, server.api_base, OTHER, env)
    assert server.seen == []


@pytest.fixture
def raw_provider(monkeypatch):
    """A provider of the user's own, whose client is none that vcr knows: it opens its connection itself."""
    module = libraries.litellm()

    class Raw(module.CustomLLM):
        async def acompletion(self, *, api_base, **_):
            place = urlsplit(api_base)
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            writer.write(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
            try:
                await reader.readline()
            finally:
                writer.close()
            raise ConnectionError("it gives no answer")

    monkeypatch.setattr(module, "custom_provider_map", [{"provider": "raw", "custom_handler": Raw()}])
    monkeypatch.setattr(module, "provider_list", [*module.provider_list, "raw"])
    monkeypatch.setattr(module, "_custom_providers", [*module._custom_providers, "raw"])


@pytest.mark.rule("JDG-4.4")
@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
def test_a_client_that_vcr_does_not_know_is_refused_too(host, raw_provider, cassette, server, env):
    state.forget()
    asked("raw/x", server.url, OTHER, env)
    assert len(server.seen) > 0, "outside a replay it gets through"
    server.seen.clear()
    with pytest.raises(ReplayMiss, match="tried to"), replay(cassette, whole=False):
        asked("raw/x", f"http://{host}:{server.port}", OTHER, env)
    assert server.seen == []


@pytest.mark.rule("JDG-4.4")
def test_sockets_of_the_test_itself_work_during_a_replay(cassette, server, env):
    with replay(cassette, whole=False), socket.create_connection(("127.0.0.1", server.port), timeout=5) as own:
        asked("openai/gpt-4.1", server.api_base, QUERY, env)
        own.sendall(b"GET /mine HTTP/1.1\r\n\r\n")
        assert own.recv(20).startswith(b"HTTP/1.1 200")
    assert [seen.path for seen in server.seen] == ["/mine"]


def test_after_a_replay_models_are_reached_again(cassette, server, env):
    with replay(cassette, whole=False):
        asked("openai/gpt-4.1", server.api_base, QUERY, env)
    state.forget()
    assert asked("openai/gpt-4.1", server.api_base, QUERY, env).judge.tier == "standard"
    assert len(server.seen) == 1
