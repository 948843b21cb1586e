"""One event loop for all model calls of a process, in a thread of its own, started when first needed.

Asynchronous callers use it too: litellm starts its clients and a logging task anew for each loop it sees, and leaves
them behind in a loop that ends.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

Result = TypeVar("Result")
Work = Callable[..., Coroutine[Any, Any, Result]]
_lock = threading.Lock()
_open: dict[int, asyncio.AbstractEventLoop] = {}
_LAST_WORD_S = 1.0  # at the end of the process, for what still runs to be cancelled


def run(function: Work[Result], *args: object) -> Result:
    """The result of an async function, from synchronous code; also inside a running loop, and from many threads.

    An interrupt (Ctrl-C) cancels what runs.
    """
    future = _started(function, *args)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def arun(function: Work[Result], *args: object) -> Result:
    """As `run`, awaited from any asyncio loop; cancelling the caller cancels what runs."""
    return await asyncio.wrap_future(_started(function, *args))


def _started(function: Work[Result], *args: object) -> Future[Result]:
    return asyncio.run_coroutine_threadsafe(function(*args), _loop())


def _loop() -> asyncio.AbstractEventLoop:
    # by process: a fork inherits the entry but not the thread
    with _lock:
        if (here := os.getpid()) not in _open:
            _open.clear()
            _open[here] = loop = asyncio.new_event_loop()
            threading.Thread(target=_serve, args=(loop,), name="planner-portal", daemon=True).start()
            atexit.register(_stop, here)
        return _open[here]


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner, suppress(asyncio.CancelledError):
        runner.run(_until_stopped())


async def _until_stopped() -> None:
    await asyncio.get_running_loop().create_future()


def _stop(pid: int) -> None:
    if pid != os.getpid() or (loop := _open.pop(pid, None)) is None:
        return
    with suppress(RuntimeError, TimeoutError):
        asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(timeout=_LAST_WORD_S)


async def _cancel_all() -> None:
    for task in asyncio.all_tasks():
        if task is not asyncio.current_task():
            task.cancel()
