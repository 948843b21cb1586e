import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.intake import load_cues, read_question
from planner.routes import route_sources
from planner.text import clean


def rows(name):
    lines = (Path(__file__).parent / "data" / name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


QUESTIONS = rows("intake-questions.jsonl")
READ_OTHERWISE = {  # cues cannot tell these; a model may
    ("量子纠缠到底是怎么回事，能不能通俗讲讲", "goal_mode"),
}
LOGGED = {"task_type": 59, "freshness_required": 63, "goal_mode": 59}  # of 70, read right at least


@pytest.mark.rule("RTE-9.1")
@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["question"][:30])
def test_a_question_is_read_as_a_person_would(row):
    read = read_question(row["question"]).request
    for field, wanted in row.items():
        if field != "question" and (row["question"], field) not in READ_OTHERWISE:
            got = read[field]
            assert (list(got) if isinstance(got, tuple) else got) == wanted, field


def test_the_questions_that_are_read_otherwise_still_are():
    known = {row["question"]: row for row in QUESTIONS}
    for question, field in READ_OTHERWISE:
        assert read_question(question).request[field] != known[question][field]


@pytest.mark.rule("RTE-9.1")
@pytest.mark.parametrize("field", LOGGED)
def test_most_questions_of_a_query_log_are_read_right(field):
    logged = rows("intake-log.jsonl")
    assert len(logged) == 70
    assert sum(read_question(row["question"]).request[field] == row[field] for row in logged) >= LOGGED[field]


@pytest.mark.rule("RTE-9.1")
@pytest.mark.parametrize(
    ("question", "wished"),
    [
        ("iconoclasm controversy in Byzantium", False),
        ("controversies around gene-edited babies", True),
        ("heart failure treatment in the elderly", False),
        ("critical minerals supply chain", False),
        ("criticism of the gold standard", True),
    ],
)
def test_a_word_that_is_part_of_a_name_is_no_wish_for_counter_evidence(question, wished):
    assert read_question(question).request["need_counter_evidence"] is wished


@pytest.mark.rule("RTE-9.10")
@pytest.mark.parametrize(
    ("question", "subject"),
    [
        (
            "I would love to understand whether a mid-sized hospital in rural areas can reduce the time patients wait",
            "mid-sized hospital rural areas reduce time patients wait",
        ),
        (
            "市政污水收集和处理大部分城市采取的模式是核拨制但这种机制造成了效率的不足作为政府管理部门有何种方案",
            "市政污水收集和处理大部分城市采取的模式",
        ),
        ("x" * 500, "x" * 60),
    ],
)
def test_a_long_question_without_a_clause_gives_a_short_subject(question, subject):
    assert read_question(question).request["primary_subject"] == subject


@pytest.mark.rule("RTE-9.10")
@given(st.text(min_size=1, max_size=400).filter(lambda text: clean(text).strip()))
def test_a_read_subject_is_never_long(text):
    assert len(read_question(text).request["primary_subject"]) <= 80


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
