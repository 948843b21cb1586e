import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.intake import load_cues, read_question
from planner.routes import route_sources
from planner.text import clean

QUESTIONS = [
    json.loads(line) for line in (Path(__file__).parent / "data/intake-questions.jsonl").read_text("utf-8").splitlines()
]
READ_OTHERWISE = {  # cues cannot tell these; a model may
    ("Should we use pgvector or a dedicated vector database for 50M embeddings?", "goal_mode"),
    ("History of the Byzantine iconoclasm controversy", "need_counter_evidence"),
}


@pytest.mark.rule("RTE-9.1")
@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["question"][:30])
def test_a_question_is_read_as_a_person_would(row):
    read = read_question(row["question"]).request
    for field, wanted in row.items():
        if field != "question" and (row["question"], field) not in READ_OTHERWISE:
            got = read[field]
            assert (list(got) if isinstance(got, tuple) else got) == wanted, field


def test_the_questions_that_are_read_otherwise_still_are():
    rows = {row["question"]: row for row in QUESTIONS}
    for question, field in READ_OTHERWISE:
        assert read_question(question).request[field] != rows[question][field]


@pytest.mark.rule("RTE-9.1")
@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("请帮我调查一下《流浪地球》的票房是否属实", "流浪地球"),
        ("宁德时代的上下游供应链和主要股东有哪些？", "宁德时代"),
        ("突发：日本能登半岛地震，有没有海啸预警？", "日本能登半岛地震"),
        ("What is the latest on the GLP-1 shortage?", "GLP-1 shortage"),
        ("Breaking: OpenAI leadership change – what do we know so far?", "OpenAI leadership change"),
        ("为什么？", "为什么"),
        ("the", "the"),
        ("?!", "?!"),
    ],
)
def test_the_subject_is_what_the_question_is_about(question, subject):
    assert read_question(question).request["primary_subject"] == subject


@pytest.mark.rule("RTE-9.2")
def test_options_win_over_what_is_read():
    options = {"task_type": "deep_research", "freshness_required": "low", "budget_limit": 4, "language": None}
    read = read_question("今天特斯拉股价为什么暴跌？", options)
    assert {key: read.request[key] for key in options} == {**options, "language": "zh"}
    assert "task_type" not in read.cues
    assert "goal_mode" in read.cues


@pytest.mark.rule("RTE-9.1")
def test_whatever_is_read_can_be_routed():
    for row in QUESTIONS:
        plan = route_sources(read_question(row["question"]).request, settings={}, env={})
        assert sum(plan.budget_allocation.values()) == 20


@pytest.mark.rule("RTE-9.1")
@pytest.mark.parametrize("question", ["", "  ", None, 3, "x" * 4001])
def test_a_question_must_be_text(question):
    with pytest.raises(InputError, match="question"):
        read_question(question)


def test_no_cue_stands_twice_in_one_list():
    cues = load_cues()
    lists = [
        *cues.goal_mode.values(),
        *cues.freshness_required.values(),
        cues.counter,
        cues.local,
        *cues.subject.values(),
    ]
    lists += [terms for own in cues.task_type.values() for terms in (own.strong, own.weak)]
    for terms in lists:
        assert len(terms) == len(set(terms)), sorted(t for t in terms if terms.count(t) > 1)


@pytest.mark.rule("RTE-9.1")
@given(st.text(max_size=80) | st.text(alphabet='的吗了请查？?,，:："“”《》 abthe', max_size=30))
def test_any_text_is_routed_or_refused_by_name(text):
    if not clean(text).strip():
        with pytest.raises(InputError, match="question"):
            read_question(text)
        return
    plan = route_sources(read_question(text).request, settings={}, env={})
    assert plan.primary_subject.strip()
    plan.model_dump_json().encode("utf-8")
