import asyncio
import json
import subprocess
import sys
import threading
import time

import anyio
import pytest

from planner import Planner
from planner.job import job_of
from planner.judges.climb import climb_all
from planner.judges.ladder import Ladder, climb
from planner.judges.rungs import NO_MODEL, build_ladder
from planner.judges.scripted import ScriptedJudge
from planner.llm import libraries, state
from planner.settings import load_settings
from tests.recorders.fault_rows import OK, QUERY
from tests.recorders.faults import Reply, chat, failure, serve

UNSURE = "what do people think about remote work in small towns"
GPT = {"llm": {"standard": {"model": "openai/gpt-4.1"}}}


KEY = "sk-test-000000000000"


@pytest.fixture(autouse=True)
def _fresh():
    libraries.load()
    state.forget()


@pytest.fixture
def env(env):
    return {**env, "OPENAI_API_KEY": KEY}


def tiers(standard=None, fast=None, **numbers):
    models = {"standard": standard, "fast": fast}
    named = {tier: {"model": f"openai/{tier}", "api_base": s.api_base} for tier, s in models.items() if s}
    return {"llm": {**named, "backoff_s": 0.01, **numbers}}


def asked(planner, query=QUERY, **options):
    return planner.select(query, **{"judge": "standard", **options})


@pytest.mark.rule("JDG-2.1")
def test_auto_without_a_model_is_the_heuristic_and_says_so_once(env):
    del env["OPENAI_API_KEY"]
    planner = Planner(env=env)
    plan = planner.select(QUERY, judge="auto")
    assert (plan.judge.tier, plan.degradations) == ("heuristic", ())
    assert planner.ladders.of(None).note == NO_MODEL


@pytest.mark.rule("JDG-2.1")
def test_a_known_key_alone_gives_models(env):
    ladder = build_ladder(load_settings({}, {}), env, ScriptedJudge(), "auto")
    assert [rung.name for rung in ladder.rungs] == ["standard:openai/gpt-4.1", "fast:openai/gpt-4.1-mini"]


@pytest.mark.rule("JDG-2.1")
@pytest.mark.parametrize(("query", "tier"), [("reddit opinions on remote work", "fast"), (UNSURE, "standard")])
def test_auto_asks_fast_for_a_simple_query(env, query, tier):
    with serve(chat(OK)) as standard, serve(chat(OK)) as fast:
        settings = {**tiers(standard, fast), "judge": {"simple_margin": 1.0}}
        assert Planner(settings=settings, env=env).select(query, judge="auto").judge.tier == tier


@pytest.mark.rule("JDG-2.1")
def test_the_confidence_gate_asks_nobody_about_a_simple_query(env):
    with serve(chat(OK)) as server:
        planner = Planner(settings={**tiers(server), "judge": {"confidence_gate": True}}, env=env)
        assert planner.select("reddit opinions on remote work", judge="auto").judge.tier == "heuristic"
    assert server.seen == []


def test_a_tier_without_a_model_is_a_recorded_step(env):
    del env["OPENAI_API_KEY"]
    plan = Planner(env=env).select(QUERY, judge="standard")
    assert [(s.from_, s.to, s.reason) for s in plan.degradations] == [("standard", "heuristic", "no_model")]


@pytest.mark.rule("JDG-2.2")
def test_the_way_down_is_standard_fast_heuristic(env):
    with serve(failure(401)) as standard, serve(failure(404)) as fast:
        plan = asked(Planner(settings=tiers(standard, fast), env=env))
    assert [(s.from_, s.to) for s in plan.degradations] == [
        ("standard:openai/standard", "fast:openai/fast"),
        ("fast:openai/fast", "heuristic"),
    ]


@pytest.mark.rule("JDG-2.2")
def test_a_missing_key_costs_nothing(env):
    env["OPENAI_API_KEY"] = " "
    plan = asked(Planner(settings=GPT, env=env))
    assert plan.degradations[0].reason == "no_key (OPENAI_API_KEY)"


@pytest.mark.rule("JDG-2.10")
def test_models_of_a_tier_are_tried_in_order(env):
    with serve(failure(401)) as first, serve(chat(OK)) as second:
        settings = tiers(first)
        settings["llm"]["standard"]["fallbacks"] = [{"model": "openai/second", "api_base": second.api_base}]
        plan = asked(Planner(settings=settings, env=env))
    assert (plan.judge.tier, plan.judge.model) == ("standard", "openai/second")


@pytest.mark.rule("JDG-2.5")
def test_a_hanging_model_leaves_time_to_the_one_below(env):
    with serve(Reply(hang_s=20)) as standard, serve(chat(OK)) as fast:
        began = time.perf_counter()
        plan = asked(Planner(settings=tiers(standard, fast, deadline_s=2), env=env))
    assert plan.judge.tier == "fast"
    assert time.perf_counter() - began < 5


