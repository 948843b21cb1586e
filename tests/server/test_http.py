"""MCP over HTTP: a process, the official client, and those who should not come in."""

import json
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest
from mcp import Client

from tests.server.calls import ZH, good_calls
from tests.server.processes import ended, refused, serving

TOKEN = "correct-horse-battery"
CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "select_channels_tool", "arguments": {"query": ZH}},
}  # fmt: skip
HEADERS = {"accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("served"))
    return {"HOME": folder, "PLANNER_STATE_DIR": folder, "XDG_CONFIG_HOME": folder}


@pytest.fixture(scope="module")
def url(home):
    with serving(home) as (address, _):
        yield address


@pytest.fixture(scope="module")
def locked(home):
    with serving({**home, "PLANNER_HTTP_TOKEN": TOKEN}) as (address, process):
        yield address, process


@pytest.mark.anyio
@pytest.mark.rule("MCP-1.13", "MCP-4.1")
async def test_the_official_client_runs_every_tool(url, era):
    async with Client(url, mode=era) as client:
        answers = await good_calls(client.call_tool)
        assert len((await client.list_tools()).tools) == len(answers)
        assert json.loads((await client.read_resource("catalog://channels")).contents[0].text)["channels"]
    assert not any(answer.is_error for answer in answers.values())


@pytest.mark.rule("MCP-4.5")
def test_health_tells_nothing_but_that_it_lives(locked):
    url, _ = locked
    answer = httpx.get(url.replace("/mcp", "/health"))
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "server" not in answer.headers


@pytest.mark.rule("MCP-4.2", "MCP-4.3", "MCP-4.6")
def test_those_who_should_not_come_in_are_refused(locked):
    url, _ = locked
    bearer = {"authorization": f"Bearer {TOKEN}"}
    tried = {
        "no token": ({}, 401),
        "a wrong token": ({"authorization": "Bearer wrong-horse"}, 401),
        "a longer token": ({"authorization": f"Bearer {TOKEN}{'x' * 4000}"}, 401),
        "a foreign host": ({**bearer, "host": "evil.example"}, 421),
        "a foreign origin": ({**bearer, "origin": "https://evil.example"}, 403),
        "the token": (bearer, 200),
    }
    for name, (headers, status) in tried.items():
        answer = httpx.post(url, json=HELLO, headers={**HEADERS, **headers})
        assert answer.status_code == status, name
        assert TOKEN not in answer.text
        assert "evil" not in answer.text
        assert "wrong" not in answer.text


@pytest.mark.rule("MCP-4.3", "MCP-4.4")
def test_an_oversized_token_or_body_is_refused(locked):
    url, _ = locked
    for size in (20_000, 90_000, 300_000):
        headers = {**HEADERS, "authorization": f"Bearer {'x' * size}"}
        with suppress(httpx.TransportError):  # the server need not read all of it
            assert httpx.post(url, json=HELLO, headers=headers).status_code in (400, 401, 431)
    body = httpx.post(url, content=b"x" * 2**20, headers={**HEADERS, "authorization": f"Bearer {TOKEN}"})
    assert body.status_code == 413


@pytest.mark.rule("MCP-4.1")
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_it_does_not_start_for_others_without_a_token(home, address):
    code, said = refused(home, "--http", address)
    assert code == 2
    assert "PLANNER_HTTP_TOKEN" in said


@pytest.mark.rule("MCP-4.1")
def test_an_address_that_is_taken_is_said_plainly(home, url):
    code, said = refused(home, "--http", url.removeprefix("http://").removesuffix("/mcp"))
    assert code == 2
    assert "a free one" in said
    assert "Traceback" not in said


@pytest.mark.rule("MCP-4.5", "MCP-4.6")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_nothing_was_logged(home, number):
    with serving({**home, "PLANNER_HTTP_TOKEN": TOKEN}) as (url, process):
        httpx.post(url, json=HELLO, headers={**HEADERS, "authorization": "Bearer wrong-horse"})
        code, out, err = ended(process, number)
    assert code in (0, 130)
    assert out == b""
    assert b"horse" not in err
    assert b"Traceback" not in err


@pytest.mark.rule("MCP-4.5")
def test_what_is_being_answered_is_finished_first(home):
    with serving(home) as (url, process), ThreadPoolExecutor(1) as pool:
        began = threading.Event()

        def body():
            yield json.dumps(HELLO).encode()[:-1]
            began.set()
            time.sleep(0.7)
            yield b"}"

        answer = pool.submit(httpx.post, url, content=body(), headers={**HEADERS, "content-type": "application/json"})
        began.wait(5)
        time.sleep(0.2)
        code, _, _ = ended(process)
    assert answer.result().status_code == 200
    assert code == 0


@pytest.mark.rule("EXP-1.3")
def test_the_explorer_is_served_to_this_machine(home):
    command = ("explore", "--no-open", "--port", "0")
    with serving(home, command=command) as (url, process):
        assert "<title>" in httpx.get(url).text
        assert httpx.get(url, headers={"host": "evil.example"}).status_code == 421
        code, out, _ = ended(process)
    assert (code, out) == (0, b"")
    assert url.startswith("http://127.0.0.1:")
