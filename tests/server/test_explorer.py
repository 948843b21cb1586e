import re
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner.server
from planner.errors import InputError
from planner.server.explorer import explorer_app, read_ask
from planner.server.http import Address, read_rules
from tests.server.calls import EN, ZH

pytestmark = pytest.mark.anyio
PAGE = Path(planner.server.__file__).parent / "page"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def app(planner):
    return explorer_app(planner, read_rules(Address("127.0.0.1", 0), planner.settings.server, {}, ()))


@pytest.fixture
def http(app):
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


@pytest.mark.rule("EXP-1.1")
@pytest.mark.parametrize(
    ("path", "kind"), [("/", "text/html"), ("/app.css", "text/css"), ("/app.js", "text/javascript")]
)
async def test_the_page_is_served_with_a_policy_that_forbids_the_outside(http, path, kind):
    answer = await http.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?:", policy)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.rule("EXP-1.1", "EXP-2.7")
def test_the_page_names_no_other_address_and_makes_no_markup_of_text():
    for file in PAGE.iterdir():
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        text = text.replace("xmlns='http://www.w3.org/2000/svg'", "")
        assert not re.search(r"https?://|//[a-z]+\.[a-z]+/|@import|url\(", text), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function", text), file.name
        assert not re.search(r"<[^>]+\s(on\w+|style)=", text), file.name


async def test_what_the_page_needs_to_know(http, planner):
    about = (await http.get("/api/about")).json()
    assert len(about["channels"]) == 41
    assert sum(about["weights"]["leaf"].values()) == pytest.approx(1)
    assert about["has_model"] is False


async def test_a_plan_is_that_of_the_library(http, planner):
    given = {"query": EN, "mode": "deep", "max_channels": 6, "channel_skip": ["reddit"], "budget_limit": 20}
    told = (await http.post("/api/plan", json=given)).json()
    plan = planner.select(EN, {"mode": "deep", "channel_skip": ["reddit"]}, {"budget": {"max_channels": 6}})
    assert [pick["channel"] for pick in told["channels"]["channels"]] == [pick.channel for pick in plan.channels]
    assert told["sources"]["budget_allocation"]["total_budget"] == 20
    assert told["request"]["task_description"] == EN


@pytest.mark.rule("EXP-1.2")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"), ({"query": "  "}, "query"), ({"query": ZH * 400}, "query"), ({"query": 3}, "query"),
        ({"query": ZH, "mode": "slow"}, "mode"), ({"query": ZH, "max_channels": 0}, "max_channels"),
        ({"query": ZH, "max_cost_usd": -1}, "max_cost_usd"), ({"query": ZH, "budget_limit": 5000}, "budget_limit"),
        ({"query": ZH, "moed": "fast"}, "moed"), ({"query": ZH, "judge": "oracle"}, "judge"), ([], "body"),
    ],
)  # fmt: skip
async def test_bad_input_names_the_field(http, body, field):
    answer = await http.post("/api/plan", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["field"].split(".")[-1] == field
    assert answer.json()["error"]["accepted"]


@pytest.mark.rule("EXP-1.2")
@given(st.binary(max_size=200))
def test_no_body_whatever_is_more_than_refused(raw):
    with suppress(InputError):
        assert isinstance(read_ask(raw).query, str)


@pytest.mark.rule("EXP-1.3")
async def test_another_site_cannot_ask(http):
    as_text = await http.post("/api/plan", content='{"query": "x"}', headers={"content-type": "text/plain"})
    assert as_text.status_code == 400
    foreign = await http.post("/api/plan", json={"query": "x"}, headers={"origin": "https://evil.example"})
    assert foreign.status_code == 403
    asked_first = await http.options("/api/plan", headers={"origin": "http://localhost:1"})
    assert "access-control-allow-origin" not in asked_first.headers


@pytest.mark.rule("EXP-2.7")
async def test_a_question_of_markup_comes_back_as_json_only(http):
    answer = await http.post("/api/plan", json={"query": SCRIPT})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/etc/passwd", "/../page/app.js", "/api", "/app.js/x", "/api/plan/"])
async def test_nothing_else_is_there(http, path):
    assert (await http.get(path)).status_code in (307, 404, 405)


async def test_a_broken_planner_says_only_that(http, planner, monkeypatch):
    from planner.errors import CatalogError

    async def broken(**_arguments):
        raise CatalogError("the catalog is gone")

    monkeypatch.setattr(planner, "aselect", broken)
    answer = await http.post("/api/plan", json={"query": ZH})
    assert (answer.status_code, answer.json()) == (500, {"error": {"message": "the catalog is gone"}})
