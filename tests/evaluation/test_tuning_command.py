import json
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import planner
from planner.cli.main import cli
from planner.settings import load_settings

QUERIES = (
    ("transformer attention survey papers", "arxiv", "channels-academic"),
    ("小红书 通勤 穿搭", "xiaohongshu", "channels-chinese-ugc"),
    ("react hydration mismatch stack trace", "stackoverflow", "channels-code-package"),
)


@pytest.fixture
def run(env, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"{n}", "query": f"{query} {n}", "gold": {channel: 3}, "gold_groups": [group]}
        for n, (query, channel, group) in enumerate(QUERIES * 7)
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\noops\n")
    return lambda *args: CliRunner().invoke(cli, ["tune", "q.jsonl", "--folds", "2", "--trials", "2", *args], env=env)


@pytest.mark.rule("EVA-3.4", "EVA-3.1")
def test_a_settings_file_and_a_report_are_written_and_the_defaults_left_alone(run, tmp_path):
    defaults = Path(planner.__file__).parent / "defaults.yaml"
    before = sha256(defaults.read_bytes()).digest()
    made = run("--out", "mine.yaml", "--report", "report.json", "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout) == json.loads((tmp_path / "report.json").read_text())
    assert "line 22 was skipped" in made.stderr
    written = yaml.safe_load((tmp_path / "mine.yaml").read_text())
    assert list(written) == ["selection"]
    loaded = load_settings(tmp_path / "mine.yaml", {}).selection
    assert loaded.group_threshold == written["selection"]["group_threshold"]
    assert sha256(defaults.read_bytes()).digest() == before
    run("--out", "again.yaml", "--seed", "0")
    assert (tmp_path / "again.yaml").read_bytes() == (tmp_path / "mine.yaml").read_bytes()


@pytest.mark.rule("EVA-3.4")
def test_neither_a_file_that_is_there_nor_the_package_is_written_to(run, tmp_path):
    (tmp_path / "mine.yaml").write_text("mine")
    inside = str(Path(planner.__file__).parent / "defaults.yaml")
    for out in ("mine.yaml", inside, "nowhere/x.yaml"):
        assert run("--out", out).exception.field == "--out"
    assert run("--out", inside, "--force").exception.field == "--out"
    assert (tmp_path / "mine.yaml").read_text() == "mine"


@pytest.mark.rule("EVA-3.5")
def test_the_table_says_what_it_is_worth(run):
    said = run()
    assert "on queries not tuned on" in said.stdout
    assert "95 % interval" in said.stdout
    assert "wrote planner.tuned.yaml" in said.stdout
