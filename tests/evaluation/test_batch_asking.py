"""Arms that ask models: order, concurrency, pace. A planner that takes its time stands for one that asks."""

import asyncio
import json

import pytest

from planner.evaluation.batch import run_batch
from planner.evaluation.batch_asking import Pace, plan_asking
from planner.evaluation.batch_rows import Item
from planner.evaluation.batch_sources import Chunk, Place
from planner.llm.limits import on_request
from planner.pipeline import Planner
from tests.evaluation.batch_runs import setup, unwatched, write_requests


class SlowPlanner(Planner):
    """Plans take the longer the earlier they stand; it counts how many run at once."""

    running = most = 0

    async def aselect(self, *given, **options):
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.03 / (1 + self.running))
        self.running -= 1
        return self.select(*given, **options)


def chunks(count):
    for n in range(1, count + 1):
        line = b"oops" if n == 5 else f'{{"query": "rust {n}"}}'.encode()
        yield Chunk([Item(n, line)], Place(n, n))


@pytest.mark.rule("EVA-2.7")
def test_rows_keep_their_order_however_long_each_takes(env):
    planner, kept = SlowPlanner(env=env), []
    plan_asking(chunks(20), planner, setup(env), lambda done, place: kept.append((done, place)), 4, None)
    assert [place.number for _, place in kept] == list(range(1, 21))
    assert [json.loads(done.rows or done.bad).get("id") for done, _ in kept] == [
        None if n == 5 else str(n) for n in range(1, 21)
    ]
    assert planner.most == 4


@pytest.mark.rule("EVA-2.7")
def test_what_goes_wrong_stops_the_batch(env):
    class Broken(SlowPlanner):
        async def aselect(self, *given, **options):
            raise RuntimeError("no answer")

    with pytest.raises(RuntimeError, match="no answer"):
        plan_asking(chunks(20), Broken(env=env), setup(env), lambda *_: None, 4, None)


@pytest.mark.rule("EVA-2.8")
@pytest.mark.parametrize("per_minute", [6, 60, 600])
def test_turns_are_spaced_so_that_no_minute_holds_more_than_the_limit(per_minute):
    now = [100.0]
    begun = []

    async def sleep(seconds):
        now[0] += seconds

    async def all_turns():
        pace = Pace(per_minute, lambda: now[0], sleep)
        for _ in range(3 * per_minute):
            async with pace.turn():
                begun.append(now[0])
                on_request.get()()

    asyncio.run(all_turns())
    for at in begun:
        assert sum(at <= other < at + 60 - 1e-6 for other in begun) <= per_minute


@pytest.mark.rule("EVA-2.8")
@pytest.mark.parametrize(("requests", "waited"), [(0, 0), (1, 10), (3, 30)])
def test_a_plan_is_charged_for_what_it_sent(requests, waited):
    now = [100.0]

    async def sleep(seconds):
        now[0] += seconds

    async def two_turns():
        pace = Pace(6, lambda: now[0], sleep)
        async with pace.turn():
            for _ in range(requests):
                on_request.get()()
        async with pace.turn():
            return now[0] - 100

    assert asyncio.run(two_turns()) == pytest.approx(waited)
    assert on_request.get() is None


@pytest.mark.slow
@pytest.mark.rule("EVA-2.7")
def test_a_batch_by_a_model(tmp_path, env):
    from planner.settings import load_settings
    from tests.recorders.faults import chat, serve

    answer = chat('{"g": [{"i": "channels-academic", "d": 1, "s": 1}], "l": [{"i": "arxiv", "s": 1, "k": 0}]}')
    with serve(answer) as server:
        wanted = {"llm": {"standard": {"model": "openai/some-model", "api_base": server.api_base}, "deadline_s": 30}}
        from dataclasses import replace

        from tests.evaluation.batch_runs import job

        plain = job(
            write_requests(tmp_path / "in.jsonl", 12), tmp_path / "out.jsonl", env, concurrency=3, per_minute=600
        )
        chosen = replace(plain.setup, settings=load_settings(wanted, {}), judge="standard")
        summary = run_batch(replace(plain, setup=chosen), unwatched)
        assert len(server.seen) == summary.counts["rows"] == 12
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == [f"r{n:07}" for n in range(12)]
    assert {row["tier"] for row in rows} == {"standard"}
    assert summary.counts["tokens_in"] > 0
