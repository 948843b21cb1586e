"""The configurations that the README shows to users of each client."""

import json
import re
from pathlib import Path

import pytest

from planner.cli.mcp import command

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"```json\n(.*?)```", re.DOTALL)


def configurations():
    blocks = [json.loads(block) for block in BLOCK.findall(README.read_text("utf-8"))]
    return [block for block in blocks if isinstance(block, dict) and {"mcpServers", "servers"} & set(block)]


@pytest.mark.rule("MCP-5.1")
def test_every_configuration_starts_or_reaches_the_server():
    shown = configurations()
    if not shown:
        pytest.skip("the README shows no configuration yet")
    for block in shown:
        (server,) = (block.get("mcpServers") or block["servers"]).values()
        if "url" in server:
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", server["url"])
            assert re.fullmatch(r"Bearer \$\{.+\}", server["headers"]["Authorization"])
        else:
            assert Path(server["command"]).name == "planner"
            assert server["args"][0] == "mcp"
            command.make_context("mcp", server["args"][1:])


@pytest.mark.rule("MCP-5.1")
def test_every_client_finds_its_own_form():
    shown = configurations()
    if not shown:
        pytest.skip("the README shows no configuration yet")
    local = [block for block in shown if "url" not in json.dumps(block)]
    assert sum("servers" in block for block in local) == 1  # VS Code
    assert sum("mcpServers" in block for block in local) == 3  # Claude Code, Claude Desktop, Cursor
    assert all(server["type"] for block in shown for server in block.get("servers", {}).values())
