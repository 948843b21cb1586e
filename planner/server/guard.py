"""What stands before every HTTP request: rate, Host, Origin, token, body size, concurrency, time."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from planner.settings import ServerSettings

HEALTH = "/health"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_MOST_CLIENTS = 1024
_QUEUE = 2  # times the concurrency: those answered, and as many that wait
_DRAINED = 64  # times the size allowed
_LAST_WORD_S = 10.0  # beyond the time a plan may take


@dataclass(frozen=True, slots=True)
class Rules:
    """Who may come in. `hosts`: names the server answers to; `token` None: nobody is asked for one."""

    hosts: frozenset[str]
    token: str | None
    bounds: ServerSettings


class Guard:
    """Refuses before the application sees a request (rules MCP-4.2 to MCP-4.5)."""

    def __init__(self, app: ASGIApp, rules: Rules, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._rules = rules
        self._buckets = Buckets(rules.bounds.requests_per_s, rules.bounds.burst, clock)
        self._slots = anyio.Semaphore(rules.bounds.concurrency)
        self._inside = 0  # answered or waiting for a slot
        self._closing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif refusal := self._refusal(scope):
            await _refuse(send, *refusal)
        elif scope["method"] == "POST":
            await self._bounded(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _sized(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive, self._rules.bounds.body_kb * 1024)
        if body is None:
            await _refuse(send, 413, "the request is too large")
        else:
            await self._app(scope, _replayed(body, receive), send)

    async def drain(self, within_s: float) -> None:
        """Take nothing new, and wait until what is being answered is."""
        self._closing = True
        with anyio.move_on_after(within_s):
            while self._inside:
                await anyio.sleep(0.02)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if not self._buckets.admits((scope.get("client") or ("",))[0]):
            return 429, "too many requests"
        if _host_of(headers.get("host")) not in self._rules.hosts:
            return 421, "this server does not answer to that Host"
        if not self._is_own(headers.get("origin")):
            return 403, "requests from that Origin are not answered"
        if scope["path"] != HEALTH and not self._has_token(headers.get("authorization", "")):
            return 401, "a bearer token is needed"
        return None

    def _is_own(self, origin: str | None) -> bool:
        if origin is None:
            return True
        parts = urlsplit(origin)
        try:
            _ = parts.port  # a port that is none makes the host one that only begins like ours
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.hostname in self._rules.hosts

    def _has_token(self, authorization: str) -> bool:
        if self._rules.token is None:
            return True
        scheme, _, given = authorization.partition(" ")
        # digests, so that neither content nor length of the token shows in the time it takes
        return hmac.compare_digest(_digest(given.strip()), _digest(self._rules.token)) and scheme.lower() == "bearer"

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._closing or self._inside >= _QUEUE * self._rules.bounds.concurrency:
            await _refuse(send, 503, "busy; try again in a moment")
            return
        self._inside += 1
        try:
            with anyio.move_on_after(self._rules.bounds.answer_s + _LAST_WORD_S):
                async with self._slots:
                    await self._sized(scope, receive, send)
        finally:
            self._inside -= 1


class Buckets:
    """A token bucket per client address; the addresses seen last are kept."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float]) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def admits(self, client: str) -> bool:
        """Whether this client may make one more request now."""
        now = self._clock()
        left, then = self._left.pop(client, (float(self._burst), now))
        left = min(self._burst, left + (now - then) * self._per_second)
        self._left[client] = (max(left - 1, 0.0), now)
        if len(self._left) > _MOST_CLIENTS:
            self._left.popitem(last=False)
        return left >= 1


def _host_of(header: str | None) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname if header else None
    except ValueError:
        return None


async def _body(receive: Receive, most: int) -> bytes | None:
    """The body; None where it is larger: then the rest is read, within reason, so that the client hears of it."""
    kept, size = bytearray(), 0
    while size <= most * _DRAINED:
        message = await receive()
        piece = message.get("body", b"")
        size += len(piece)
        if size <= most:
            kept += piece
        if not message.get("more_body", False):
            break
    return bytes(kept) if size <= most else None


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> MutableMapping[str, Any]:
        return waiting.pop() if waiting else await receive()

    return replay


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in (429, 503):
        headers.append((b"retry-after", b"1"))
    start: MutableMapping[str, Any] = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
