"""What would be sent, and at which price: seen without sending it."""

import json

import pytest
from click.testing import CliRunner

from planner.cli.main import cli
from tests.recorders.fault_rows import QUERY
from tests.recorders.faults import Reply, serve


@pytest.fixture
def run(env):
    return lambda *args, **extra: CliRunner().invoke(cli, list(map(str, args)), env={**env, **extra})


@pytest.mark.rule("JDG-1.5", "JDG-1.4")
def test_the_prompt_is_shown_as_it_would_be_sent(run):
    done = run("prompt", "show", QUERY, "--json", "--rubric", "recent", "--query-type", "how-to")
    shown = json.loads(done.stdout)
    system, user = (message["content"] for message in shown["messages"])
    asked = json.loads(user.removeprefix("<data>\n").removesuffix("\n</data>"))
    assert asked == {"query": QUERY, "query_type": "how-to", "rubrics": ["recent"]}
    assert "zhihu" in system
    assert shown["response_format"]["json_schema"]["schema"]["properties"]["l"]["maxItems"] <= 12
    assert shown["tokens"]["schema"] < shown["tokens"]["total"] <= 1200
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.rule("JDG-1.5")
def test_the_prompt_is_readable_text_too(run):
    done = run("prompt", "show", QUERY)
    for part in ("--- system", "--- user", "--- schema", "tokens, "):
        assert part in done.stdout
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.parametrize("query", ["", "   ", "x" * 5_000])
def test_a_prompt_for_no_query_is_refused(run, query):
    for command in (("prompt", "show", query), ("select", query, "--dry-run")):
        refused = run(*command).exception
        assert (refused.field, refused.exit_code) == ("QUERY", 2)


@pytest.mark.rule("JDG-1.5")
def test_a_dry_run_tells_models_tokens_and_price_and_sends_nothing(run):
    with serve(Reply()) as server:
        models = {"PLANNER_STANDARD_MODEL": "openai/gpt-4.1", "PLANNER_FAST_MODEL": "openai/unknown",
                  "PLANNER_STANDARD_API_BASE": server.api_base, "PLANNER_FAST_API_BASE": server.api_base}  # fmt: skip
        done = run("select", QUERY, "--dry-run", "--judge", "standard", "--json", **models)
        table = run("select", QUERY, "--dry-run", "--judge", "standard", **models)
    told = json.loads(done.stdout)
    assert server.seen == []
    assert [rung["model"] for rung in told["rungs"]] == ["openai/gpt-4.1", "openai/unknown"]
    priced, unknown = told["rungs"]
    assert priced["cost_usd"] == pytest.approx(priced["tokens_in"] * 2e-6 + priced["tokens_out_max"] * 8e-6)
    assert unknown["cost_usd"] is None
    assert (done.exit_code, done.stderr, table.exit_code, table.stderr) == (0, "", 0, "")
    assert "gpt-4.1" in table.stdout


@pytest.mark.rule("JDG-1.5", "JDG-2.1")
def test_a_dry_run_says_when_no_model_would_be_asked(run):
    assert run("select", QUERY, "--dry-run").stdout.startswith("heuristic: no model would be asked")
    told = json.loads(run("select", QUERY, "--dry-run", "--json", PLANNER_STANDARD_MODEL="openai/gpt-4.1").stdout)
    assert (told["tier"], told["rungs"][0]["barred"]) == ("heuristic", "no_key (OPENAI_API_KEY)")
