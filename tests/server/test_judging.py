import anyio
import pytest

from planner.errors import InputError
from planner.llm import libraries
from planner.pipeline import Planner
from tests.recorders.faults import Reply, serve
from tests.server.calls import EN, ZH

pytestmark = pytest.mark.anyio


class Pondering(Planner):
    """A planner whose model takes its time; `cancelled` when it was not allowed to finish."""

    cancelled = False
    ponders_s = 60.0

    async def aselect(self, query, clarify_result=None, scope=None, **options):
        if options.get("judge") != "heuristic":
            try:
                await anyio.sleep(self.ponders_s)
            except anyio.get_cancelled_exc_class():
                self.cancelled = True
                raise
        return await super().aselect(query, clarify_result, scope, **{**options, "judge": "heuristic"})


def pondering(env, seconds, answer_s=45.0):
    made = Pondering(settings={"server": {"answer_s": answer_s}}, env=env)
    made.ponders_s = seconds
    return made


@pytest.mark.rule("MCP-1.5")
async def test_progress_is_told_while_a_model_judges(connect, env):
    told = []

    async def hear(progress, total, message):
        told.append((progress, message))

    async with connect(planner=pondering(env, 1.8)) as client:
        answer = await client.call_tool("select_channels_tool", {"query": ZH}, progress_callback=hear)
    assert not answer.is_error
    assert [progress for progress, _ in told] == sorted({progress for progress, _ in told})
    assert len(told) == 2
    assert "model" in told[0][1]


@pytest.mark.rule("MCP-1.5")
async def test_a_plan_that_is_there_at_once_tells_no_progress(connect):
    told = []

    async def hear(progress, total, message):
        told.append(progress)

    async with connect() as client:
        await client.call_tool("plan_tool", {"question": EN}, progress_callback=hear)
    assert told == []


@pytest.mark.rule("MCP-1.6")
@pytest.mark.parametrize("tool", ["select_channels_tool", "plan_tool"])
async def test_the_heuristic_answers_where_the_model_takes_too_long(connect, env, tool):
    libraries.load()
    with serve(Reply(hang_s=60)) as server:
        llm = {"standard": {"model": "openai/slow", "api_base": server.api_base}, "deadline_s": 50}
        planner = Planner(settings={"llm": llm, "server": {"answer_s": 0.3}}, env={**env, "OPENAI_API_KEY": "sk-test"})
        async with connect(planner=planner) as client:
            with anyio.fail_after(10):
                answer = await client.call_tool(tool, {"query" if tool.startswith("select") else "question": EN})
    made = answer.structured_content
    plan = made if tool.startswith("select") else made["channels"]
    assert plan["channels"]
    for degraded in (plan, made.get("reader", plan)):
        step = degraded["degradations"][-1]
        assert (step["from"], step["to"], step["reason"]) == ("auto", "heuristic", "timeout")
        assert step["after_ms"] >= 300


@pytest.mark.rule("MCP-1.6")
def test_no_setting_lets_a_plan_outlast_a_client(env):
    from planner.errors import SettingsError

    with pytest.raises(SettingsError, match="answer_s"):
        Planner(settings={"server": {"answer_s": 60}}, env=env)


@pytest.mark.rule("MCP-1.7")
async def test_cancelling_a_call_reaches_the_model(connect, env):
    planner = pondering(env, 60)
    async with connect(planner=planner) as client:
        with anyio.move_on_after(0.5):
            await client.call_tool("select_channels_tool", {"query": ZH})
        with anyio.fail_after(5):
            while not planner.cancelled:
                await anyio.sleep(0.02)
        assert not (await client.call_tool("select_channels_tool", {"query": ZH, "judge": "heuristic"})).is_error


@pytest.mark.rule("MCP-1.4")
async def test_a_refusal_passes_the_progress_unwrapped(env):
    from planner.server.judging import select

    async def silent(*_told):
        return None

    with pytest.raises(InputError, match="query"):
        await select(Planner(env=env), silent, {"query": ""})
