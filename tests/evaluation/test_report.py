import re
from functools import reduce
from html.parser import HTMLParser

import pytest

from planner.evaluation.report import page
from tests.evaluation.small_ab import ROWS, compare

VOID = {"meta", "line", "rect", "circle", "polyline"}


class Reader(HTMLParser):
    """Collects the numbers, the addresses and the open tags of a page."""

    def __init__(self):
        super().__init__()
        self.numbers, self.addresses, self.open, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag == "data":
            self.numbers.append((found["data-at"], found["value"]))
        self.addresses += [value for name, value in attrs if name in ("src", "href", "action", "srcset")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    return reader


def looked_up(report, at):
    steps = [step.replace("~1", "/").replace("~0", "~") for step in at.split("/")[1:]]
    return reduce(lambda value, step: value[int(step)] if isinstance(value, list) else value[step], steps, report)


@pytest.fixture(scope="module")
def report(all_keys, tmp_path_factory):
    from planner.evaluation.seeing import SeeingPlanner

    folder = tmp_path_factory.mktemp("ab")
    hostile = {"id": "</script>/~<b>", "query": "<img src=x onerror=alert(1)> best laptop", "gold": {"reddit": 3}}
    return compare(SeeingPlanner(env={**all_keys, "HOME": str(folder)}), folder, rows=[*ROWS, hostile])


@pytest.mark.rule("EVA-1.12")
def test_every_number_names_its_place_in_the_json(report):
    numbers = read(page(report)).numbers
    assert len(numbers) > 300
    for at, value in numbers:
        assert repr(looked_up(report, at)) == value


@pytest.mark.rule("EVA-1.12")
def test_the_page_needs_nothing_from_elsewhere(report):
    text = page(report)
    assert read(text).addresses == []
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|@import|url\(", text)


@pytest.mark.rule("EVA-1.12")
def test_the_page_is_well_formed_and_shows_queries_as_text(report):
    reader = read(page(report))
    assert reader.open == []
    assert "<img" not in page(report)
    assert any("<img src=x" in text for text in reader.text)


@pytest.mark.rule("EVA-1.12")
def test_plots_take_the_keyboard_and_follow_the_colour_scheme(report):
    text = page(report)
    assert text.count('<figure class="chart" tabindex="0"') == 5
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


def test_a_page_without_labels_and_with_three_arms(env, tmp_path):
    from planner.evaluation.seeing import SeeingPlanner

    rows = [{"id": str(n), "query": f"what is {n}"} for n in range(3)]
    text = page(compare(SeeingPlanner(env=env), tmp_path, ("heuristic", "flat", "standard"), rows))
    assert read(text).open == []
    assert "No gold in the file" in text
    assert "Every plan of standard fell back" in text
