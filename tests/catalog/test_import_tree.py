"""A tree of skills under a router with group indexes."""

import pytest

from planner.catalog.importing.alternatives import auth_of
from planner.catalog.importing.flow import import_catalog
from planner.catalog.importing.sources import read_source
from planner.catalog.loader import load_catalog
from planner.catalog.pages import read_pages

ROUTER = """---
name: x:router
description: routes
---
| If the query mentions | Pick group |
|---|---|
| 小红书 / notes | `ugc` |
| anything | ask |
"""
INDEX = """---
name: {name}
description: {name} places
domains: [{name}-domain]
scenarios: [reviews]
---
| Leaf | When to use | Tier | Auth |
|---|---|---|---|
{rows}
"""
LEAF = """# Attribution
> where it is from

---
name: {name}
description: {name} holds things
languages: [zh, mixed]
methods:
  - id: a
    requires: [env:COOKIE, env:TOKEN]
  - id: b
    requires: [env:API_KEY]
when_to_use:
  query_languages: [zh]
  query_types: [experience-report]
  domain_hints: [beauty]
  avoid_for: [stock prices]
quality_hint:
  typical_yield: high
  chinese_native: true
layer: leaf
domains: [{domain}]
model_tier: standard
---
body
"""


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    groups = root / "router" / "references" / "groups"
    groups.mkdir(parents=True)
    (root / "router" / "SKILL.md").write_text(ROUTER, "utf-8")
    ugc = "| `search-red_notes` | product talk | Fast | key |\n| `search-ghost` | short videos | Fast | free |"
    (groups / "ugc.md").write_text(INDEX.format(name="ugc", rows=ugc), "utf-8")
    (groups / "web.md").write_text(INDEX.format(name="web", rows="| `search-nowhere` | | Fast | |"), "utf-8")
    for name, domain in (("red_notes", "ugc-domain"), ("blue_notes", "ugc-domain"), ("lost", "no-domain")):
        page = root / "channels" / name / "SKILL.md"
        page.parent.mkdir(parents=True)
        page.write_text(LEAF.format(name=name, domain=domain), "utf-8")
    meta = root / "meta" / "planning" / "SKILL.md"
    meta.parent.mkdir(parents=True)
    meta.write_text("---\nname: planning\ndescription: how to plan\nlayer: meta\n---\n", "utf-8")
    return root


@pytest.fixture
def report(tree, tmp_path):
    return import_catalog(read_source(tree), tmp_path / "to")


@pytest.fixture
def catalog(report, tmp_path):
    return load_catalog(tmp_path / "to")


@pytest.mark.rule("CAT-1.2", "CAT-2.3")
def test_rows_and_pages_meet_and_what_lacks_the_other_is_told(report):
    assert report.problems == ()
    assert report.groups == {"ugc": ["blue-notes", "red-notes", "ghost"], "not-in-an-index": ["lost"]}
    told = {remark.where: remark.reason for remark in report.notes}
    assert told["channels/blue_notes/SKILL.md"] == "no index has a row for it; put into ugc"
    assert told["channels/lost/SKILL.md"] == "no index has a row for it; put into not-in-an-index"
    assert "no page" in told["router/references/groups/ugc.md:10"]
    assert "not imported" in told["meta/planning/SKILL.md"]
    assert "does not describe it" in report.refused[0].reason


@pytest.mark.rule("CAT-1.2")
def test_what_a_page_says_is_kept(catalog, tmp_path):
    leaf = catalog.leaf_by_channel["red-notes"]
    assert leaf.languages == ("zh", "en")
    assert leaf.scenarios == ("experience-report",)
    assert leaf.domains == ("ugc-domain", "beauty")
    assert leaf.model_tier == "Standard"
    assert catalog.channels_named("red_notes") == ("red-notes",)
    group = catalog.group_by_name["ugc"]
    assert (group.native, group.surface) == (True, "zh")
    assert group.hints == ("小红书", "notes")
    assert read_pages(tmp_path / "to").leaf_pages["red-notes"].meta["avoid_for"] == ["stock prices"]


def requiring(*methods):
    return auth_of({"methods": [{"requires": list(needs)} for needs in methods]})


@pytest.mark.rule("CAT-1.6")
def test_one_way_in_is_enough():
    auth, caveats = requiring(["env:A"], ["env:B"])
    assert (auth.all_of, auth.any_of, caveats) == ((), ("A", "B"), [])
    assert requiring(["env:A"], [])[0].required == ()
    shared = requiring(["env:A", "env:B"], ["env:A", "env:C"])[0]
    assert (shared.all_of, shared.any_of) == (("A",), ("B", "C"))
    assert requiring(["env:A", "env:B"], ["env:A"])[0].all_of == ("A",)


@pytest.mark.rule("CAT-1.6")
def test_what_the_format_cannot_say_exactly_is_told():
    auth, caveats = requiring(["env:A", "env:B"], ["env:C"])
    assert auth.any_of == ("A", "C")
    assert "A or C" in caveats[0]
    assert "mcp:helper" in requiring(["mcp:helper"])[1][0]
