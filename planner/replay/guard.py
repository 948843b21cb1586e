"""While answers are replayed, no model call opens a connection, to this machine or another, whatever client it uses.

vcr stands in for the HTTP clients it knows; this refuses what would go past it. Watched is what runs inside a model
call, in its thread, tasks and copied contexts: sockets of anybody else in the process are not touched.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from planner.errors import ReplayMiss
from planner.llm import libraries

_EVENTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"})
_lock = threading.Lock()
_tried: list[list[str]] = []  # an open replay each
_hooked: list[bool] = []


@contextmanager
def no_connections() -> Iterator[list[str]]:
    """A stretch in which model calls that connect raise ReplayMiss; the addresses they tried are in the list."""
    tried: list[str] = []
    with _lock:
        if not _hooked:  # hooks cannot be taken back; outside such a stretch this one does nothing
            sys.addaudithook(_watch)
            _hooked.append(True)
        _tried.append(tried)
    try:
        yield tried
    finally:
        with _lock:
            _tried[:] = [other for other in _tried if other is not tried]


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if not _tried or event not in _EVENTS or not libraries.calling():
        return
    place = _place(args)
    for tried in tuple(_tried):
        tried.append(place)
    raise ReplayMiss(f"a model call tried to reach {place} while recordings are replayed")


def _place(args: tuple[Any, ...]) -> str:
    address = args[1] if len(args) > 1 and not isinstance(args[0], str) else args[:2]
    return ":".join(str(part) for part in address[:2]) if isinstance(address, tuple) else str(address)
