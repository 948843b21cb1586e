"""Term matching: boundaries beside CJK, the longest term, partial overlaps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.matcher import Matcher


def terms(text, *known, strong=()):
    return [m.term for m in Matcher(known, strong).find(text)]


@pytest.mark.rule("SEL-4.6")
@pytest.mark.parametrize(
    ("text", "term", "found"),
    [
        ("john", "hn", False),
        ("on hn today", "hn", True),
        ("metformin", "form", False),
        ("related work", "and", False),
        ("用python写", "python", True),
        ("学c++难吗", "c++", True),
        ("c++17", "c++", True),
        ("asp.net", ".net", False),
        ("用.net写", ".net", True),
        ("two podcasts", "podcast", True),
        ("podcaster", "podcast", False),
        ("hns", "hn", False),
        ("café", "caf", False),
        ("我的论文写完了", "论文", True),
    ],
)
def test_a_term_is_found_only_as_a_word(text, term, found):
    assert (terms(text, term) == [term]) is found


@pytest.mark.rule("SEL-4.6")
def test_the_longest_term_wins():
    assert terms("动作片推荐", "动作", "动作片") == ["动作片"]
    assert terms("github actions cache", "github", "github actions") == ["github actions"]


def test_a_name_survives_a_longer_term_that_overlaps_it_in_part():
    assert terms("google news coverage", "google news", "news coverage", strong={"google news"}) == ["google news"]


def test_no_terms_match_nothing():
    assert Matcher([]).find("anything") == []


@given(st.text(alphabet="abc 中文.+", max_size=30), st.lists(st.text(alphabet="abc中文", min_size=1, max_size=4)))
def test_matches_never_overlap_and_are_really_there(text, known):
    last = 0
    for match in Matcher(known).find(text):
        assert match.start >= last
        assert text[match.start : match.start + len(match.term)] == match.term
        last = match.end
