from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.llm.repair import MAX_ANSWER, NoJsonError, read_json, unwrap


@pytest.mark.rule("JDG-1.7")
@pytest.mark.parametrize(
    "text",
    [
        '{"g": [1]}',
        '```json\n{"g": [1]}\n```',
        'Sure! {"g": [1]} Anything else?',
        "{'g': [1]}",
        '{"g": [1,],}',
        '<think>{"g": [2]} no</think>{"g": [1]}',
        '<thinking>unclosed\n{"g": [1]}',
        '{"g": [1]',
    ],
)
def test_a_plain_object_is_found_however_it_is_dressed(text):
    assert read_json(text) == {"g": [1]}


@pytest.mark.parametrize("text", ["", "no", "I cannot say.", "x" * (MAX_ANSWER + 1), "[" * 100_000])
def test_without_json_there_is_an_error(text):
    with pytest.raises(NoJsonError):
        read_json(text)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text):
    with suppress(NoJsonError):
        assert isinstance(read_json(text), dict | list)


@pytest.mark.parametrize(
    "value", [{"parameter": {"g": 1}}, [{"g": 1}], {"a": {"b": {"g": 1}}}, {"answer": '{"g": 1}'}, {"g": 1}]
)
def test_envelopes_are_opened(value):
    assert unwrap(value, ("g", "l")) == {"g": 1}


def test_what_has_none_of_the_fields_stays_as_it_is():
    assert unwrap({"x": {"y": 1}}, ("g",)) == {"x": {"y": 1}}
