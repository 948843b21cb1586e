"""Loading forgives what real files have, and never opens a leaf page while planning."""

import builtins
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner.catalog.build import build
from planner.catalog.compiled import FILE, POSTINGS, stamp
from planner.catalog.loader import load_catalog
from planner.errors import CatalogError
from planner.paths import shipped
from planner.pipeline import Planner
from tests.catalog.folder import LEAF, edit, leaf, make


@pytest.fixture
def folder(tmp_path):
    root = make(tmp_path / "skills")
    build(root)
    return root


def channels(catalog):
    return {x.channel for x in catalog.leaves}


@pytest.mark.rule("SEL-2.1")
def test_planning_opens_no_leaf_page(monkeypatch, env):
    opened = []
    for module, name in ((builtins, "open"), (io, "open")):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda file, *a, _r=real, **k: (opened.append(str(file)), _r(file, *a, **k))[1]
        )
    planner = Planner(env=env)
    for query in (
        "小红书有没有人用 Cursor 做编程",
        "arxiv papers on sparse attention",
        "best noise cancelling headphones",
    ):
        planner.select(query)
    assert any(path.endswith(FILE) for path in opened)
    assert not [path for path in opened if "channels" in Path(path).parts and path.endswith("SKILL.md")]


@pytest.mark.rule("SEL-2.4")
def test_building_twice_gives_the_same_bytes(folder):
    first = (folder / FILE).read_bytes()
    (folder / FILE).unlink()
    build(folder)
    assert (folder / FILE).read_bytes() == first
    assert build(folder) == ["nothing to do"]


@pytest.mark.rule("SEL-2.3")
@pytest.mark.parametrize(
    "damage",
    [
        Path.unlink,
        lambda p: p.write_text("{"),
        lambda p: p.write_text('{"format": 99}'),
        lambda p: p.write_text(p.read_text("utf-8").replace(POSTINGS, "postings"), "utf-8"),  # of an older version
    ],
)
def test_a_missing_or_broken_compiled_file_is_rebuilt_in_memory(folder, damage):
    before = load_catalog(folder)
    damage(folder / FILE)
    after = load_catalog(folder)
    assert channels(after) == channels(before)
    assert after.version == before.version
    assert "planner catalog build" in after.warnings[0]


@pytest.mark.rule("SEL-2.3")
def test_an_edited_page_counts_at_once_and_the_plan_says_so(folder):
    edit(folder / "channels" / "soup" / "SKILL.md", "aliases: [soupy]", "aliases: [soupy, brothworld]")
    catalog = load_catalog(folder)
    assert catalog.channels_named("BrothWorld") == ("soup",)
    plan = Planner(catalog=folder, env={}).select("noodles")
    assert any("out of date" in line for line in plan.warnings)


def test_a_broken_leaf_is_left_out_and_named(folder):
    edit(folder / "channels" / "soup" / "SKILL.md", "domains: [food]", "domains: [food")
    catalog = load_catalog(folder)
    assert channels(catalog) == {"noodle", "find", "dig"}
    assert any("soup/SKILL.md" in line and "left out" in line for line in catalog.warnings)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + LEAF,
        LEAF.replace("\n", "\r\n"),
        "# Attribution\n> self-written\n\n" + LEAF,
    ],
    ids=["bom", "crlf", "comment header"],
)
def test_real_files_are_forgiven(folder, text):
    leaf(folder, "soup", triggers="汤", aliases="brothworld", text=text)
    catalog = load_catalog(folder)
    assert catalog.channels_named("brothworld") == ("soup",)
    assert not [line for line in catalog.warnings if "soup" in line]


def test_a_string_where_a_list_belongs_is_a_list(folder):
    edit(folder / "channels" / "soup" / "SKILL.md", "trigger_keywords: [汤]", "trigger_keywords: 汤, broth")
    assert load_catalog(folder).leaf_by_channel["soup"].triggers == ("汤", "broth")


def test_an_unknown_tier_is_a_warning(folder):
    edit(folder / "channels" / "soup" / "SKILL.md", "model_tier: Fast", "model_tier: Turbo")
    catalog = load_catalog(folder)
    assert catalog.leaf_by_channel["soup"].model_tier == "Fast"
    assert any("Turbo" in line for line in catalog.warnings)


def test_requires_env_is_read_as_a_required_key(folder):
    edit(folder / "channels" / "soup" / "SKILL.md", "cost_usd: 0", "cost_usd: 0\nrequires: [env:SOUP_KEY]")
    assert load_catalog(folder).leaf_by_channel["soup"].auth.required == ("SOUP_KEY",)


def test_terms_are_text_whatever_yaml_thinks(folder):
    assert load_catalog(folder).leaf_by_channel["find"].triggers == ("2025", "no")
    assert load_catalog(folder).group_by_name["web"].hints == ("official site", "2025")


def test_a_folder_without_a_router_is_no_catalog(tmp_path):
    with pytest.raises(CatalogError, match=r"router/SKILL\.md"):
        load_catalog(tmp_path)


def test_a_foreign_catalog_plans_by_its_own_words(folder):
    plan = Planner(catalog=folder, env={}).select("where is good ramen")
    assert plan.channels[0].channel == "noodle"


@pytest.mark.rule("SEL-2.4")
def test_the_shipped_compiled_file_is_small_and_fresh():
    path = shipped("skills") / FILE
    assert path.stat().st_size <= 1_500_000
    assert json.loads(path.read_text("utf-8"))["stamp"] == stamp(shipped("skills"))


def test_the_shipped_catalog_has_41_channels_in_9_groups_and_5_without(catalog):
    assert len([x for x in catalog.leaves if x.is_channel]) == 41
    assert len(catalog.groups) == 14
    assert sum(not catalog.members[g.name] for g in catalog.groups) == 5
    assert not catalog.warnings


@pytest.mark.rule("SEL-2.3")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize(
    ("where", "told"),
    [
        (FILE, "compiled.json is missing: rebuilt"),
        ("channels/dig/SKILL.md", "not a regular file"),
        ("router/groups/life.md", "not a regular file"),
        ("router/cues.yaml", None),
        ("examples.jsonl", None),
        ("channels/dig/experience.md", None),
    ],
)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder, env, where, told):
    (folder / where).unlink(missing_ok=True)
    os.mkfifo(folder / where)
    code = (
        "import sys; from planner.pipeline import Planner; p = Planner(catalog=sys.argv[1], env={'HOME': sys.argv[2]});"
    )
    code += "plan = p.select('archive of pages'); print(len(plan.channels), *plan.warnings)"
    line = [sys.executable, "-c", code, str(folder), env["HOME"]]
    said = subprocess.run(line, capture_output=True, text=True, timeout=20, check=True).stdout
    assert said[0] != "0"
    assert told is None or told in said
