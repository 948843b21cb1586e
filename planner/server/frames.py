"""Frames of the protocol as they come off a pipe: each is passed on, mended, or answered with why it cannot be read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TextIO

UNREADABLE, NO_REQUEST = -32700, -32600  # JSON-RPC 2.0, section 5.1


class Outgoing:
    """Whole lines, one writer at a time: the library's answers and ours never mix."""

    def __init__(self, stream: TextIO) -> None:
        import anyio

        self._stream, self._lock = stream, anyio.Lock()

    async def write(self, text: str) -> None:
        """Writes and flushes a line."""
        import anyio.to_thread

        async with self._lock:
            await anyio.to_thread.run_sync(self._write, text)

    async def flush(self) -> None:
        """Nothing waits to be flushed."""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Frames:
    """The lines of `incoming` that the library can read; what it would drop in silence is answered on `outgoing`."""

    def __init__(self, incoming: TextIO, outgoing: Outgoing) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    async def __aiter__(self) -> AsyncIterator[str]:
        import anyio.to_thread

        while line := await anyio.to_thread.run_sync(self._incoming.readline):
            passed, refusal = sorted_out(line)
            if refusal is not None:
                await self._outgoing.write(refusal)
            if passed is not None:
                yield passed


def sorted_out(line: str) -> tuple[str | None, str | None]:
    """The line to pass on, lone surrogates replaced, and the answer to one that cannot be; a blank line is neither."""
    if not line.strip():
        return None, None
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError):
        return None, _refusal(None, UNREADABLE, "not a JSON value that can be read")
    if not _is_message(frame):
        number = frame.get("id") if isinstance(frame, dict) else None
        return None, _refusal(number, NO_REQUEST, "not a JSON-RPC 2.0 message: params must be an object")
    if "\\ud" not in line.lower():
        return line, None
    # a cut emoji: whoever wrote it meant a character, and no UTF-8 can hold half of one
    text = json.dumps(frame, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text + "\n", None


def _refusal(number: object, code: int, message: str) -> str:
    known = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    return json.dumps({"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}) + "\n"


def _is_message(frame: object) -> bool:
    if not isinstance(frame, dict) or frame.get("jsonrpc") != "2.0":
        return False
    number, method = frame.get("id"), frame.get("method")
    if "id" in frame and (isinstance(number, bool) or not isinstance(number, str | int)):
        return False
    if method is None:
        return "id" in frame and ("result" in frame or "error" in frame)
    return isinstance(method, str) and isinstance(frame.get("params", {}), dict)
