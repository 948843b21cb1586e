import pytest

from planner import Planner, ReplayMiss
from planner.errors import InputError
from planner.replay import replay
from planner.replay.form import load
from planner.replay.repeating import notes_of
from planner.replay.scrub import KeyInCassette
from planner.replay.stale import made_with, stale
from tests.recorders.fault_rows import CANARY, OK, QUERY
from tests.recorders.faults import Reply, chat, failure, serve


@pytest.fixture
def settings():
    return {"llm": {"standard": {"model": "openai/gpt-4.1"}, "backoff_s": 0.01}}


@pytest.fixture
def cassette(tmp_path, settings, env):
    """One 429 and one good answer, recorded with a key in the environment and one in the answer's headers."""
    reply = chat(OK)
    replies = [failure(429), Reply(200, reply.body, (*reply.headers, ("set-cookie", f"s={CANARY}")))]
    path = tmp_path / "deep" / "one.yaml"
    with serve(lambda _request, before: replies[before]) as server, replay(path, record=True) as session:
        pointed = {"llm": {**settings["llm"], "standard": {"model": "openai/gpt-4.1", "api_base": server.api_base}}}
        planner = Planner(settings=pointed, env={**env, "OPENAI_API_KEY": CANARY})
        planner.select(QUERY, judge="standard")
        session.notes.update(notes_of("scripted", path, planner.catalog, planner.settings, planner.env))
    return path


@pytest.fixture
def keyless(settings, env):
    settings["llm"]["standard"]["api_base"] = "http://elsewhere.invalid/v1"
    return Planner(settings=settings, env=env)


@pytest.mark.rule("JDG-4.1", "JDG-3.1")
def test_a_cassette_is_readable_and_holds_no_key(cassette):
    text = cassette.read_text("utf-8")
    content = load(text)
    assert CANARY not in text
    assert content["answered_by"] == "scripted"
    assert [e["response"]["status"] for e in content["exchanges"]] == [429, 200]
    assert content["exchanges"][0]["request"].keys() == {"method", "path", "body"}
    assert set(content["exchanges"][1]["response"]["headers"]) <= {"content-type", "retry-after"}
    assert content["exchanges"][1]["request"]["body"]["messages"][1]["content"].startswith("<data>")


@pytest.mark.rule("JDG-4.4")
def test_it_plays_without_key_and_network(cassette, keyless, request):
    request.getfixturevalue("socket_disabled")  # only now: the cassette was recorded over one
    with replay(cassette) as session:
        plan = keyless.select(QUERY, judge="standard")
    assert plan.judge.tier == "standard"
    assert session.played_to_end


@pytest.mark.rule("JDG-4.3")
def test_another_question_is_a_miss_that_says_what_differs(cassette, keyless):
    with (
        pytest.raises(ReplayMiss, match=r"nearest is number 1: messages\[1\]\.content.*record again"),
        replay(cassette),
    ):
        keyless.select("how do heat pumps work", judge="standard")


@pytest.mark.rule("JDG-4.3")
def test_one_call_too_many_is_a_miss(cassette, keyless):
    from planner.llm import state

    def twice():
        with replay(cassette):
            keyless.select(QUERY, judge="standard")
            state.forget()
            keyless.select(QUERY, judge="standard")

    with pytest.raises(ReplayMiss, match="was played already"):
        twice()


@pytest.mark.rule("JDG-4.4")
def test_a_recording_that_is_not_asked_for_is_a_miss(cassette):
    with pytest.raises(ReplayMiss, match="2 of 2 recorded answers were never asked for"), replay(cassette):
        pass


@pytest.mark.rule("JDG-4.2")
def test_a_key_in_an_answer_is_refused_and_nothing_written(tmp_path, settings, env):
    path = tmp_path / "leak.yaml"
    with serve(failure(401, f"bad key {CANARY}")) as server:
        settings["llm"]["standard"]["api_base"] = server.api_base
        planner = Planner(settings=settings, env={**env, "OPENAI_API_KEY": CANARY})
        with pytest.raises(KeyInCassette, match="looks like a key"), replay(path, record=True):
            planner.select(QUERY, judge="standard")
    assert not path.exists()


def test_a_failed_recording_leaves_the_old_file(cassette, keyless):
    before = cassette.read_text("utf-8")
    with pytest.raises(RuntimeError), replay(cassette, record=True):
        raise RuntimeError
    assert cassette.read_text("utf-8") == before


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="planner replay record"), replay(tmp_path / "none.yaml"):
        pass


@pytest.mark.rule("JDG-4.5")
def test_a_changed_prompt_or_catalog_is_named(cassette, catalog):
    now = made_with(catalog.version)
    assert stale(cassette, now) == []
    assert "the catalog changed" in stale(cassette, {**now, "catalog": "other"})[0]
    assert "the prompt changed" in stale(cassette, {**now, "prompt": "score.v2-0"})[0]


def test_the_fixture_replays_a_cassette_beside_the_test(pytester, cassette):
    pytester.makepyfile(
        test_it="""
        def test_one(planner_replay):
            planner_replay.cassette.play_counts.update({0: 1, 1: 1})
        """
    )
    folder = pytester.mkdir("cassettes") / "test_it"
    folder.mkdir()
    (folder / "test_one.yaml").write_text(cassette.read_text("utf-8"), "utf-8")
    pytester.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", b"junk", b'{"query": "x"}', b"a: 2024-99-99", b"[" * 100_000, b"exchanges: [3]"]
)
def test_a_file_that_is_no_recording_is_an_input_error(tmp_path, text):
    path = tmp_path / "other.yaml"
    path.write_bytes(text)
    with pytest.raises(InputError, match="planner replay record"), replay(path):
        pass
