"""A catalog that is edited while a server runs."""

import shutil

import pytest

from planner.catalog.build import build
from planner.catalog.watch import WatchedCatalog
from planner.errors import CatalogError
from planner.watching import WatchingPlanner
from tests.catalog.folder import edit, leaf, make


@pytest.fixture
def folder(tmp_path):
    root = make(tmp_path / "skills")
    build(root)
    return root


@pytest.fixture
def planner(folder, env):
    return WatchingPlanner(catalog=folder, env=env)


def skill(folder, name):
    return folder / "channels" / name / "SKILL.md"


def channels(planner):
    return {leaf.channel for leaf in planner.catalog.leaves}


@pytest.mark.rule("CAT-3.1")
def test_an_edit_is_seen_at_the_next_call(planner, folder):
    assert planner.select("zebra crossing").channels[0].channel != "dig"
    leaf(folder, "dig", triggers="zebra crossing", aliases="digger")
    assert planner.select("zebra crossing").channels[0].channel == "dig"
    leaf(folder, "stew")
    edit(folder / "router" / "groups" / "life.md", "members: [noodle", "members: [stew, noodle")
    assert "stew" in channels(planner)


@pytest.mark.rule("CAT-3.1")
def test_an_unchanged_folder_keeps_the_very_catalog(planner):
    first = planner.catalog
    planner.select("ramen")
    assert planner.catalog is first


@pytest.mark.rule("CAT-3.2")
@pytest.mark.parametrize("where", ["channels/dig/SKILL.md", "router/groups/life.md", "router/SKILL.md"])
def test_a_broken_edit_leaves_the_old_one_in_use_and_says_so(planner, folder, where):
    before, text = planner.catalog, (folder / where).read_text("utf-8")
    (folder / where).write_text("---\nname: [unclosed\n---\n", "utf-8")
    plan = planner.select("ramen")
    assert planner.catalog is before
    assert "the one from before serves on" in plan.warnings[0]
    (folder / where).write_text(text + "\n", "utf-8")
    assert not [w for w in planner.select("ramen").warnings if "from before" in w]


@pytest.mark.rule("CAT-3.2")
def test_a_folder_that_goes_away_does_not_stop_the_server(planner, folder):
    shutil.rmtree(folder)
    assert "from before" in planner.select("ramen").warnings[0]


def test_a_folder_without_a_catalog_cannot_be_watched(tmp_path):
    with pytest.raises(CatalogError):
        WatchedCatalog(tmp_path, None)


def test_many_leaf_pages_are_looked_at_now_and_then(folder, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("planner.catalog.watch.MANY", 1)
    watched = WatchedCatalog(folder, None, clock=lambda: now[0])
    first = watched.current()
    skill(folder, "dig").write_text(skill(folder, "dig").read_text("utf-8").replace("digger", "shovels"), "utf-8")
    assert watched.current() is first
    now[0] = 10.0
    assert watched.current().channels_named("shovels") == ("dig",)
