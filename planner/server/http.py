"""MCP over streamable HTTP, and what both HTTP servers share: the address, the socket, the shutdown."""

from __future__ import annotations

import ipaddress
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from sse_starlette.sse import AppStatus
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from planner.errors import InputError
from planner.server.guard import HEALTH, LOOPBACK, Guard, Rules
from planner.settings import ServerSettings

TOKEN = "PLANNER_HTTP_TOKEN"
_IDLE_S = 1800.0
_SHUTDOWN_S = 5


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. `port` 0: any that is free."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host in LOOPBACK:
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_address(text: str) -> Address:
    """`127.0.0.1:8000`, `[::1]:8000`, `localhost:0`. Raises InputError."""
    host, _, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not bare or (":" in bare and bare == host) or not (port.isascii() and port.isdigit()) or int(port) > 65_535:
        raise InputError("--http", text, "HOST:PORT, as in 127.0.0.1:8000")
    return Address(bare, int(port))


def read_rules(address: Address, bounds: ServerSettings, env: Mapping[str, str], names: tuple[str, ...]) -> Rules:
    """Who may come in. Raises InputError for an address others can reach, where no token is set (rule MCP-4.1)."""
    token = env.get(TOKEN, "").strip() or None
    if token is None and not address.is_loopback:
        raise InputError("--http", address.host, f"a loopback address; any other needs a token in {TOKEN}")
    return Rules(LOOPBACK | {address.host.lower()} | {name.lower() for name in names}, token, bounds)


def mcp_app(server: MCPServer[Any], rules: Rules) -> Guard:
    """The guarded application: MCP at /mcp, and /health."""

    server.custom_route(HEALTH, methods=["GET"])(health)
    app = server.streamable_http_app(
        max_request_body_size=rules.bounds.body_kb * 1024,
        session_idle_timeout=_IDLE_S,
        max_sessions=rules.bounds.sessions,
        # the guard checks Host and Origin for every path
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(app, rules)


async def health(_request: Request) -> Response:
    """Whether the server answers at all; nothing else is told to those without a token."""
    return JSONResponse({"status": "ok"})


def listen(address: Address) -> socket.socket:
    """A listening socket. Raises InputError where the address cannot be had."""
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((address.host, address.port), family=family, backlog=256)
    except OSError as error:
        raise InputError("address", f"{address.host}:{address.port}", f"a free one ({error.strerror})") from None


class _Server(uvicorn.Server):
    """Finishes what it is answering before streams are ended; else the SSE library cuts answers off."""

    def __init__(self, config: uvicorn.Config, guard: Guard) -> None:
        super().__init__(config)
        self._guard = guard

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._guard.drain(_SHUTDOWN_S)
        AppStatus.should_exit = True
        await super().shutdown(sockets)


def serve(app: Guard, listening: socket.socket, said: Callable[[], None]) -> None:
    """Answer until SIGINT or SIGTERM; what is being answered is finished first, for a few seconds."""
    signal.signal(signal.SIGTERM, _leave)  # uvicorn raises the signal again once it has shut down
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, proxy_headers=False, ws="none",
        timeout_graceful_shutdown=_SHUTDOWN_S, http="h11",
    )  # fmt: skip
    AppStatus.enable_automatic_graceful_drain = False  # _Server does it
    said()
    _Server(config, app).run(sockets=[listening])


def url_of(listening: socket.socket, path: str) -> str:
    """Where a client finds it."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"


def _leave(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)
