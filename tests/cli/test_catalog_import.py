"""`planner catalog import`: groups on stdout, remarks on stderr, exit codes."""

import json

import pytest
from click.testing import CliRunner

from planner.cli.main import cli, main

CARDS = '{"name": "MapTool", "description": "Draws maps", "group": "places"}\n{"name": "mute"}\n'


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    source = tmp_path / "cards.jsonl"
    source.write_text(CARDS, "utf-8")

    def call(*options, source=str(source)):
        line = ["planner", "catalog", "import", source, "--to", str(tmp_path / "to"), *options]
        monkeypatch.setattr("sys.argv", line)
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return left.value.code, said.out, said.err

    return call


@pytest.mark.rule("CAT-2.3", "CAT-1.5")
def test_what_went_where_is_printed_and_what_did_not_is_told(run, tmp_path):
    code, out, err = run()
    assert (code, out) == (0, "places: map-tool\n")
    assert "left out: cards.jsonl:2: mute has no description" in err
    assert "1 leaves in 1 groups, 1 left out" in err
    checked = CliRunner().invoke(cli, ["catalog", "check", "--catalog", str(tmp_path / "to")])
    assert checked.exit_code == 0


def test_the_same_remark_on_many_cards_is_one_line(run, tmp_path):
    (tmp_path / "cards.jsonl").write_text(CARDS + '{"description": "nameless"}\n' * 45, "utf-8")
    _, _, err = run()
    assert err.count("it has no name") == 1
    assert "cards.jsonl:3 and 44 more: it has no name" in err
    assert "46 left out" in err
    assert len(json.loads((tmp_path / "to" / "import.json").read_text("utf-8"))["refused"]) == 46


@pytest.mark.rule("CAT-2.3")
def test_the_report_is_json_too(run):
    code, out, _ = run("--json")
    report = json.loads(out)
    assert code == 0
    assert report["names"] == {"map-tool": "MapTool"}
    assert report["refused"] == [{"where": "cards.jsonl:2", "reason": "mute has no description"}]


@pytest.mark.rule("CAT-2.4")
def test_a_second_import_into_the_same_folder_is_refused(run):
    run()
    code, out, err = run()
    assert (code, out) == (2, "")
    assert "--to" in err


def test_a_source_that_is_nothing_names_what_is_accepted(run):
    code, _, err = run(source="no such thing")
    assert code == 2
    assert "SKILL.md" in err


def test_a_group_may_be_called_as_a_card_is(run, tmp_path):
    cards = [{"name": name, "description": f"{name} things", "group": group} for name, group in
             [("github", "code"), ("code", "code"), ("weather", "weather"), ("!!!", "???")]]  # fmt: skip
    (tmp_path / "cards.jsonl").write_text("\n".join(map(json.dumps, cards)), "utf-8")
    code, out, _ = run()
    assert (code, out.splitlines()[:2]) == (0, ["code: github, code", "weather: weather"])


def test_a_command_that_is_no_server_is_told_in_one_line(run):
    code, out, err = run(source="echo hi")
    assert (code, out) == (2, "")
    assert err.startswith("planner: SOURCE:")
    assert "Traceback" not in err
