"""What a whole plan costs over the libraries below it, and 200 plans at once.

    python -m tests.bench.bench_llm [RUNS]

All against one local server that answers at once, in one write. In each round every kind of call sends the same
messages, those of a question not asked before, and the kinds take turns in being first.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import sys
import time

from planner import Planner
from planner.judges.answer import Answer, answer_model
from planner.llm import libraries, portal
from planner.llm.client import Ask, _arguments
from planner.llm.spec import ModelSpec
from tests.recorders.fault_rows import OK
from tests.recorders.faults import chat, serve

KEY = "sk-bench-000000000000"
CONCURRENT = 200
WARM = 20  # rounds that are not counted
REST_S = 0.01  # litellm goes on logging when it has answered; that is not to fall into the next call's time


def question(n):
    return f"how do heat pumps work {n}"


def planner_at(api_base):
    llm = {"standard": {"model": "openai/x", "api_base": api_base}, "cache_entries": 0, "deadline_s": 60}
    return Planner(settings={"llm": llm}, env={"OPENAI_API_KEY": KEY, "HOME": "/nonexistent"})


def overhead(planner, api_base, runs):
    """p50 in ms of bare litellm, instructor over it, and a whole plan, with the same messages and response model."""
    litellm, instructor = libraries.litellm(), libraries.instructor()
    client = instructor.from_litellm(litellm.acompletion, mode=instructor.Mode.JSON_SCHEMA)
    prompts = [planner.preview(question(n), judge="standard").prompt for n in range(runs + WARM)]
    model = answer_model(prompts[0].schema, Answer)
    form = {"type": "json_schema", "json_schema": {"name": "Answer", "schema": model.model_json_schema()}}

    def ask(n):
        return _arguments(Ask(ModelSpec("openai/x", api_base), prompts[n].messages, model, None, KEY, 700, 60))

    async def timed(call):
        # on the loop that plans use too: litellm starts its clients and its logging anew for each loop it sees
        began = time.perf_counter()
        await call()
        return time.perf_counter() - began

    def bare(n):
        return portal.run(timed, lambda: litellm.acompletion(response_format=form, **ask(n)))

    def both(n):
        return portal.run(timed, lambda: client.create(response_model=model, max_retries=0, **ask(n)))

    def plan(judge):
        def run(n):
            began = time.perf_counter()
            planner.select(question(n), judge=judge)
            return time.perf_counter() - began

        return run

    loop = asyncio.new_event_loop()

    def plan_async(n):
        return loop.run_until_complete(timed(lambda: planner.aselect(question(n), judge="standard")))

    calls = {
        "litellm": bare,
        "instructor + litellm": both,
        "whole plan, sync": plan("standard"),
        "whole plan, async": plan_async,
        "heuristic plan": plan("heuristic"),
    }
    times = {name: [] for name in calls}
    names = list(calls)
    for n in range(runs + WARM):
        first = n % len(names)
        for name in [*names[first:], *names[:first]]:
            time.sleep(REST_S)
            took = calls[name](n)
            if n >= WARM:
                times[name].append(took * 1000)
    loop.close()
    return {name: statistics.median(values) for name, values in times.items()}


async def at_once(planner, count):
    """Seconds for `count` plans together, and the tiers that answered."""
    began = time.perf_counter()
    jobs = (planner.aselect(f"how do heat pumps work, case {n}", judge="standard") for n in range(count))
    plans = await asyncio.gather(*jobs)
    return time.perf_counter() - began, {plan.judge.tier for plan in plans}


def main(runs):
    libraries.load()
    with serve(chat(OK)) as server:
        planner = planner_at(server.api_base)
        found = overhead(planner, server.api_base, runs)
        for name, ms in found.items():
            print(f"{name}: p50 {ms:.2f} ms")
        both = found["instructor + litellm"]
        print(f"instructor over litellm: {both / found['litellm']:.2f}x")
        for kind in ("async", "sync"):
            print(f"whole plan, {kind}, over instructor + litellm: {found[f'whole plan, {kind}'] / both:.2f}x")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(3):
            seconds, tiers = asyncio.run(at_once(planner, CONCURRENT))
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            print(f"{CONCURRENT} plans at once: {seconds:.2f} s, {tiers}, peak memory +{grown:.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
