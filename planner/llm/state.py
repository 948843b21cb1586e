"""What is kept for the life of a process: breakers, modes that worked, judgements. Shared by all planners in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from planner.llm.breaker import Breaker
from planner.llm.cache import Store, open_store
from planner.llm.modes import ModeMemory
from planner.llm.spec import ModelSpec
from planner.settings import LlmSettings

_MODES_TTL_S = 7 * 86_400.0
_keyless = [False]


def breaker_of(spec: ModelSpec, settings: LlmSettings) -> Breaker:
    """The model's breaker."""
    return _breaker(spec.label, settings.breaker_failures, settings.breaker_pause_s)


def judgements(settings: LlmSettings) -> Store:
    """The cache of judgements."""
    return _store(settings.cache_file, settings.cache_entries, settings.cache_ttl_s)


def modes_of(settings: LlmSettings) -> ModeMemory:
    """Which mode worked for which model."""
    return _modes(settings.cache_file)


def keyless() -> bool:
    """Whether answers are replayed, so that no key is needed."""
    return _keyless[-1]


@contextmanager
def of_a_replay(*, without_keys: bool) -> Iterator[None]:
    """A stretch that neither sees what was kept before nor leaves anything behind."""
    forget()
    _keyless.append(without_keys)
    try:
        yield
    finally:
        _keyless.pop()
        forget()


def forget() -> None:
    """As in a new process; for tests."""
    for kept in (_breaker, _store, _modes):
        kept.cache_clear()


@lru_cache(maxsize=256)
def _breaker(_label: str, failures: int, pause_s: float) -> Breaker:
    return Breaker(failures, pause_s)


@lru_cache(maxsize=16)
def _store(path: str | None, entries: int, ttl_s: float) -> Store:
    return open_store(path, entries, ttl_s)


@lru_cache(maxsize=16)
def _modes(path: str | None) -> ModeMemory:
    return ModeMemory(open_store(f"{path}.modes" if path else None, 256, _MODES_TTL_S))
