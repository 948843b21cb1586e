"""MCP over standard input and output. Standard output is the protocol's alone, whatever any library prints."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any

from planner.server.frames import Frames, Outgoing


@dataclass(frozen=True, slots=True)
class Wire:
    """The two ends of the protocol, UTF-8 on any locale."""

    incoming: TextIOWrapper
    outgoing: TextIOWrapper


def claim_wire() -> Wire:
    """Take standard input and output for the protocol, for good: from here on a print goes to standard error.

    To be called before anything heavy is imported: some libraries print while they load, and some as they leave.
    """
    sys.stdout.flush()
    incoming, outgoing = _kept(sys.stdin.fileno()), _kept(sys.stdout.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return Wire(
        TextIOWrapper(os.fdopen(incoming, "rb"), encoding="utf-8", errors="replace"),
        TextIOWrapper(os.fdopen(outgoing, "wb"), encoding="utf-8", errors="replace", newline="\n"),
    )


def serve_stdio(server: Any, wire: Wire) -> None:
    """Serve one client until it closes its end, or Ctrl-C."""
    import anyio

    # the thread that waits for input cannot be cancelled: an orderly end would wait for the client
    signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(130))
    anyio.run(_serve, server, wire)


async def _serve(server: Any, wire: Wire) -> None:
    from mcp.server.stdio import stdio_server

    low = server._lowlevel_server  # the public run_stdio_async claims the streams anew, after they are ours
    outgoing = Outgoing(wire.outgoing)
    async with stdio_server(Frames(wire.incoming, outgoing), outgoing) as (read, write):  # type: ignore[arg-type]
        await low.run(read, write, low.create_initialization_options())


def _kept(descriptor: int) -> int:
    """A duplicate that children do not inherit."""
    kept = os.dup(descriptor)
    os.set_inheritable(kept, False)
    return kept