@pytest.mark.rule("JDG-2.4")
def test_never_more_than_ten_requests_a_plan(env):
    with serve(failure(500)) as standard, serve(failure(500)) as fast:
        settings = tiers(standard, fast)
        settings["llm"]["standard"]["fallbacks"] = [{"model": "openai/other", "api_base": fast.api_base}]
        plan = asked(Planner(settings=settings, env=env))
    assert len(standard.seen) + len(fast.seen) == 10
    assert plan.degradations[-1].reason == "request_budget"


@pytest.mark.rule("JDG-2.6")
def test_a_model_that_keeps_failing_is_left_alone(env):
    with serve(failure(401)) as server:
        planner = Planner(settings=tiers(server), env=env)
        reasons = [asked(planner, f"{QUERY} {n}").degradations[0].reason for n in range(5)]
    assert len(server.seen) == 3
    assert reasons[3:] == ["breaker_open"] * 2


@pytest.mark.rule("JDG-2.7")
def test_a_call_above_the_cap_is_not_made(env):
    with serve(chat(OK)) as server:
        settings = tiers(server)
        settings["llm"]["standard"]["model"] = "openai/gpt-4.1"
        plan = asked(Planner(settings=settings, env=env), scope={"budget": {"max_cost_usd": 0.001}})
    assert (server.seen, plan.degradations[0].reason) == ([], "cost_cap")


@pytest.mark.rule("JDG-2.7", "JDG-5.3")
def test_an_unknown_price_is_null_and_stops_only_a_cap_of_zero(env):
    with serve(chat(OK)) as server:
        planner = Planner(settings=tiers(server), env=env)
        free = asked(planner, scope={"budget": {"max_cost_usd": 0}})
        capped = asked(planner, scope={"budget": {"max_cost_usd": 1}})
    assert free.degradations[0].reason == "cost_cap"
    assert (capped.usage.tokens_in, capped.usage.cost_usd) == (900, None)
    assert any("price of the planning call is unknown" in line for line in capped.warnings)


@pytest.mark.rule("JDG-5.3")
def test_every_attempt_is_metered(env):
    replies = [chat('{"answer": 42}'), chat(OK)]
    with serve(lambda _request, before: replies[before]) as server:
        settings = tiers(server)
        settings["llm"]["standard"]["model"] = "openai/gpt-4.1"
        plan = asked(Planner(settings=settings, env=env))
    assert (plan.usage.tokens_in, plan.usage.tokens_out) == (1800, 240)
    assert plan.usage.cost_usd == pytest.approx(1800 * 2e-6 + 240 * 8e-6)


def with_usage(text):
    """A good answer whose usage is this JSON text."""
    body = json.loads(chat(OK).body)
    return Reply(body=json.dumps({**body, "usage": "USAGE"}).replace('"USAGE"', text).encode())


@pytest.mark.rule("JDG-5.3")
@pytest.mark.parametrize("count", ["1e400", "1e15", "1000000000000000", "-5", "NaN", '"lots"', "[1]", "2.5", "null"])
def test_usage_nobody_can_believe_is_unknown_and_the_answer_is_kept(env, count):
    with serve(with_usage(f'{{"prompt_tokens": {count}, "completion_tokens": 120, "total_tokens": 1}}')) as server:
        settings = tiers(server)
        settings["llm"]["standard"]["model"] = "openai/gpt-4.1"
        plan = asked(Planner(settings=settings, env=env))
    assert (plan.judge.tier, len(server.seen)) == ("standard", 1)
    assert (plan.usage.tokens_in, plan.usage.tokens_out, plan.usage.cost_usd) == (None, None, None)


@pytest.mark.rule("JDG-5.3")
@pytest.mark.parametrize("extra", ['"cost": 1e300', '"prompt_tokens_details": {"cached_tokens": 1e15}'])
def test_a_cost_nobody_can_believe_is_unknown(env, extra):
    with serve(with_usage(f'{{"prompt_tokens": 900, "completion_tokens": 120, {extra}}}')) as server:
        settings = tiers(server)
        settings["llm"]["standard"]["model"] = "openai/gpt-4.1"
        plan = asked(Planner(settings=settings, env=env))
    assert (plan.usage.tokens_in, plan.usage.cost_usd) == (900, None)


@pytest.mark.rule("JDG-2.8")
def test_an_equal_question_is_answered_from_the_cache(env):
    with serve(chat(OK)) as server:
        planner = Planner(settings=tiers(server), env=env)
        first, again = asked(planner), asked(planner, f"  {QUERY}  ")
    assert (len(server.seen), first.cached, again.cached) == (1, False, True)
    assert again.core() == first.core()


@pytest.mark.rule("JDG-2.8", "JDG-1.6")
def test_the_cache_file_outlives_the_process(env, tmp_path):
    with serve(chat(OK)) as server:
        settings = tiers(server, cache_file=str(tmp_path / "cache.db"))
        asked(Planner(settings=settings, env=env))
        state.forget()
        assert asked(Planner(settings=settings, env=env)).cached
    assert len(server.seen) == 1


