"""Other people's skills and tools become a catalog: what is read, what is refused, what is told."""

import json
import os
import subprocess
import sys

import pytest

from planner.catalog.build import stale_compiled
from planner.catalog.check import check
from planner.catalog.importing.flow import REPORT, import_catalog
from planner.catalog.importing.naming import slug
from planner.catalog.importing.sources import read_source
from planner.catalog.loader import load_catalog
from planner.catalog.pages import read_pages
from planner.errors import CatalogError, InputError
from planner.pipeline import Planner

CARDS = [
    {"name": "MapTool", "description": "Draws a map of any city", "group": "places"},
    {
        "name": "URL_shortener",
        "description": "Makes long links short",
        "examples": ["shorten this link", "a shorter url"],
    },
    {"name": "chess", "description": "Plays the game of kings against an engine", "group": "games"},
    {"name": "clinq", "description": "Telephone system for sales teams: call logs and recordings"},
    {"name": "", "description": "nameless"},
    {"name": "silent"},
]

TIME = {"name": "get_time", "description": "What time it is"}


def jsonl(path, rows):
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def skill(root, name, front, head=""):
    page = root / name / "SKILL.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"{head}---\n{front}\n---\n# body\n", "utf-8")


@pytest.fixture
def imported(tmp_path):
    """A function: a source -> its report and the folder it was written to."""

    def run(path):
        to = tmp_path / "to"
        return import_catalog(read_source(path), to), to

    return run


def refusals(report):
    return {remark.where: remark.reason for remark in report.refused}


@pytest.mark.rule("CAT-1.4", "CAT-1.5", "CAT-2.3")
def test_json_lines_become_a_catalog_that_passes_the_check(tmp_path, imported):
    report, to = imported(jsonl(tmp_path / "cards.jsonl", [*CARDS, "{broken", "[1]"]))
    assert report.problems == ()
    assert check(read_pages(to)) == [] == stale_compiled(to)
    assert report.groups["places"] == ["map-tool"]
    assert sorted(report.names.values()) == ["MapTool", "URL_shortener", "chess", "clinq"]
    told = refusals(report)
    assert told["cards.jsonl:5"] == "it has no name"
    assert told["cards.jsonl:6"] == "silent has no description"
    assert told["cards.jsonl:7"].startswith("not JSON")
    assert told["cards.jsonl:8"] == "not a JSON object"
    assert json.loads((to / REPORT).read_text("utf-8")) == json.loads(json.dumps(report.as_json()))


@pytest.mark.rule("CAT-2.1")
def test_a_leaf_keeps_its_source_name_as_an_alias(tmp_path, imported):
    catalog = load_catalog(imported(jsonl(tmp_path / "c.jsonl", CARDS))[1])
    assert catalog.channels_named("URL_shortener") == ("url-shortener",)
    assert catalog.channels_named("urlshortener") == ("url-shortener",)
    assert catalog.channels_named("MAPTOOL") == ("map-tool",)


@pytest.mark.rule("CAT-2.1")
def test_names_that_clash_are_told_apart(tmp_path, imported):
    rows = [{"name": n, "description": f"{n} does things"} for n in ("news_tool", "NewsTool", "search_web", "web")]
    report, to = imported(jsonl(tmp_path / "c.jsonl", rows))
    assert report.problems == ()
    assert sorted(report.names) == ["news-tool", "news-tool-2", "web", "web-2"]
    assert any("NewsTool" in note.reason for note in report.notes)
    assert load_catalog(to).channels_named("news_tool") == ("news-tool",)


@pytest.mark.parametrize(
    ("name", "channel"),
    [("PDF&URLTool", "pdf-url-tool"), ("web_scraper", "web-scraper"), ("NASATool", "nasa-tool"),
     ("天气 查询", "天气-查询"), ("../../etc/passwd", "etc-passwd"), ("search_docs", "docs"), ("!!!", "unnamed")],
)  # fmt: skip
def test_a_channel_name_is_safe_as_a_folder(name, channel):
    assert slug(name) == channel


@pytest.mark.rule("CAT-1.1")
def test_skills_are_read_at_any_depth_with_their_keys(tmp_path, imported):
    root = tmp_path / "skills"
    skill(root, "office/pdf-forms", "name: pdf-forms\ndescription: Fills in PDF forms")
    needs = '{"clawdbot":{"requires":{"env":["SHEET_KEY"],"bins":["jq"]}}}'
    skill(root, "office/deep/sheet", f"name: sheet\ndescription: Edits sheets\nmetadata: {needs}")
    section = "metadata:\n  openclaw:\n    requires:\n      env: [TODO_KEY]\n    primaryEnv: TODO_URL"
    skill(root, "todo", f"name: todo\ndescription: Tasks\n{section}")
    skill(root, "broken", "name: [unclosed")
    skill(root, ".hidden/x", "name: x\ndescription: hidden")
    report, to = imported(root)
    leaves = {leaf.channel: leaf for leaf in load_catalog(to).leaves}
    assert set(leaves) == {"pdf-forms", "sheet", "todo"}
    assert leaves["sheet"].auth.all_of == ("SHEET_KEY",)
    assert leaves["todo"].auth.all_of == ("TODO_KEY",)
    assert leaves["todo"].auth.optional == ("TODO_URL",)
    assert leaves["pdf-forms"].groups == ("office",)
    assert leaves["sheet"].groups == ("office-deep",)
    assert "jq" in next(note.reason for note in report.notes if "sheet" in note.where)
    assert next(iter(refusals(report))).startswith("broken/SKILL.md:")


