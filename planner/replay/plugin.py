"""The pytest plugin: a fixture that replays the test's own cassette, or records it with --planner-record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from planner.replay import Session


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --planner-record."""
    group = parser.getgroup("planner")
    group.addoption("--planner-record", action="store_true", help="Ask the models and write the planner's cassettes.")


@pytest.fixture
def planner_replay(request: pytest.FixtureRequest) -> Iterator[Session]:
    """Model calls of the test are answered from `cassettes/<module>/<test>.yaml` beside it."""
    from planner.replay import replay

    name = re.sub(r"[^\w\-]+", "_", request.node.name)
    path = request.path.parent / "cassettes" / request.path.stem / f"{name}.yaml"
    with replay(path, record=request.config.getoption("--planner-record")) as session:
        yield session
