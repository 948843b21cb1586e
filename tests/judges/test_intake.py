import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.judges.intake import INFERRED, MAX_GAP, MAX_GAPS, MAX_SUBJECT, Sorted, fields_of
from planner.llm.failure import UnreadableError
from planner.llm.repair import NoJsonError
from planner.routes import route_sources

QUESTION = "Compare Kafka and Pulsar, especially latency"
FULL = {"t": "tech_evaluation", "g": "compare", "f": "medium", "c": False, "s": "Kafka and Pulsar", "n": ["latency"]}
REST = {
    "task_type": "deep_research", "primary_subject": "x", "goal_mode": "analyze", "freshness_required": "low",
    "need_counter_evidence": False,
}  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("Kafka" * 99),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.sampled_from([*"tgfcsn", "x"]), inner, max_size=6),
    max_leaves=25,
)


def read(text):
    return fields_of(Sorted.model_validate_json(text), QUESTION)


@pytest.mark.rule("RTE-9.8")
@given(JSON)
def test_whatever_comes_can_be_routed(value):
    try:
        fields = read(json.dumps(value))
    except (NoJsonError, UnreadableError):
        return
    assert fields.keys() <= INFERRED
    assert len(fields.get("primary_subject", "")) <= MAX_SUBJECT
    gaps = fields.get("information_gaps", [])
    assert len(gaps) <= MAX_GAPS
    assert all(len(gap) <= MAX_GAP for gap in gaps)
    route_sources({**REST, **fields}, settings={}, env={})


@pytest.mark.rule("RTE-9.8")
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(FULL),
        f"```json\n{json.dumps(FULL)}\n```",
        json.dumps({"parameter": FULL}),
        json.dumps({**FULL, "t": " Tech-Evaluation ", "c": "false"}),
        json.dumps({"task_type": "tech_evaluation", "goal_mode": "compare", "freshness": "medium",
                    "need_counter_evidence": False, "subject": "Kafka and Pulsar", "gaps": ["latency"]}),
    ],
)  # fmt: skip
def test_what_is_plainly_meant_is_read(text):
    assert read(text) == {
        "task_type": "tech_evaluation", "goal_mode": "compare", "freshness_required": "medium",
        "need_counter_evidence": False, "primary_subject": "Kafka and Pulsar", "information_gaps": ["latency"],
    }  # fmt: skip


@pytest.mark.rule("RTE-9.8")
@pytest.mark.parametrize("text", ['{"x": 1}', "[1, 2]", '{"t": {"type": "string"}, "g": {"enum": ["compare"]}}'])
def test_what_holds_no_usable_field_is_asked_for_again(text):
    with pytest.raises(UnreadableError):
        read(text)
