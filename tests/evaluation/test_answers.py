"""Recordings of comparisons that are interrupted."""

import json

import pytest

from planner.evaluation.ab import Inquiry, planned
from planner.evaluation.answers import open_answers
from planner.evaluation.arms import build_arms
from planner.evaluation.journal import Journal
from planner.replay.scrub import KeyInCassette
from tests.evaluation.small_ab import ROWS, TODAY, lines_of
from tests.recorders.fault_rows import CANARY, OK
from tests.recorders.faults import chat, serve

# the third asks what the first asked, of which a model need not be asked again
LINES = [*ROWS[:2], {**ROWS[0], "id": "again", "clarify_result": {"mode": "deep"}}, ROWS[2]]


def record(folder, server, stop_after=99, resume=False):
    """A recording of a comparison that dies after so many queries; its file."""
    tape = folder / "tape.yaml"
    model = {"model": "openai/scripted", "api_base": server.api_base}
    finished = iter(range(1, 100))

    def tick():
        if next(finished) == stop_after:
            raise KeyboardInterrupt

    with open_answers(tape, None, "scripted", resume=resume) as answers:
        arms = build_arms(["standard", "heuristic"], answers.planner(None, {"llm": {"standard": model}}))
        inquiry = Inquiry(lines_of(LINES), [], arms, 8, 1, answers.said(arms))
        journal = Journal(folder / "ab", inquiry.identity(), answers.take)
        if resume:
            journal.resume()
            answers.put_back(inquiry, journal)
        journal.begin(TODAY.isoformat())
        planned(inquiry, journal, tick)
        answers.keep(inquiry, journal)
    return tape


@pytest.fixture
def alone(monkeypatch, env):
    for name, value in env.items():
        monkeypatch.setenv(name, value)


@pytest.mark.rule("EVA-1.8", "EVA-1.11")
@pytest.mark.parametrize("stop_after", [1, 2, 3, 4])
def test_an_interrupted_recording_goes_on_to_the_same_file(tmp_path, alone, stop_after):
    with serve(chat(OK)) as server:
        whole = record(tmp_path / "whole", server).read_bytes()
        before = len(server.seen)
        with pytest.raises(KeyboardInterrupt):
            record(tmp_path, server, stop_after)
        assert not (tmp_path / "tape.yaml").exists()
        assert record(tmp_path, server, resume=True).read_bytes() == whole
        assert len(server.seen) == 2 * before == 6


@pytest.mark.rule("JDG-4.2")
def test_no_key_gets_into_the_journal_of_a_recording(tmp_path, alone):
    leaking = json.loads(OK)
    leaking["l"][0]["r"] = CANARY
    with serve(chat(json.dumps(leaking))) as server, pytest.raises(KeyInCassette):
        record(tmp_path, server)
    assert CANARY not in next((tmp_path / "ab").glob("*.jsonl")).read_text()
