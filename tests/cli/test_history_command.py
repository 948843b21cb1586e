import json
import sys

import pytest
from click.testing import CliRunner

from planner.cli.main import cli
from planner.errors import InputError


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PLANNER_STATE_DIR", str(tmp_path / "state"))

    def invoke(*args, **options):
        result = CliRunner().invoke(cli, list(args), **options)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout) if "--json" in args else result.stdout

    return invoke


@pytest.mark.rule("HIS-7.1", "HIS-1.5")
def test_record_show_export_clear(run):
    done = run("history", "record", "知乎=0", "weibo=0", "--session", "s1", "--query", "值不值得买空气炸锅", "--json")
    assert done == {"session": "s1", "recorded": 2, "empty_sessions": {"channels-chinese-ugc": 1}, "warnings": []}
    for _ in range(2):
        run("history", "record", "zhihu=0")
    run("history", "record", "arxiv", "--failed", "timeout_30s")
    shown = run("history", "show", "--json")
    assert shown["demoted"] == ["channels-chinese-ugc"]
    assert len(shown["events"]) == 5
    assert "channels-chinese-ugc: 3 empty in a row, demoted" in run("history", "show", "--limit", "1")
    exported = [json.loads(line) for line in run("history", "export").splitlines()]
    assert exported == shown["events"]
    with pytest.raises(InputError, match="4 sessions, 5 outcomes"):
        run("history", "clear")
    run("history", "clear", "--yes")
    assert run("history", "show", "--json") == {"empty_sessions": {}, "demoted": [], "events": []}


def test_a_whole_report_comes_as_json(run, tmp_path):
    report = {"session": "s", "outcomes": [{"channel": "zhihu", "results": 2, "feedback": "accepted"}]}
    assert run("history", "record", "--outcomes", "-", "--json", input=json.dumps(report))["session"] == "s"
    path = tmp_path / "list.json"
    path.write_text(json.dumps(report["outcomes"]))
    assert run("history", "record", "--outcomes", str(path), "--json")["recorded"] == 1


@pytest.mark.rule("HIS-1.1")
@pytest.mark.parametrize(
    ("args", "field"),
    [
        (["zhihu"], "CHANNEL"),
        (["zhihu=3", "--failed", "x"], "CHANNEL"),
        (["zhihu=many"], "RESULTS"),
        (["zhihu=-1"], "RESULTS"),
        (["zhihuu=1"], "outcomes.0.channel"),
        ([], "outcomes"),
        (["--outcomes", "missing.json"], "--outcomes"),
        (["zhihu=3", "--outcomes", "-"], "--outcomes"),
        (["zhihu", "--failed", "it is broken"], "outcomes.0.failure"),
    ],
)
def test_bad_input_names_the_field_and_keeps_nothing(run, tmp_path, args, field):
    with pytest.raises(InputError) as error:
        run("history", "record", *args)
    assert error.value.field == field
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("value", [{"outcome": []}, "zhihu", 3, {"outcomes": {"channel": "zhihu"}}])
def test_json_of_another_shape_is_refused(run, value):
    with pytest.raises(InputError, match="outcomes"):
        run("history", "record", "--outcomes", "-", input=json.dumps(value))


@pytest.mark.rule("HIS-1.7")
def test_off_is_said_and_is_no_failure(run, monkeypatch):
    monkeypatch.setenv("PLANNER_HISTORY__STORE", "off")
    assert run("history", "record", "zhihu=1", "--json")["recorded"] == 0
    assert run("history", "export") == ""


@pytest.mark.rule("HIS-5.5", "HIS-5.1")
def test_compact_writes_digests_and_clear_takes_them_away(run, tmp_path):
    for _ in range(3):
        run("history", "record", "zhihu=4", "weibo=1", "--pattern", "ask as a title")
    (made,) = run("experience", "compact", "知乎", "--json")
    digest = tmp_path / "state" / "channels" / "zhihu" / "experience.md"
    assert (made["channel"], made["rules"], made["path"], made["written"]) == ("zhihu", 1, str(digest), True)
    assert "- ask as a title — seen=3, success=3, last_verified=" in digest.read_text("utf-8")
    assert "weibo: 3 events, 1 rules, 0 failures" in run("experience", "compact")
    with pytest.raises(InputError, match="CHANNELS"):
        run("experience", "compact", "nowhere")
    run("history", "clear", "--yes")
    assert not digest.exists()


def test_looking_for_help_imports_no_database(run):
    before = {name for name in sys.modules if name.startswith("sqlalchemy")}
    assert "history" in run("--help")
    run("history", "--help")
    assert {name for name in sys.modules if name.startswith("sqlalchemy")} == before
