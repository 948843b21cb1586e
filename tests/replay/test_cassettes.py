"""The committed cassettes: each is played to its end, with sockets closed, and gives the plan it was recorded with."""

from pathlib import Path

import pytest

from planner import Planner
from planner.replay import replay
from planner.replay.form import load
from planner.replay.scrub import refuse_keys

ROOT = Path(__file__).parents[2] / "cassettes"
FILES = sorted(path for folder in ("smollm2", "scripted") for path in (ROOT / folder).glob("*.yaml"))


def told(plan):
    return plan["judge"], [(step["from"], step["reason"]) for step in plan["degradations"]]


@pytest.mark.rule("JDG-4.4")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_cassette_gives_its_plan_again(path, socket_disabled):
    with replay(path) as session:
        planner = Planner(catalog=ROOT / "catalog", settings=session.notes["settings"], env={})
        for recorded in session.notes["plans"]:
            plan = planner.select(recorded["query"], judge=recorded["judge"])
            assert told(plan.core()) == told(recorded["plan"])


@pytest.mark.rule("JDG-4.1", "JDG-4.2")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_cassette_says_who_answered_and_holds_no_key(path):
    text = path.read_text("utf-8")
    refuse_keys(text, str(path))
    assert load(text)["answered_by"].lower().startswith(path.parent.name)
    assert len(text) < 60_000


def test_both_kinds_are_there():
    assert {path.parent.name for path in FILES} == {"smollm2", "scripted"}