@pytest.mark.rule("JDG-1.6")
def test_the_mode_that_worked_is_remembered(env):
    def only_tools(request, _before):
        return chat(OK) if "tools" in request.json else failure(400)

    with serve(only_tools) as server:
        planner = Planner(settings=tiers(server), env=env)
        for n in range(3):
            assert asked(planner, f"{QUERY} {n}").judge.tier == "standard"
    assert ["tools" in request.json for request in server.seen] == [False, True, True, True]


@pytest.mark.rule("JDG-2.9")
def test_cancelling_the_caller_cancels_the_request(env):
    async def cancelled(planner):
        task = asyncio.create_task(planner.aselect(QUERY, judge="standard"))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with serve(Reply(hang_s=30)) as server:
        began = time.perf_counter()
        asyncio.run(cancelled(Planner(settings=tiers(server, deadline_s=20), env=env)))
    assert time.perf_counter() - began < 3


@pytest.mark.rule("JDG-2.9")
def test_cancelling_the_caller_does_not_wait_for_the_import(env, monkeypatch):
    began, over, imported = threading.Event(), threading.Event(), threading.Event()

    def slow():
        began.set()
        over.wait(10)
        imported.set()
        return 0.0

    monkeypatch.setattr(libraries, "loaded", lambda: False)
    monkeypatch.setattr(libraries, "load", slow)
    planner = Planner(settings=GPT, env=env)
    way = planner.way(planner.job(QUERY), "standard")

    async def cancelled():
        async with anyio.create_task_group() as group:
            group.start_soon(climb_all, [way], planner.settings.llm)
            await anyio.to_thread.run_sync(began.wait)
            group.cancel_scope.cancel()
        left_early = not imported.is_set()
        over.set()
        return left_early

    assert anyio.run(cancelled)


def test_sync_works_inside_a_running_loop_and_from_many_threads(env):
    with serve(chat(OK)) as server:
        planner = Planner(settings=tiers(server), env=env)

        async def inside():
            return asked(planner).judge.tier

        assert asyncio.run(inside()) == "standard"
        found = []
        threads = [threading.Thread(target=lambda n=n: found.append(asked(planner, f"{QUERY} {n}"))) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [plan.judge.tier for plan in found] == ["standard"] * 8


@pytest.mark.rule("JDG-3.4")
def test_the_key_comes_from_the_planners_environment(env):
    with serve(chat(OK)) as server:
        asked(Planner(settings=tiers(server), env=env))
    assert server.seen[0].headers["authorization"] == "Bearer sk-test-000000000000"


@pytest.mark.rule("JDG-1.5")
def test_the_preview_is_what_goes_over_the_wire(env):
    with serve(chat(OK)) as server:
        planner = Planner(settings=tiers(server), env=env)
        seen = planner.preview(QUERY, judge="standard")
        assert server.seen == []
        asked(planner)
    sent = server.seen[0].json
    assert {key: sent[key] for key in ("messages", "response_format")} == seen.request()


def test_the_scripted_judge_says_what_it_was_told(catalog, env):
    judge = ScriptedJudge(groups={"channels-academic": (0.9, 0.8)}, leaves={"arxiv": (0.9, 0.0)})
    planner = Planner(env=env)
    job = job_of(planner._held(), UNSURE)
    (verdict,) = climb([Ladder(judge).way(job.question)], planner.settings.llm)
    assert verdict.judgement.leaves["arxiv"].scenario == 0.9
    assert judge.questions == [job.question]


@pytest.mark.rule("JDG-5.1")
def test_a_heuristic_plan_loads_nothing_of_the_models():
    code = (
        "import sys, planner; planner.channel_selection('reddit on remote work'); "
        ""
        "sys.exit(str({'litellm', 'instructor', 'tenacity', 'asyncio', 'anyio', 'vcr'} & set(sys.modules) or 0) != '0')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={"HOME": "/nonexistent"}
    )
    assert done.returncode == 0, done.stderr


def test_the_settings_read_the_short_variables():
    names = {
        "PLANNER_STANDARD_MODEL": "ollama/a:1b",
        "PLANNER_FAST_API_BASE": "http://h/v1",
        "PLANNER_DEADLINE_S": "60",
    }
    llm = load_settings(None, names).llm
    assert (llm.standard.model, llm.fast.api_base, llm.deadline_s) == ("ollama/a:1b", "http://h/v1", 60)


def test_json_of_the_plan_names_the_model(env):
    with serve(chat(OK)) as server:
        plan = asked(Planner(settings=tiers(server), env=env))
    assert json.loads(plan.model_dump_json())["judge"] == {"tier": "standard", "model": "openai/standard"}


@pytest.mark.rule("JDG-3.1")
@pytest.mark.parametrize("body", [OK.replace('"r": "', f'"r": "{KEY} ', 1), f"{OK}, because {KEY}"])
def test_a_key_that_the_model_repeats_reaches_no_plan(env, body):
    assert KEY in body
    with serve(chat(body)) as server:
        plan = asked(Planner(settings=tiers(server), env=env))
    assert KEY not in plan.model_dump_json()
