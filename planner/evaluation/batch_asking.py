"""Plans that ask models: many at once in one process, under a limit of requests a minute, kept in order."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from planner.evaluation.batch_rows import Done, Item, Setup, aplan_item
from planner.evaluation.batch_sources import Chunk, Place
from planner.evaluation.batch_workers import Add
from planner.pipeline import Planner

if TYPE_CHECKING:
    from asyncio import Task

Result = TypeVar("Result")
_AHEAD = 2  # answers a slow plan may keep waiting, in multiples of the concurrency; lost when the run is killed


def plan_asking(
    chunks: Iterable[Chunk], planner: Planner, setup: Setup, add: Add, concurrency: int, per_minute: float | None
) -> None:
    """Plans by models, `concurrency` at once, at most `per_minute` requests a minute (rules EVA-2.7, EVA-2.8).

    Chunks hold one line each, so that the place is that of the last line kept.
    """
    import asyncio

    asyncio.run(_plan(chunks, planner, setup, add, concurrency, Pace(per_minute)))


async def _plan(
    chunks: Iterable[Chunk], planner: Planner, setup: Setup, add: Add, concurrency: int, pace: Pace
) -> None:
    import asyncio

    seats = asyncio.Semaphore(concurrency)

    async def one(item: Item) -> Done:
        async with seats, pace.turn():
            return await aplan_item(planner, item, setup)

    waiting: deque[tuple[Place, Task[Done]]] = deque()
    try:
        async with asyncio.TaskGroup() as group:
            source = iter(chunks)
            while chunk := await asyncio.wrap_future(_begun(next, source, None)):  # a pipe may keep us waiting
                waiting += [(chunk.end, group.create_task(one(item))) for item in chunk.items]
                while len(waiting) >= concurrency * _AHEAD:
                    await _hand_over(waiting, add)
            while waiting:
                await _hand_over(waiting, add)
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None


def _begun(function: Callable[..., Result], *args: object) -> Future[Result]:
    """What the function will give. Its thread is a daemon: whoever is interrupted does not wait for a silent pipe."""
    future: Future[Result] = Future()
    future.set_running_or_notify_cancel()  # from here on it can only be abandoned

    def work() -> None:
        try:
            future.set_result(function(*args))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name="planner-reader", daemon=True).start()
    return future


async def _hand_over(waiting: deque[tuple[Place, Task[Done]]], add: Add) -> None:
    end, task = waiting[0]
    add(await task, end)
    waiting.popleft()


@dataclass(slots=True)
class Pace:
    """Turns, evenly spaced: a plan takes one, and is charged afterwards for each request more, or none, that it sent.

    `per_minute`: requests on the wire, on average over the run; None for no limit. Waiting takes nothing from a plan's
    deadline.
    """

    per_minute: float | None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] | None = None
    _next: float = field(default=0.0, init=False)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the next turn; requests of the plan inside are counted."""
        if self.per_minute is None:
            yield
            return
        from planner.llm.limits import on_request

        sent: list[None] = []
        await self._wait()
        told = on_request.set(lambda: sent.append(None))
        try:
            yield
        finally:
            on_request.reset(told)
            self._next += (len(sent) - 1) * self._step

    @property
    def _step(self) -> float:
        return 60.0 / (self.per_minute or 60.0)

    async def _wait(self) -> None:
        import asyncio

        now = self.clock()
        mine = max(now, self._next)
        self._next = mine + self._step
        if mine > now:
            await (self.sleep or asyncio.sleep)(mine - now)
