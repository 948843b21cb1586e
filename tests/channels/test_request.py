"""Whatever a caller hands over becomes a valid request or an error that names the field."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.channels.request import build_request
from planner.errors import InputError


@pytest.mark.rule("SEL-3.1")
@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("query", ("  \n ",)),
        ("query", ("x" * 4001,)),
        ("query", (7,)),
        ("query", (None,)),
        ("clarify_result", ("q", "fast")),
        ("clarify_result.mode", ("q", {"mode": "slow"})),
        ("clarify_result.rubrics", ("q", {"rubrics": [1]})),
        ("clarify_result.channel_skip", ("q", {"channel_skip": 3})),
        ("scope.languages", ("q", None, {"languages": "fr"})),
        ("scope.recency", ("q", None, {"recency": "1y"})),
        ("scope.budget", ("q", None, {"budget": 5})),
        ("scope.budget.max_channels", ("q", None, {"budget": {"max_channels": 0}})),
        ("scope.budget.max_channels", ("q", None, {"budget": {"max_channels": True}})),
        ("scope.budget.max_groups", ("q", None, {"budget": {"max_groups": -1}})),
        ("scope.budget.max_cost_usd", ("q", None, {"budget": {"max_cost_usd": float("nan")}})),
        ("explicit_channels", ("q", None, None, {"zhihu": 1})),
    ],
)
def test_a_bad_field_is_named_with_what_is_accepted(field, arguments):
    with pytest.raises(InputError) as caught:
        build_request(*arguments)
    assert caught.value.field == field
    assert caught.value.accepted
    assert field in str(caught.value)


@pytest.mark.rule("SEL-3.4")
def test_a_string_where_a_list_belongs_is_one_entry():
    request, _ = build_request("q", {"rubrics": "cost", "channel_priority": "zhihu"}, None, "reddit")
    assert request.clarify_result.rubrics == ("cost",)
    assert request.clarify_result.channel_priority == ("zhihu",)
    assert request.explicit_channels == ("reddit",)


@pytest.mark.rule("SEL-3.4")
def test_unknown_keys_are_ignored_with_a_hint():
    _, notes = build_request("q", {"modes": "deep"}, {"language": "all"})
    assert len(notes) == 2
    assert "did you mean mode?" in notes[0]
    assert "did you mean languages?" in notes[1]


@pytest.mark.rule("SEL-3.4")
def test_any_object_with_the_attributes_will_do():
    clarified = SimpleNamespace(mode="deep", query_type=None, rubrics=["a"], extra=object())
    request, notes = build_request("q", clarified)
    assert (request.clarify_result.mode, request.clarify_result.rubrics, notes) == ("deep", ("a",), [])


def test_a_whole_request_as_mapping_or_model_is_the_same_request():
    raw = {"query": " q ", "clarify_result": {"mode": "deep"}, "scope": {"budget": {"max_channels": 3}}, "typo": 1}
    request, notes = build_request(raw)
    assert build_request(request) == (request, [])
    assert request.query == "q"
    assert "typo" in notes[0]


class Unshowable:
    def __repr__(self):
        raise RuntimeError


def nested(depth=100_000):
    outer = inner = []
    for _ in range(depth):
        inner.append([])
        inner = inner[0]
    return outer


@pytest.mark.rule("SEL-3.1")
@pytest.mark.parametrize("value", [nested(), Unshowable(), 10**5000], ids=["nested", "unshowable", "huge"])
@pytest.mark.parametrize("place", [lambda v: (v,), lambda v: ("q", {"mode": v}), lambda v: ("q", {"rubrics": v})])
def test_a_value_that_cannot_be_shown_is_still_an_input_error(value, place):
    with pytest.raises(InputError):
        build_request(*place(value))


def test_a_number_beyond_all_bounds_is_only_a_large_one():
    request, _ = build_request("q", None, {"budget": {"max_channels": 10**5000}})
    assert request.scope.budget.max_channels > 8


def test_lone_surrogates_become_something_that_can_be_written():
    request, _ = build_request("a\ud800b", {"rubrics": "\udfff"})
    request.model_dump_json().encode("utf-8")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("mode", "query_type", "rubrics", "channel_priority", "channel_skip", "languages", "recency", "budget")


@given(JSON, st.dictionaries(st.sampled_from(FIELDS), JSON), st.dictionaries(st.sampled_from(FIELDS), JSON), JSON)
def test_nothing_but_an_input_error_ever_comes_out(query, clarify, scope, explicit):
    try:
        request, _ = build_request(query, clarify, scope, explicit)
    except InputError:
        return
    else:
        assert request.query.strip()
