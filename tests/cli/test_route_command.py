import json

import pytest
from click.testing import CliRunner

from planner.cli.main import cli
from planner.errors import InputError, SettingsError

OPTIONS = [
    "route", "--task-type", "deep_research", "--subject", "AI芯片", "--goal-mode", "analyze", "--freshness", "medium",
]  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def invoke(*args, **options):
        return CliRunner().invoke(cli, list(args), **options)

    return invoke


@pytest.mark.rule("RTE-7.1")
def test_options_make_a_plan(run):
    result = run(*OPTIONS, "--sources", "web,local_file,graph,counter", "--json")
    plan = json.loads(result.stdout)
    assert list(plan["budget_allocation"].values()) == [10, 5, 2, 2, 1]
    assert "AI芯片" in result.stdout
    assert result.stderr == ""


def test_every_option_reaches_the_request(run):
    options = [
        "--no-counter", "--gap", "价格", "--gap", "份额", "--budget", "12", "--domain", "example.com",
        "--engine", "web_search", "--local-material", "--lang", "en", "--sources", "web,vector,local_file",
    ]  # fmt: skip
    plan = json.loads(run(*OPTIONS, *options, "--json").stdout)
    assert plan["budget_allocation"]["total_budget"] == 12
    assert plan["search_order"][:2] == ["vector", "local_file"]
    assert [level["source"] for level in plan["fallback_chain"]] == ["web_search"]
    web = next(entry for entry in plan["selected_sources"] if entry["source"] == "web")
    assert any("价格" in hint for hint in web["search_hints"])
    assert any("site:example.com" in hint for hint in web["search_hints"])


def test_options_are_laid_over_a_request_file(run, tmp_path):
    request = {"task_type": "breaking_news", "primary_subject": "x", "goal_mode": "analyze",
               "freshness_required": "high", "need_counter_evidence": False, "budget_limit": 5}  # fmt: skip
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request))
    assert json.loads(run("route", "--request", str(path), "--json").stdout)["budget_allocation"]["total_budget"] == 5
    piped = run("route", "--request", "-", "--budget", "20", "--json", input=json.dumps(request))
    assert json.loads(piped.stdout)["budget_allocation"]["total_budget"] == 20


def test_no_sources_at_all_are_an_empty_list(run):
    assert json.loads(run(*OPTIONS, "--sources", "", "--json").stdout)["search_order"] == ["local_file"]


@pytest.mark.rule("RTE-7.4")
def test_explain_names_the_rules(run):
    said = run(*OPTIONS, "--explain").stdout
    assert "RTE-4.6" in said
    assert "share 15 % = 1.5" in said
    explained = json.loads(run(*OPTIONS, "--explain", "--json").stdout)["explanation"]
    assert {"what", "value", "rule", "yielded"} == set(explained[0])


def test_the_human_output_shows_order_bars_stop_rule_and_chain(run):
    said = run(*OPTIONS).stdout
    assert "██████" in said
    assert "每类来源至少覆盖2次" in said
    assert "tavily_search → bailian_web_search" in said
    assert "\x1b[" not in said


@pytest.mark.rule("RTE-1.1")
@pytest.mark.parametrize(
    ("args", "field"),
    [
        (["route", "--task-type", "deep_research"], "--subject"),
        ([*OPTIONS, "--budget", "0"], "--budget"),
        ([*OPTIONS, "--sources", "web,email"], "--sources"),
        ([*OPTIONS, "--engine", "bing"], "--engine"),
        (["route", "--request", "missing.json"], "--request"),
    ],
)
def test_bad_input_names_the_option(args, field, run):
    result = run(*args)
    assert isinstance(result.exception, InputError)
    assert result.exception.field == field
    assert result.stdout == ""


@pytest.mark.rule("RTE-1.1")
def test_all_that_is_missing_is_named_at_once(run):
    said = str(run("route", "--goal-mode", "compare").exception)
    assert said.startswith("missing: --task-type (breaking_news, ")
    assert [name in said for name in ("--subject", "--freshness", "--goal-mode")] == [True, True, False]


@pytest.mark.rule("RTE-1.1")
def test_a_field_of_a_request_file_keeps_its_name_and_an_option_over_it_has_its_own(run):
    asked = {"task_type": "news", "primary_subject": "x", "goal_mode": "analyze", "freshness_required": "low",
             "need_counter_evidence": False}  # fmt: skip
    refused = run("route", "--request", "-", input=json.dumps(asked)).exception
    assert refused.field == "task_type"
    refused = run("route", "--request", "-", "--budget", "0", input=json.dumps({**asked, "task_type": "deep_research"}))
    assert refused.exception.field == "--budget"


def test_a_choice_that_is_none_lists_the_choices(run):
    result = run("route", "--task-type", "evaluate")
    assert result.exit_code == 2
    assert "tech_evaluation" in result.stderr


@pytest.mark.rule("RTE-7.3")
def test_settings_that_cannot_be_used_are_an_error(run, tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text("sources: {shares: {deep_research: {web: 99}}}")
    result = run(*OPTIONS, "--settings", str(path))
    assert isinstance(result.exception, SettingsError)
    assert "deep_research" in str(result.exception)
    assert str(path) in str(result.exception)
