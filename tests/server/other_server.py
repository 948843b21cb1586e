"""A server of somebody else's, as far as `catalog import` can tell: its list of tools comes in pages."""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("clock")


@server.tool()
def get_current_time(timezone: str) -> str:
    """What time it is in a timezone"""
    return timezone


@server.tool()
def convert_time(time: str) -> str:
    """Convert a time from one timezone to another"""
    return time


if __name__ == "__main__":
    print("a remark on stderr", file=sys.stderr)
    server.run()
