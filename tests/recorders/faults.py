"""A real HTTP server on loopback that answers as it is told to, whole or broken; in one write unless it drips."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the server does with one request: `cut` closes after so many body bytes, `drip` waits between bytes."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    cut: int | None = None
    drip_s: float = 0.0
    hang_s: float = 0.0


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


Script = Callable[[Seen, int], Reply]


@dataclass
class FaultServer:
    """`script(request, how many came before)` says what to answer; `seen` keeps the requests of this server."""

    script: Script
    seen: list[Seen] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def api_base(self) -> str:
        return f"{self.url}/v1"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while (request := await _read(reader)) is not None:
                self.seen.append(request)
                if not await _write(writer, self.script(request, len(self.seen) - 1)):
                    break
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    first_byte = await reader.readexactly(1)
    if not first_byte.isalpha():  # a TLS greeting: this server speaks none
        return None
    head = first_byte + await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if ":" in line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(method, path, headers, body)


async def _write(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    if reply.hang_s:
        await asyncio.sleep(reply.hang_s)
    head = f"HTTP/1.1 {reply.status} X\r\ncontent-length: {len(reply.body)}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in reply.headers)
    if reply.drip_s:
        writer.write(head.encode("latin-1") + b"\r\n")
        for n in range(len(reply.body)):
            writer.write(reply.body[n : n + 1])
            await writer.drain()
            await asyncio.sleep(reply.drip_s)
        return True
    writer.write(head.encode("latin-1") + b"\r\n" + reply.body[: reply.cut])
    await writer.drain()
    if reply.cut is not None:
        writer.transport.abort()
    return reply.cut is None


@contextmanager
def serve(script: Script | Reply) -> Iterator[FaultServer]:
    """A running server; closed, with all its connections, at the end."""
    server = FaultServer(script if callable(script) else lambda _request, _before: script)
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def main() -> None:
        listener = await asyncio.start_server(server.handle, "127.0.0.1", 0, limit=1 << 24, backlog=512)
        server.port = listener.sockets[0].getsockname()[1]
        ready.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        listener.close()

    def run() -> None:
        asyncio.set_event_loop(loop)
        task.append(loop.create_task(main()))
        loop.run_until_complete(task[0])
        rest = asyncio.all_tasks(loop)
        for other in rest:
            other.cancel()
        loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    task: list[asyncio.Task[None]] = []
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait(5)
    try:
        yield server
    finally:
        _hang_up()
        loop.call_soon_threadsafe(task[0].cancel)
        thread.join(5)


def _hang_up() -> None:
    # litellm keeps connections open; to a server that is about to go, that would be a leak
    from planner.llm import libraries, portal

    if libraries.loaded():
        portal.run(libraries.close_clients)


def chat(
    content: str | None,
    *,
    finish: str = "stop",
    usage: tuple[int, int] | None = (900, 120),
    **message: Any,
) -> Reply:
    """A chat completion as OpenAI-compatible servers send it."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish,
                     "message": {"role": "assistant", "content": content, **message}}],
    }  # fmt: skip
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(body=json.dumps(body).encode())


def tool_call(arguments: str, name: str = "Answer") -> Reply:
    """A completion that calls the one tool it was given."""
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return chat(None, finish="tool_calls", tool_calls=[call])


def failure(status: int, message: str = "scripted failure", *, code: str | None = None, **headers: str) -> Reply:
    """An error in OpenAI's form. `headers`: names with `_` for `-`."""
    body = {"error": {"message": message, "type": "scripted", "code": code}}
    extra = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Reply(status, json.dumps(body).encode(), (("content-type", "application/json"), *extra))
