"""Plans that ask no model, on all cores: chunks go to processes and come back in the order they were read."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process

from planner.errors import PlannerError
from planner.evaluation.batch_rows import Done, Item, Setup, plan_items
from planner.evaluation.batch_sources import Chunk, Place
from planner.pipeline import Planner

ROWS = 64  # a chunk: a tenth of a second or two
_AHEAD = 3  # chunks a worker may be ahead of the one that is waited for
_DEATHS = 3  # of workers in a row, without a chunk coming back between them

Add = Callable[[Done, Place], None]
_kept: list[tuple[Planner, Setup]] = []


def plan_here(chunks: Iterable[Chunk], planner: Planner, setup: Setup, add: Add) -> None:
    """In this process."""
    for items, end in chunks:
        add(plan_items(planner, items, setup), end)


def plan_on_cores(chunks: Iterable[Chunk], setup: Setup, add: Add, workers: int) -> None:
    """In `workers` processes; a chunk of a process that died is planned again (rule EVA-2.6)."""
    crew = _Crew(setup, workers)
    try:
        for chunk in chunks:
            crew.give(chunk)
            if crew.is_full():
                add(*crew.take())
        while crew.waiting:
            add(*crew.take())
    finally:
        crew.dismiss()


class _Crew:
    """Processes with a planner each, and the chunks they have not returned yet, oldest first."""

    def __init__(self, setup: Setup, workers: int) -> None:
        self.setup, self.workers = setup, workers
        self.waiting: deque[tuple[Chunk, Future[Done]]] = deque()
        self.deaths = 0
        self.pool = self._hired()

    def _hired(self) -> ProcessPoolExecutor:
        # spawn: a fork would share locks and threads of whoever called
        return ProcessPoolExecutor(self.workers, get_context("spawn"), _begin, (self.setup,))

    def give(self, chunk: Chunk) -> None:
        try:
            self.waiting.append((chunk, self._submit(chunk)))
        except BrokenExecutor:
            self._replace()
            self.waiting.append((chunk, self._submit(chunk)))

    def _submit(self, chunk: Chunk) -> Future[Done]:
        with _interrupts_held():  # processes are started in here
            return self.pool.submit(_work, chunk.items)

    def is_full(self) -> bool:
        return len(self.waiting) >= self.workers * _AHEAD

    def take(self) -> tuple[Done, Place]:
        while True:
            chunk, future = self.waiting[0]
            try:
                done = future.result()
            except BrokenExecutor:
                self._replace()
            else:
                self.waiting.popleft()
                self.deaths = 0
                return done, chunk.end

    def _replace(self) -> None:
        self.deaths += 1
        if self.deaths > _DEATHS:
            raise PlannerError("worker processes keep dying (out of memory?); fewer --workers, then --resume")
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.pool = self._hired()
        self.waiting = deque((chunk, self._submit(chunk)) for chunk, _ in self.waiting)

    def dismiss(self) -> None:
        with _interrupts_ignored():  # impatience must not leave processes behind
            self.pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until afterwards; a process started meanwhile hears none until it says what to do about it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # only the main thread is interrupted
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(setup: Setup) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _kept[:] = [(setup.planner(), setup)]
    gc.freeze()  # the catalog stays: no collection need look at it again


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        connection.wait([parent.sentinel])
        os._exit(1)  # a killed parent cannot say goodbye; nobody reads our results any more


def _work(items: list[Item]) -> Done:
    planner, setup = _kept[0]
    return plan_items(planner, items, setup)
