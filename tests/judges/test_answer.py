import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.judges.answer import Answer, answer_model, judgement_of, reason, unit
from planner.llm.failure import UnreadableError
from planner.llm.repair import NoJsonError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*"gliskdr", "groups", "id", "x"]), inner, max_size=5)
    ),
    max_leaves=25,
)


@given(JSON)
@pytest.mark.rule("JDG-3.3")
def test_whatever_comes_factors_stay_in_range(catalog, value):
    try:
        judged = judgement_of(Answer.model_validate_json(json.dumps(value)), catalog)
    except (NoJsonError, UnreadableError):
        return
    known = {leaf.channel for leaf in catalog.leaves}
    assert set(judged.leaves) <= known
    numbers = [x for entry in (*judged.groups.values(), *judged.leaves.values()) for x in entry[:2]]
    assert all(0 <= x <= 1 for x in numbers)


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [(0.4, 0.4), (85, 0.85), ("0.85", 0.85), ("85%", 0.85), (True, 1), (None, 0), ("high", 0), (-1, 0), (1e308, 1),
     (math.nan, 0), (math.inf, 0), (10**400, 0), ([1], 0), ("1e999", 0)],
)  # fmt: skip
def test_numbers_are_put_into_range(given_value, expected):
    assert unit(given_value) == expected


def test_reasons_are_one_clean_short_line():
    assert reason("a\x07b\n\nc\ud800" + "x" * 500)[:6] == "a b c\ufffd"
    assert len(reason("x" * 500)) == 120
    assert reason({"not": "text"}) == ""


@pytest.mark.rule("JDG-1.1")
def test_only_the_first_twelve_leaves_and_four_groups_are_read(catalog):
    leaves = [{"i": leaf.channel, "s": 1, "k": 0} for leaf in catalog.leaves]
    groups = [{"i": group.name, "d": 1, "s": 1} for group in catalog.groups]
    judged = judgement_of(Answer(g=groups, l=leaves), catalog)
    assert (len(judged.groups), len(judged.leaves)) == (4, 12)


def test_the_schema_sent_is_the_hand_written_one():
    schema = '{"title": "Answer", "type": "object", "properties": {"g": {}}}'
    model = answer_model(schema, Answer)
    assert model.model_json_schema() == json.loads(schema)
    assert model.__name__ == "Answer"
