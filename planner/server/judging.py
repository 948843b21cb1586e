"""A plan within a client's patience: progress while a model judges, and the heuristic when it takes too long."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

from planner import combined
from planner.channels.model import ChannelPlan, Degradation
from planner.combined import CombinedPlan
from planner.pipeline import Planner

Answer = TypeVar("Answer")
Tell = Callable[[float, None, str], Awaitable[None]]  # seconds so far, no total, a message
_QUIET_S = 0.5  # a plan without a model is there long before
_EVERY_S = 1.0


async def select(planner: Planner, tell: Tell, arguments: dict[str, Any]) -> ChannelPlan:
    """`Planner.aselect` with progress, never longer than `server.answer_s`: then the heuristic answers (rule MCP-1.6).

    Cancellation reaches the call on the wire. Raises InputError.
    """

    def without(step: Degradation) -> ChannelPlan:
        return _late(planner.select(**{**arguments, "judge": "heuristic"}), step)

    return await _in_time(planner, tell, planner.aselect(**arguments), without, arguments.get("judge"))


async def plan(planner: Planner, tell: Tell, arguments: dict[str, Any]) -> CombinedPlan:
    """As `select`, for `combined.aplan`."""

    def without(step: Degradation) -> CombinedPlan:
        made = combined.plan(**{**arguments, "judge": "heuristic"}, planner=planner)
        reader = made.reader.model_copy(update={"degradations": (*made.reader.degradations, step)})
        channels = made.channels and _late(made.channels, step)
        return made.model_copy(update={"reader": reader, "channels": channels})

    answer = combined.aplan(**arguments, planner=planner)
    return await _in_time(planner, tell, answer, without, arguments.get("judge"))


async def _in_time(
    planner: Planner,
    tell: Tell,
    answer: Awaitable[Answer],
    without: Callable[[Degradation], Answer],
    judge: str | None,
) -> Answer:
    """The answer; when it takes too long, what `without` a model makes of the step down."""
    began = time.monotonic()
    with anyio.move_on_after(planner.settings.server.answer_s):
        return await _telling(tell, answer)
    after_ms = round((time.monotonic() - began) * 1000, 3)
    return without(Degradation(from_=judge or "auto", to="heuristic", reason="timeout", after_ms=after_ms))


def _late(made: ChannelPlan, step: Degradation) -> ChannelPlan:
    return made.model_copy(update={"degradations": (*made.degradations, step), "elapsed_ms": step.after_ms})


async def _telling(tell: Tell, answer: Awaitable[Answer]) -> Answer:
    """The answer; a task group would wrap its error, so the error is carried out by hand."""
    outcome: list[Answer | Exception] = []
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
        await tell(seconds, None, "a model is judging the question")
        await anyio.sleep(_EVERY_S)
        seconds += _EVERY_S
