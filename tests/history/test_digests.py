"""Digests as others write them."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.history.digests import parse_digest
from planner.pipeline import Planner

DAY = date(2026, 1, 20)


def rules(body):
    return [(rule.text, rule.verified) for rule in parse_digest(body)]


@pytest.mark.rule("HIS-6.1")
@pytest.mark.parametrize(
    "line",
    [
        "- add a year — seen=5, success=4, last_verified=2026-01-20",
        "- add a year -- seen=5, success=4, last_verified=2026-01-20",
        "- add a year – seen 5, success 4, last verified 2026-01-20",
        "* Add a Year - seen=5, success=4, last_verified=2026-01-20T10:11:12Z",
        "1. add a year (seen=5, success=4, last_verified: 2026/1/20)",
        "2) add a year [verified 2026.01.20]",
        "  - add a year — last_verified=2026-01-20, seen=5",
        "• ADD A YEAR — verified: 2026-01-20\r",
    ],
)
def test_a_rule_is_read_in_many_hands(line):
    assert rules(f"## Active Rules\n{line}\n") == [("add a year", DAY)]


@pytest.mark.rule("HIS-6.1")
@pytest.mark.parametrize(
    "heading", ["## Active Rules", "## Active Rules        # ≤ 20 entries", "# ACTIVE RULES:", "##Active rules"]
)
def test_headings_may_say_more(heading):
    before, after = "\ufeff# x experience\n- not one\n\n", "\n# Failure Modes\n- b — verified 2026-01-20\n"
    body = f"{before}{heading}\n- a — verified 2026-01-20\n{after}"
    assert rules(body) == [("a", DAY)]


@pytest.mark.rule("HIS-6.1")
def test_sub_headings_belong_to_their_section():
    body = "## Active Rules\n### Chinese\n- a\n### English\n- b\n## Other\n### Active\n- c\n"
    assert [text for text, _ in rules(body)] == ["a", "b"]


@pytest.mark.rule("HIS-6.1")
@pytest.mark.parametrize(
    "line", ["- None yet.", "None yet.", "- none", "- _None yet_", "- (none)", "- N/A", "- 暂无", "", "text"]
)
def test_lines_that_say_none_are_no_rules(line):
    assert rules(f"## Active Rules\n{line}\n") == []


@pytest.mark.rule("HIS-6.2")
@pytest.mark.parametrize(
    "figures",
    [
        "last_verified=unknown",
        "last_verified=",
        "last_verified=2026-13-41",
        "last_verified=20260120",
        "last_verified=never",
    ],
)
def test_an_unknown_date_is_none_even_where_the_rule_speaks_of_one(figures):
    assert rules(f"## Active Rules\n- since 2026-01-20 — seen=3, success=3, {figures}\n") == [
        ("since 2026-01-20", None)
    ]


@pytest.mark.rule("HIS-6.1")
def test_the_last_figures_count():
    line = "- says — seen=9, success=9, last_verified=2099-01-01 — seen=3, success=2, last_verified=2026-01-20"
    assert rules(f"## Active Rules\n{line}\n")[0][1] == DAY


@given(st.text(max_size=300))
def test_any_text_is_read(body):
    parse_digest(body)
    parse_digest("## Active Rules\n- " + body)


def test_an_enormous_digest_is_read_in_part(env, tmp_path):
    path = tmp_path / "planner_state_dir" / "channels" / "reddit" / "experience.md"
    path.parent.mkdir(parents=True)
    path.write_text("## Active Rules\n" + "- a — seen — seen — seen\n" * 400_000)
    assert Planner(env=env).select("reddit headphones").channels


@pytest.mark.rule("HIS-6.2")
@pytest.mark.parametrize(
    ("verified", "factor"),
    [
        ("2026-01-20", 0.5),
        ("2025-12-21", 0.5),
        ("2026-01-21", 0.5),
        ("2025-12-20", 0.0),
        ("2026-01-22", 0.0),
        ("unknown", 0.0),
    ],
)
def test_only_a_recent_date_lifts(env, tmp_path, verified, factor):
    path = tmp_path / "planner_state_dir" / "channels" / "reddit" / "experience.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"## Active Rules\n- buying-advice: add a year -- seen=3, success=3, last_verified={verified}\n")
    plan = Planner(env=env).select("which headphones should I buy", {"channel_priority": ["reddit"]}, today=DAY)
    assert next(p.factors["experience"] for p in plan.channels if p.channel == "reddit") == factor
