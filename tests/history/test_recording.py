"""Recording on both stores, and what a plan then sees."""

import json
import stat
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.errors import InputError
from planner.history.snapshot import read_snapshot

ZH, WEB, PAPERS = "channels-chinese-ugc", "channels-generic-web", "channels-academic"


def rows(history):
    return [(e["session"], e["channel"], e["results"], e["failure"]) for e in history.events()]


@pytest.mark.rule("HIS-1.1", "HIS-1.5", "HIS-1.6")
def test_outcomes_of_a_session_are_kept_under_catalog_names(history):
    done = history.record([{"channel": "知乎", "results": 2}, {"channel": "search-arxiv", "failure": "timeout_30s"}])
    history.record([{"channel": "zhihu", "results": 0}], session=done.session)
    assert rows(history) == [
        (done.session, "zhihu", 2, None),
        (done.session, "arxiv", 0, "timeout_30s"),
        (done.session, "zhihu", 0, None),
    ]
    assert done.recorded == 2
    assert len(done.session) == 32


@pytest.mark.rule("HIS-1.1")
def test_a_report_that_is_wrong_anywhere_keeps_nothing(history):
    history.record([{"channel": "zhihu", "results": 1}], session="a")
    with pytest.raises(InputError):
        history.record([{"channel": "arxiv", "results": 1}, {"channel": "zhihuu"}], session="b")
    assert [row[0] for row in rows(history)] == ["a"]


@pytest.mark.rule("HIS-1.4")
def test_without_the_setting_only_the_kind_of_question_is_kept(opened, folder):
    question = "值不值得买空气炸锅"
    opened().record([{"channel": "zhihu", "results": 3}], query=question)
    (event,) = opened().events()
    assert event["query"] is None
    assert event["pattern"] == "buying-advice questions"
    opened().close()
    assert not [path for path in folder.rglob("*") if path.is_file() and question.encode() in path.read_bytes()]


@pytest.mark.rule("HIS-1.4")
def test_with_the_setting_the_question_is_kept_once_a_session(opened):
    history = opened(record_queries=True)
    for query in ("first", "second", None):
        history.record([{"channel": "zhihu", "results": 3}], session="a", query=query)
    assert {event["query"] for event in history.events()} == {"first"}


def test_a_pattern_is_one_clean_line(history):
    history.record([{"channel": "zhihu", "results": 3, "pattern": " add a\n# year\x00\u202e "}])
    assert next(history.events())["pattern"] == "add a # year"


@pytest.mark.rule("HIS-3.1", "HIS-3.2")
def test_empty_sessions_are_counted_back_from_the_latest(history, counts):
    for expected in (1, 2, 3):
        history.record([{"channel": "zhihu", "results": 0}, {"channel": "weibo", "results": 0}])
        assert counts() == {ZH: expected}
    history.record([{"channel": "weibo", "results": 1}, {"channel": "zhihu", "results": 0}])
    assert counts() == {}
    history.record([{"channel": "zhihu", "results": 0}])
    assert counts() == {ZH: 1}


@pytest.mark.rule("HIS-3.1")
@pytest.mark.parametrize(
    ("failure", "searched"), [("timeout_30s", False), ("api_error", False), ("empty_results", True)]
)
def test_a_failed_call_is_no_search_unless_the_answer_was_empty(history, counts, failure, searched):
    history.record([{"channel": "zhihu", "failure": failure}])
    assert counts() == ({ZH: 1} if searched else {})


@pytest.mark.rule("HIS-3.1", "HIS-1.5")
def test_a_late_result_makes_its_session_one_that_found_something(history, counts):
    for session in "abc":
        history.record([{"channel": "zhihu", "results": 0}], session=session)
    history.record([{"channel": "xiaohongshu", "results": 4}], session="a")
    assert counts() == {}


@pytest.mark.rule("HIS-1.1", "HIS-3.1")
def test_a_channel_of_several_groups_counts_for_the_one_it_was_picked_under(history, counts, catalog):
    first, second = catalog.leaf_by_channel["xiaoyuzhou"].groups[:2]
    history.record([{"channel": "xiaoyuzhou", "group": second}])
    history.record([{"channel": "xiaoyuzhou"}])
    assert counts() == {first: 1, second: 1}


REPORT = st.tuples(st.sampled_from("abcd"), st.sampled_from(["zhihu", "ddgs"]), st.integers(0, 1), st.booleans())


@pytest.mark.rule("HIS-3.1", "HIS-3.2", "HIS-1.6")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(REPORT, max_size=12))
def test_any_order_of_reports_gives_the_counts_of_a_plain_model(history, counts, reports):
    history.clear()
    yields = {}  # group -> session -> results; a session moves to the end when it is reported again
    for session, channel, results, failed in reports:
        history.record(
            [{"channel": channel, "results": results, "failure": "api_error" if failed else None}], session=session
        )
        if not failed or results:
            sessions = yields.setdefault(ZH if channel == "zhihu" else WEB, {})
            sessions[session] = sessions.pop(session, 0) + results
    expected = {group: _trailing_zeros(list(sessions.values())) for group, sessions in yields.items()}
    assert counts() == {group: number for group, number in expected.items() if number}


def _trailing_zeros(numbers):
    return next((n for n, number in enumerate(reversed(numbers)) if number), len(numbers))


@pytest.mark.rule("HIS-4.1")
def test_the_snapshot_says_what_the_store_counts(history, folder):
    history.record([{"channel": "zhihu"}, {"channel": "arxiv", "results": 1}])
    snapshot = read_snapshot(folder)
    assert snapshot.empty_sessions == {ZH: 1}
    assert json.loads((folder / "outcomes.json").read_text("utf-8"))["format"] == 1
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_what_was_recorded_is_for_its_owner_only(history, folder):
    history.record([{"channel": "zhihu"}])
    for path in folder.iterdir():
        if path.suffix != ".lock":
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@pytest.mark.rule("HIS-1.3")
def test_threads_that_share_a_history_lose_nothing(history):
    def record(name):
        for number in range(5):
            history.record([{"channel": "zhihu", "results": number}], session=f"{name}-{number}")

    threads = [threading.Thread(target=record, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {row[0] for row in rows(history)} == {f"{name}-{number}" for name in range(4) for number in range(5)}


@pytest.mark.rule("HIS-1.7")
def test_off_means_off(opened, folder):
    history = opened(store="off")
    done = history.record([{"channel": "zhihu"}])
    assert done.recorded == 0
    assert "off" in done.warnings[0]
    assert (history.empty_sessions(), list(history.events()), history.latest(3), history.clear()) == (
        ({}, ()),
        [],
        [],
        0,
    )
    assert not folder.exists()


@pytest.mark.rule("HIS-7.1")
def test_clearing_leaves_nothing(history, counts, folder):
    history.record([{"channel": "zhihu", "pattern": "remember-this"}], session="a")
    assert history.clear() == 1
    assert (list(history.events()), counts()) == ([], {})
    history.close()
    assert not [path for path in folder.rglob("*") if path.is_file() and b"remember-this" in path.read_bytes()]


def test_the_latest_sessions_come_whole_and_oldest_first(history):
    for session in "abc":
        history.record([{"channel": "zhihu"}, {"channel": "arxiv"}], session=session)
    assert [event["session"] for event in history.latest(2)] == ["b", "b", "c", "c"]