@pytest.mark.rule("CAT-1.3")
@pytest.mark.parametrize("shape", ["plain", "answer", "list"])
def test_a_saved_tools_list_is_read(tmp_path, imported, shape):
    tools = [TIME, {"name": "x", "title": "Exchange rates"}, {"name": "mute"}, 7]
    value = {
        "plain": {"tools": tools},
        "answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}},
        "list": tools,
    }[shape]
    path = tmp_path / "clock.json"
    path.write_text(json.dumps(value), "utf-8")
    report, to = imported(path)
    assert report.problems == ()
    assert load_catalog(to).leaf_by_channel["x"].description == "Exchange rates"
    assert list(refusals(report)) == ["clock: mute", "clock: tool 4"]


@pytest.mark.rule("CAT-2.2")
def test_clusters_are_the_same_every_time_and_named_by_their_words(tmp_path):
    topics = {
        "recipe": "cooking recipe with food",
        "flight": "flight and airport booking",
        "chess": "chess board opening",
    }
    rows = [{"name": f"{t}{n}", "description": f"{text} number {n}"} for t, text in topics.items() for n in range(6)]
    path = jsonl(tmp_path / "c.jsonl", rows)
    first, second = (import_catalog(read_source(path), tmp_path / to) for to in ("a", "b"))
    assert first.groups == second.groups
    assert set(first.clustered) == set(first.groups)
    assert (tmp_path / "a" / "compiled.json").read_bytes() == (tmp_path / "b" / "compiled.json").read_bytes()
    words = " ".join(first.groups)
    assert all(topic in words for topic in topics)


@pytest.mark.rule("CAT-2.4")
def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    path = jsonl(tmp_path / "c.jsonl", CARDS)
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="--to"):
        import_catalog(read_source(path), tmp_path / "to")
    assert [p.name for p in (tmp_path / "to").iterdir()] == ["mine.txt"]


@pytest.mark.rule("CAT-2.4")
def test_nothing_to_import_leaves_nothing_behind(tmp_path):
    path = jsonl(tmp_path / "c.jsonl", ["nonsense"])
    with pytest.raises(CatalogError, match=r"c\.jsonl:1"):
        import_catalog(read_source(path), tmp_path / "to")
    assert [p.name for p in tmp_path.iterdir()] == ["c.jsonl"]


@pytest.mark.rule("CAT-2.5")
@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("who won the chess world championship", ()),
        ("use chess to show me an opening", ("chess",)),
        ("what does the chess plugin say about e4", ("chess",)),
        ("open it in MapTool", ("map-tool",)),
        ("which map tool is best", ()),
        ("run URL_shortener on this", ("url-shortener",)),
        ("not chess, please", ()),
        ("why is a lynx called clings", ()),
    ],
)
def test_an_everyday_word_is_no_name(tmp_path, imported, query, named):
    catalog = load_catalog(imported(jsonl(tmp_path / "c.jsonl", CARDS))[1])
    assert catalog.read(query).named == named


def test_an_imported_catalog_is_planned_over(tmp_path, imported, env):
    planner = Planner(catalog=imported(jsonl(tmp_path / "c.jsonl", CARDS))[1], env=env)
    plan = planner.select("make this long link shorter")
    assert plan.channels[0].channel == "url-shortener"
    assert plan.chinese_native_quota_met in (None, True)


@pytest.mark.parametrize("name", ["missing.txt", "page.md"])
def test_a_source_of_no_kind_is_refused(tmp_path, name):
    (tmp_path / "page.md").write_text("x", "utf-8")
    with pytest.raises(InputError, match="SOURCE"):
        read_source(tmp_path / name)


@pytest.mark.rule("CAT-1.5")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_the_place_of_a_card_is_left_out_at_once(tmp_path):
    root = tmp_path / "skills"
    skill(root, "pdf", "name: pdf\ndescription: Fills forms")
    (root / "pipe").mkdir()
    os.mkfifo(root / "pipe" / "SKILL.md")
    os.mkfifo(tmp_path / "cards.jsonl")
    code = (
        "import sys; from pathlib import Path; from planner.catalog.importing.sources import read_source;"
        "print(read_source(Path(sys.argv[1])).refused); read_source(Path(sys.argv[2]))"
    )
    line = [sys.executable, "-c", code, str(root), str(tmp_path / "cards.jsonl")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=20, check=False)
    assert "pipe/SKILL.md" in done.stdout
    assert "InputError" in done.stderr
    assert "not a regular file" in done.stderr


@pytest.mark.rule("CAT-4.4")
def test_a_question_that_nothing_fits_gets_low_scores_and_a_warning(tmp_path, imported, env):
    tools = [
        {"name": "git_log", "description": "Shows the commit history of a repository"},
        {"name": "run_tests", "description": "Runs the test suite and reports what fails"},
        {"name": "docker_build", "description": "Builds a container image from a Dockerfile, with the best cache"},
    ]
    _, folder = imported(jsonl(tmp_path / "tools.jsonl", tools))
    planner = Planner(catalog=folder, env=env)
    lost, found = planner.select("best pho in Hanoi"), planner.select("show me the commit history")
    assert any("nothing in the catalog matches" in warning for warning in lost.warnings)
    assert max(pick.score for pick in lost.channels) < 0.15
    assert not [warning for warning in found.warnings if "nothing in the catalog" in warning]
    assert found.channels[0].channel == "git-log"
    assert found.channels[0].score > 0.25
