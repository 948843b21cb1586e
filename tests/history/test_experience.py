"""Digests: which events become rules, what they look like, who reads them."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import HistoryError
from planner.history.compacting import compact, remove_digests
from planner.history.digests import parse_digest
from planner.history.experience import MAX_LINES, digest_of, digest_text
from planner.pipeline import Planner

TODAY = date(2026, 6, 30)
FAILURES = "## Failure Modes"


def event(pattern="add a year", results=3, day=TODAY, failure=None, feedback=None):
    return {
        "channel": "reddit", "group": "channels-community-en", "results": results, "failure": failure,
        "pattern": pattern, "feedback": feedback, "at": f"{day}T12:00:00.000+00:00",
    }  # fmt: skip


def lines(*events, section="## Active Rules"):
    text = digest_text(digest_of("reddit", events, TODAY, 30), TODAY)
    return text.partition(section)[2].partition("\n\n")[0].strip().splitlines()


@pytest.mark.rule("HIS-5.1")
def test_three_times_seen_with_two_successes_is_a_rule():
    day = TODAY - timedelta(days=2)
    assert lines(event(), event(day=day), event(results=0)) == [
        "- add a year — seen=3, success=2, last_verified=2026-06-30"
    ]


@pytest.mark.rule("HIS-5.1", "HIS-5.2")
@pytest.mark.parametrize(
    "events",
    [
        [],
        [event()],
        [event(), event()],
        [event(), event(results=0), event(results=0), event(results=0)],
        [event(), event(), event(pattern="another")],
        [event(day=TODAY - timedelta(days=31))] * 9,
        [*[event(day=TODAY - timedelta(days=31))] * 9, event(results=0)],
        [event(), event(), event(feedback="rejected"), event(feedback="rejected")],
        [event(), event(failure="timeout_30s"), event(failure="timeout_30s")],
        [event(pattern=None)] * 9,
    ],
)
def test_less_than_that_is_none(events):
    assert lines(*events) == ["- None yet."]


@pytest.mark.rule("HIS-5.1")
@pytest.mark.parametrize(("days", "kept"), [(0, True), (30, True), (31, False)])
def test_a_rule_is_verified_for_30_days(days, kept):
    day = TODAY - timedelta(days=days)
    assert ("last_verified" in lines(event(day=day), event(day=day), event(results=0))[0]) is kept


@pytest.mark.rule("HIS-5.3", "HIS-5.2")
def test_failures_and_rejections_are_failure_modes():
    events = [
        event(None, 0, failure="timeout_30s", day=TODAY - timedelta(days=40)),
        event(None, 0, failure="timeout_30s", day=TODAY - timedelta(days=9)),
        event(feedback="rejected"),
    ]
    assert lines(*events, section=FAILURES) == [
        "- rejected: add a year — seen=1, last_verified=2026-06-30",
        "- timeout_30s — seen=2, last_verified=2026-06-21",
    ]


@pytest.mark.rule("HIS-5.4")
def test_above_120_lines_the_oldest_failures_go_first_and_then_the_rules_seen_least():
    rules = [event(f"rule {n:03}") for n in range(70) for _ in range(3 + n % 2)]
    old = [event(None, 0, failure=f"old_{n}", day=TODAY - timedelta(days=50)) for n in range(50)]
    new = [event(None, 0, failure=f"new_{n}") for n in range(20)]
    digest = digest_of("reddit", [*rules, *old, *new], TODAY, 30)
    assert len(digest.rules) == 70
    assert [name for name in digest.failures if name.startswith("new")] == list(digest.failures)[:20]
    assert len(digest_text(digest, TODAY).splitlines()) <= MAX_LINES
    many = digest_of("reddit", [*rules, *[event(f"more {n:03}") for n in range(90) for _ in range(3)]], TODAY, 30)
    assert {f"rule {n:03}" for n in range(1, 70, 2)} <= set(many.rules)
    assert many.failures == {}


EVENTS = st.builds(
    event,
    pattern=st.none() | st.sampled_from([f"p{n}" for n in range(200)]),
    results=st.integers(0, 2),
    day=st.dates(TODAY - timedelta(days=60), TODAY),
    failure=st.none() | st.sampled_from(["timeout_30s", "api_error"]),
    feedback=st.sampled_from([None, "accepted", "rejected"]),
)


@pytest.mark.rule("HIS-5.1", "HIS-5.2", "HIS-5.4")
@given(st.lists(EVENTS, max_size=60), st.integers(1, 6))
def test_whatever_happened_the_thresholds_hold_and_the_reader_agrees(events, times):
    digest = digest_of("reddit", events * times, TODAY, 30)
    text = digest_text(digest, TODAY)
    assert len(text.splitlines()) <= MAX_LINES
    for words, tally in digest.rules.items():
        own = [e for e in events * times if e["pattern"] == words and e["feedback"] != "rejected"]
        good = [e for e in own if e["results"] and not e["failure"]]
        assert (tally.seen, tally.success) == (len(own), len(good))
        assert tally.seen >= 3
        assert tally.success >= 2
        assert TODAY - tally.last <= timedelta(days=30)
    assert [(r.text, r.verified) for r in parse_digest(text)] == [(w, t.last) for w, t in digest.rules.items()]


@pytest.fixture
def planner(url, env):
    planner = Planner(settings={"history": {"store": url}}, env=env)
    yield planner
    planner.history.close()


def compacted(planner, *channels):
    return list(compact(planner.history, planner.catalog, date.today(), 30, channels))


@pytest.mark.rule("HIS-5.6", "HIS-1.4")
def test_what_worked_three_times_lifts_its_channel_for_questions_of_that_kind(planner):
    def experience(query):
        plan = planner.select(query, {"mode": "deep", "channel_priority": ["reddit"]})
        return next(p.factors["experience"] for p in plan.channels if p.channel == "reddit")

    ask = "which noise cancelling headphones should I buy"
    assert planner.catalog.read(ask).intents
    for number in range(3):
        assert experience(ask) == 0.0
        planner.history.record([{"channel": "reddit", "results": number}], query="which air fryer should I buy")
        compacted(planner)
    assert experience(ask) == 0.5
    assert experience("ModuleNotFoundError in torch") == 0.0


@pytest.mark.rule("HIS-5.5")
def test_a_digest_of_somebody_else_is_left_as_it_is(planner):
    planner.history.record([{"channel": "reddit", "results": 1}, {"channel": "zhihu", "results": 1}])
    path = planner.history.folder / "channels" / "reddit" / "experience.md"
    path.parent.mkdir(parents=True)
    path.write_text("## Active Rules\n- theirs — seen=3, success=3, last_verified=2026-01-01\n")
    before = path.read_bytes()
    assert [(c.digest.channel, c.written) for c in compacted(planner)] == [("reddit", False), ("zhihu", True)]
    assert path.read_bytes() == before
    assert remove_digests(planner.history.folder) == 1
    assert path.read_bytes() == before


@pytest.mark.rule("HIS-5.5")
def test_a_digest_is_written_whole_or_not_at_all(planner, monkeypatch):
    planner.history.record([{"channel": "reddit", "results": 1}])
    (done,) = compacted(planner, "reddit")
    before = done.path.read_bytes()
    planner.history.record([{"channel": "reddit", "results": 1}])
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(HistoryError, match="cannot be written"):
        compacted(planner)
    assert done.path.read_bytes() == before
    assert [path.name for path in done.path.parent.iterdir()] == ["experience.md"]


def test_a_digest_never_leaves_the_state_folder(planner):
    from dataclasses import replace

    planner.history.record([{"channel": "reddit", "results": 1}])
    leaves = tuple(replace(leaf, digest="../../escaped.md") for leaf in planner.catalog.leaves)
    strange = replace(planner.catalog, leaves=leaves)
    with pytest.raises(HistoryError, match="plain file name"):
        list(compact(planner.history, strange, date.today(), 30))
