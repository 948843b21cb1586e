import json

import pytest
from click.testing import CliRunner

from planner.cli.main import cli
from planner.llm import libraries
from tests.recorders.faults import chat, serve


@pytest.fixture
def run(env):
    return lambda *args, **options: CliRunner().invoke(cli, list(args), env=env, **options)


@pytest.mark.rule("RTE-9.3")
def test_a_question_becomes_a_combined_plan_that_can_be_tracked(run, tmp_path):
    made = json.loads(run("plan", "对比 Milvus 和 Qdrant 的性能", "--budget", "8", "--json").stdout)
    assert made["request"]["task_type"] == "tech_evaluation"
    assert made["source_plan"]["budget_allocation"]["total_budget"] == 8
    state = ("--state", str(tmp_path / "track.json"))
    asked = json.loads(run("track", "start", "-", "--json", *state, input=json.dumps(made)).stdout)
    assert asked["channel"] == made["channels"]["channels"][0]["channel"]


def test_the_question_may_come_from_standard_input(run):
    assert "breaking_news" in run("plan", "-", input="Breaking: earthquake in Chile right now").stdout


@pytest.mark.rule("RTE-9.5")
def test_no_web_is_said(run):
    assert "no channels are selected" in run("plan", "公司内部报销流程", "--sources", "vector").stdout


@pytest.mark.rule("RTE-9.3")
@pytest.mark.parametrize(
    ("args", "field"),
    [((" ",), "QUESTION"), (("x", "--budget", "0"), "--budget"), (("x", "--domain", "?"), "--domain")],
)
def test_bad_input_names_the_option(run, args, field):
    assert run("plan", *args).exception.field == field


@pytest.mark.rule("RTE-9.6")
def test_who_read_the_question_is_said(run, env):
    libraries.load()
    read = {"t": "entity_analysis", "g": "compare", "f": "low", "c": True, "s": "Kafka", "n": ["latency"]}
    with serve(chat(json.dumps(read))) as server:
        env |= {
            "PLANNER_STANDARD_MODEL": "openai/x",
            "PLANNER_STANDARD_API_BASE": server.api_base,
            "OPENAI_API_KEY": "k",
        }
        said = run("plan", "Kafka in production, above all latency", "--judge", "standard").stdout
        alone = run("plan", "Kafka in production", "--judge", "heuristic").stdout
    assert "entity_analysis · compare · freshness low · counter-evidence asked for · by standard (openai/x)" in said
    assert "Subject Kafka\nGaps latency\n" in said
    assert "by heuristic" in alone
