"""Ten thousand calls at concurrency fifty, over HTTP on loopback, against a process of its own."""

import json
import statistics
import time

import anyio
import httpx
import pytest

from tests.server.calls import EN, ZH
from tests.server.processes import ended, resident_mb, serving

CALLS, WORKERS, SETTLED = 10_000, 50, 2_000
HEADERS = {"accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}},
}  # fmt: skip


def called(number):
    query = f"{ZH if number % 2 else EN} {number}"
    params = {"name": "select_channels_tool", "arguments": {"query": query}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def answer_of(response):
    """The JSON-RPC answer out of the event stream."""
    assert response.status_code == 200, (response.status_code, response.text)
    data = [line[6:] for line in response.text.splitlines() if line.startswith("data: {")]
    return json.loads(data[-1])


async def work(url, numbers, took, memory):
    async with httpx.AsyncClient(timeout=60, headers=HEADERS) as http:
        opened = await http.post(url, json=HELLO)
        http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        for number in numbers:
            began = time.perf_counter()
            answer = answer_of(await http.post(url, json=called(number)))
            took[number] = time.perf_counter() - began
            assert answer["id"] == number
            assert answer["result"]["structuredContent"]["channels"]
            if len(took) % 500 == 0:
                memory(len(took))


async def load(url, process):
    took, held = {}, {}

    def memory(done):
        held[done] = resident_mb(process)

    async with anyio.create_task_group() as group:
        for worker in range(WORKERS):
            group.start_soon(work, url, range(worker, CALLS, WORKERS), took, memory)
    return took, held


@pytest.mark.slow
@pytest.mark.rule("MCP-4.7")
def test_ten_thousand_calls_lose_none_and_memory_stays_flat(tmp_path, record_property):
    home = {name: str(tmp_path) for name in ("HOME", "PLANNER_STATE_DIR", "XDG_CONFIG_HOME")}
    with serving(home) as (url, process):
        began = time.perf_counter()
        took, held = anyio.run(load, url, process)
        lasted = time.perf_counter() - began
        code, _, err = ended(process)
    centiles = statistics.quantiles(took.values(), n=100)
    figures = {
        "calls": len(took), "seconds": round(lasted, 1), "per_second": round(len(took) / lasted),
        "p50_ms": round(centiles[49] * 1000, 1), "p99_ms": round(centiles[98] * 1000, 1),
        "memory_mb": {done: round(mb, 1) for done, mb in sorted(held.items()) if done % 2000 == 0},
    }  # fmt: skip
    record_property("load", figures)
    print(json.dumps(figures))
    assert len(took) == CALLS
    settled = min(mb for done, mb in held.items() if done >= SETTLED)
    assert held[max(held)] - settled < 20
    assert code == 0
    assert b"Traceback" not in err
