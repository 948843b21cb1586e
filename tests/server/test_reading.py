"""A running MCP server is asked for its tools, and they are planned over, end to end."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from planner.cli.main import cli
from planner.pipeline import Planner

OTHER = Path(__file__).with_name("other_server.py")


def run(*arguments):
    return CliRunner().invoke(cli, ["catalog", "import", *arguments])


@pytest.mark.rule("CAT-1.3")
def test_the_tools_of_a_server_over_stdio_are_imported_and_planned_over(tmp_path, env):
    done = run(f"{sys.executable} {OTHER}", "--to", str(tmp_path / "to"), "--json")
    assert done.exit_code == 0, done.stderr
    assert sorted(json.loads(done.stdout)["names"].values()) == ["convert_time", "get_current_time"]
    plan = Planner(catalog=tmp_path / "to", env=env).select("what is the time now in Tokyo")
    assert plan.channels[0].channel == "get-current-time"


@pytest.mark.rule("CAT-1.3")
def test_a_server_from_the_package_index_is_imported(tmp_path, env):
    command = Path(sys.executable).with_name("mcp-server-time")
    done = run(f"{command} --local-timezone=UTC", "--to", str(tmp_path / "to"))
    assert done.exit_code == 0, done.stderr
    plan = Planner(catalog=tmp_path / "to", env=env).select("convert 9:30 in Paris to Tokyo time")
    assert plan.channels[0].channel == "convert-time"


@pytest.mark.rule("CAT-1.5")
@pytest.mark.parametrize("source", [f"{sys.executable} -c pass", "http://127.0.0.1:9/mcp", "no-such-program --x", ""])
def test_a_server_that_does_not_answer_is_an_input_error(tmp_path, source):
    done = run(source, "--to", str(tmp_path / "to"))
    assert done.exit_code == 2 or "SOURCE" in str(done.exception)
    assert not (tmp_path / "to").exists()
