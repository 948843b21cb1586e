"""A plan within a client's patience: progress while a model judges, and the heuristic when it takes too long."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from planner.channels.model import ChannelPlan, Degradation
from planner.pipeline import Planner

Tell = Callable[[float, None, str], Awaitable[None]]  # seconds so far, no total, a message
_QUIET_S = 0.5  # a plan without a model is there long before
_EVERY_S = 1.0


async def select(planner: Planner, tell: Tell, arguments: dict[str, Any]) -> ChannelPlan:
    """`Planner.aselect` with progress, never longer than `server.answer_s`: then the heuristic answers (rule MCP-1.6).

    Cancellation reaches the call on the wire. Raises InputError.
    """
    began = time.monotonic()
    with anyio.move_on_after(planner.settings.server.answer_s):
        return await _telling(tell, planner.aselect(**arguments))
    plan = planner.select(**{**arguments, "judge": "heuristic"})
    after_ms = round((time.monotonic() - began) * 1000, 3)
    step = Degradation(from_=arguments.get("judge") or "auto", to="heuristic", reason="timeout", after_ms=after_ms)
    return plan.model_copy(update={"degradations": (*plan.degradations, step), "elapsed_ms": after_ms})


async def _telling(tell: Tell, answer: Awaitable[ChannelPlan]) -> ChannelPlan:
    """The answer; a task group would wrap its error, so the error is carried out by hand."""
    outcome: list[ChannelPlan | Exception] = []
    async with anyio.create_task_group() as group:
        group.start_soon(_keep_telling, tell)
        try:
            outcome.append(await answer)
        except Exception as error:
            outcome.append(error)
        group.cancel_scope.cancel()
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


async def _keep_telling(tell: Tell) -> None:
    seconds = _QUIET_S
    await anyio.sleep(_QUIET_S)
    while True:
        await tell(seconds, None, "a model is judging relevance")
        await anyio.sleep(_EVERY_S)
        seconds += _EVERY_S
