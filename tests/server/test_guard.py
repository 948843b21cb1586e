import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.server.guard import LOOPBACK, Buckets, Guard, Rules
from planner.server.http import Address, read_address, read_rules
from planner.settings import default_settings

pytestmark = pytest.mark.anyio
TOKEN = "correct-horse-battery"
BOUNDS = default_settings().server


async def app(scope, receive, send):
    """Reads all of the body and says how much it was."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def client(token=None, inner=app, client=("127.0.0.1", 1), clock=lambda: 0.0, **bounds):
    rules = Rules(LOOPBACK, token, BOUNDS.model_copy(update=bounds))
    transport = httpx.ASGITransport(Guard(inner, rules, clock), client=client)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")


async def get(headers=None, path="/", **options):
    async with client(**options) as http:
        return await http.get(path, headers=headers)


@pytest.mark.rule("MCP-4.2")
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:99", "localhost", "LOCALHOST:8000", "[::1]:8000"])
async def test_its_own_names_are_answered(host):
    assert (await get({"host": host})).status_code == 200


@pytest.mark.rule("MCP-4.2", "MCP-4.6")
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost:80@evil.example", "localhost.", "", "[::1", "127.1"]
)
@pytest.mark.parametrize("path", ["/", "/mcp", "/health"])
async def test_a_foreign_host_is_refused(host, path):
    answer = await get({"host": host}, path)
    assert answer.status_code == 421
    assert not host or host not in answer.text


@pytest.mark.rule("MCP-4.2", "EXP-1.3")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:8000", 200), ("http://localhost:5173", 200), ("http://[::1]:1", 200),
        ("https://evil.example", 403), ("null", 403),
        ("http://127.0.0.1:18951.evil.example", 403), ("http://localhost.evil.example", 403), ("file://localhost", 403),
        ("http://evil.example@localhost.evil", 403), ("", 403),
    ],
)  # fmt: skip
async def test_a_foreign_origin_is_refused(origin, status):
    assert (await get({"origin": origin})).status_code == status


@pytest.mark.rule("MCP-4.3", "MCP-4.6")
@pytest.mark.parametrize(
    "authorization",
    [None, "", TOKEN, f"Bearer {TOKEN}x", "Bearer ", "Bearer", f"Basic {TOKEN}", "Bearer " + "x" * 100_000, "Bearer ü"],
)
async def test_without_the_token_nothing_is_answered(authorization):
    headers = {} if authorization is None else {"authorization": authorization.encode("utf-8")}
    for path in ("/", "/mcp", "/health/", "//health"):
        answer = await get(headers, path, token=TOKEN)
        assert answer.status_code == 401
        assert answer.json() == {"error": "a bearer token is needed"}
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.rule("MCP-4.3", "MCP-4.5")
async def test_with_the_token_all_is_answered_and_health_without_it():
    assert (await get({"authorization": f"bearer {TOKEN}"}, token=TOKEN)).status_code == 200
    assert (await get(path="/health", token=TOKEN)).status_code == 200


@pytest.mark.rule("MCP-4.4")
async def test_a_body_that_is_too_large_is_refused_however_it_comes():
    async def pieces():
        for _ in range(3):
            yield b"x" * 1024

    async with client(body_kb=2) as http:
        assert (await http.post("/", content=b"x" * 2048)).text == "2048"
        assert (await http.post("/", content=b"x" * 2049)).status_code == 413
        assert (await http.post("/", content=pieces())).status_code == 413


@pytest.mark.rule("MCP-4.4")
async def test_more_at_a_time_than_the_bound_are_told_to_come_back():
    leave, running = anyio.Event(), []

    async def slow(scope, receive, send):
        running.append(scope)
        await leave.wait()
        await app(scope, receive, send)

    answers = []
    async with client(inner=slow, concurrency=1) as http, anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(post, http, answers)
        await anyio.wait_all_tasks_blocked()
        refused = await http.post("/")
        assert len(running) == 1
        leave.set()
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert [answer.status_code for answer in answers] == [200, 200]


async def post(http, answers):
    answers.append(await http.post("/"))


@pytest.mark.rule("MCP-4.4")
async def test_a_client_that_asks_too_fast_is_refused_and_another_is_not():
    now = [0.0]
    async with client(burst=3, requests_per_s=1.0, clock=lambda: now[0]) as http:
        assert [(await http.get("/")).status_code for _ in range(4)] == [200, 200, 200, 429]
        now[0] = 2.0
        assert [(await http.get("/")).status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.rule("MCP-4.4")
@given(st.lists(st.tuples(st.floats(0, 5), st.sampled_from("ab")), max_size=80))
def test_no_client_gets_more_than_burst_and_rate_allow(steps):
    now, admitted = 0.0, {"a": 0, "b": 0}
    buckets = Buckets(2.0, 5, lambda: now)
    for pause, name in steps:
        now += pause
        admitted[name] += buckets.admits(name)
        assert admitted[name] <= 5 + 2.0 * now + 1e-6


@pytest.mark.rule("MCP-4.1")
@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:80", Address("127.0.0.1", 80)),
        ("[::1]:0", Address("::1", 0)),
        ("localhost:1", Address("localhost", 1)),
    ],
)
def test_loopback_needs_no_token(text, address):
    assert read_address(text) == address
    assert read_rules(address, BOUNDS, {}, ()).token is None


@pytest.mark.rule("MCP-4.1")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "planner.example", "10.0.0.1"])
def test_another_address_needs_one(host):
    for token in ({}, {"PLANNER_HTTP_TOKEN": "  "}):
        with pytest.raises(InputError, match="PLANNER_HTTP_TOKEN"):
            read_rules(Address(host, 80), BOUNDS, token, ())
    rules = read_rules(Address(host, 80), BOUNDS, {"PLANNER_HTTP_TOKEN": TOKEN}, ("Planner.Example",))
    assert rules.token == TOKEN
    assert {host, "planner.example"} <= rules.hosts


@pytest.mark.parametrize("text", ["", "8000", ":8000", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "::1:80", "a:²"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(InputError, match="HOST:PORT"):
        read_address(text)
