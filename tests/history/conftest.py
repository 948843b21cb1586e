"""Both stores for every test: SQLite in a folder, and a real PostgreSQL server where its binaries are."""

import os
from contextlib import ExitStack, closing
from itertools import count

import pytest

from planner.history.history import History
from planner.settings import load_settings

from .postgresql import Server, binaries

_numbers = count()


@pytest.fixture(scope="session")
def server():
    if os.name != "posix" or (folder := binaries()) is None:
        pytest.skip("no PostgreSQL server on this machine (Debian: apt-get install postgresql)")
    running = Server(folder)
    yield running
    running.stop()


@pytest.fixture
def database(server):
    """The URL of an empty database."""
    name = f"planner_{os.getpid()}_{next(_numbers)}"
    server.run_sql(f"CREATE DATABASE {name}")
    yield server.url(name)
    server.run_sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    """What history.store says: nothing, or the URL of an empty database."""
    return None if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def folder(tmp_path):
    """The state folder."""
    return tmp_path / "state"


@pytest.fixture
def opened(url, folder, catalog):
    """Opens a history on the store; closed at the end. Keywords are settings of it."""
    with ExitStack() as stack:

        def open_history(**changes):
            settings = load_settings({"history": {"store": url, **changes}}, {}).history
            return stack.enter_context(closing(History(settings, folder, lambda: catalog)))

        yield open_history


@pytest.fixture
def history(opened):
    return opened()


@pytest.fixture
def counts(history):
    """The empty sessions by group, as a plan sees them."""
    return lambda: dict(history.empty_sessions()[0])
