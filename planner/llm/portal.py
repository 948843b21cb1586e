"""One event loop for all model calls of a process, in a thread of its own, started when first needed.

Asynchronous callers use it too: litellm starts its clients and a logging task anew for each loop it sees, and leaves
them behind in a loop that ends.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

Result = TypeVar("Result")
_lock = threading.Lock()
_open: dict[int, BlockingPortal] = {}


def run(function: Callable[..., Awaitable[Result]], *args: object) -> Result:
    """The result of an async function, from synchronous code; also inside a running loop, and from many threads.

    An interrupt (Ctrl-C) cancels what runs.
    """
    future: Future[Result] = _portal().start_task_soon(function, *args)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def arun(function: Callable[..., Awaitable[Result]], *args: object) -> Result:
    """As `run`, awaited from any asyncio loop; cancelling the caller cancels what runs."""
    import asyncio

    return await asyncio.wrap_future(_portal().start_task_soon(function, *args))


def _portal() -> BlockingPortal:
    # by process: a fork inherits the entry but not the thread
    with _lock:
        if (here := os.getpid()) not in _open:
            _open.clear()
            _open[here] = _start()
            atexit.register(_stop, here)
        return _open[here]


def _start() -> BlockingPortal:
    import anyio
    from anyio.from_thread import BlockingPortal

    started: Future[BlockingPortal] = Future()

    async def serve() -> None:
        async with BlockingPortal() as portal:
            started.set_result(portal)
            await portal.sleep_until_stopped()

    # a daemon: anyio's own helper would keep the process alive for good
    threading.Thread(target=anyio.run, args=(serve,), name="planner-portal", daemon=True).start()
    return started.result()


def _stop(pid: int) -> None:
    if pid == os.getpid() and (portal := _open.pop(pid, None)) is not None:
        with suppress(RuntimeError):
            portal.start_task_soon(portal.stop, True).result(timeout=1)
