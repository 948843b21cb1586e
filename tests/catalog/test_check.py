"""`planner catalog check` names every kind of fault with file and line."""

import pytest

from planner.catalog.build import build, stale_compiled
from planner.catalog.check import check
from planner.catalog.pages import read_pages
from planner.paths import shipped
from tests.catalog.folder import edit, leaf, make


@pytest.fixture
def folder(tmp_path):
    root = make(tmp_path / "skills")
    build(root)
    return root


def problems(root):
    return [(p.path.relative_to(root).as_posix(), p.line, p.message) for p in check(read_pages(root))]


SOUP = "channels/soup/SKILL.md"


def test_a_built_catalog_has_no_problem(folder):
    assert problems(folder) == []
    assert stale_compiled(folder) == []


@pytest.mark.rule("SEL-2.2")
@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("domains: [food]", "domains: [food", 6, "not valid YAML"),
        ("trigger_keywords:", "triger_keywords:", 7, "did you mean trigger_keywords?"),
        ("domains: [food]", "domains: [foood]", 5, "'foood' is not in the vocabulary; did you mean food?"),
        ("scenarios: [local-guide]", "scenarios: [eating]", 6, "'eating' is not in the vocabulary"),
        ("name: search-soup", "name: search-broth", 2, "differs from its folder"),
        ("aliases: [soupy]", "aliases: [面吧]", 8, "ambiguous alias '面吧'"),
        ("aliases: [soupy]", "aliases: [soupy, SOUPY]", 8, "duplicate alias 'SOUPY'"),
        ("cost_usd: 0", "cost_usd: cheap", 12, "'cheap' is not a price"),
        ("cost_usd: 0", "cost_usd: 0\nexperience_digest: gone.md", 13, "dangling digest"),
        ("model_tier: Fast", "model_tier: Turbo", 11, "unknown model_tier"),
        ("cost_usd: 0", "cost_usd: 0\nmention_patterns: ['(']", 13, "mention_patterns"),
    ],
)
def test_a_fault_in_a_leaf_page_is_named_with_its_line(folder, old, new, line, message):
    edit(folder / SOUP, old, new)
    found = [(at, text) for path, at, text in problems(folder) if path == SOUP]
    assert any(at == line and message in text for at, text in found), found


def test_a_leaf_in_no_group_is_named(folder):
    leaf(folder, "stray", aliases="strayer")
    assert (("channels/stray/SKILL.md", 1, "stray is in no group")) in problems(folder)


@pytest.mark.rule("SEL-2.2")
def test_an_index_that_is_out_of_date_is_named(folder):
    edit(folder / SOUP, "what soup holds", "another line")
    assert [path for path, _, text in problems(folder) if "out of date" in text] == ["router/groups/life.md"]
    assert stale_compiled(folder)


def test_a_member_without_a_page_is_named(folder):
    edit(folder / "router" / "groups" / "web.md", "members: [find, dig]", "members: [find, dig, ghost]")
    assert any("'ghost' has no leaf page" in text for _, _, text in problems(folder))


@pytest.mark.rule("SEL-2.2")
def test_the_shipped_catalog_passes():
    root = shipped("skills")
    assert [str(p) for p in [*check(read_pages(root)), *stale_compiled(root)]] == []
