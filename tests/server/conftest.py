import pytest
from mcp import Client

from planner.pipeline import Planner
from planner.server.mcp import build_server


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(params=["legacy", "auto"])
def era(request):
    """Both eras of the protocol: with a handshake, and without."""
    return request.param


@pytest.fixture
def connect(server, era):
    """A client of a server over the shipped catalog, or over another planner."""

    def made(planner=None):
        return Client(build_server(planner) if planner else server, mode=era)

    return made


@pytest.fixture(scope="module")
def server(planner):
    return build_server(planner)


@pytest.fixture(scope="module")
def planner(tmp_path_factory, all_keys):
    """Made once a module: a server too lives with one planner."""
    folder = str(tmp_path_factory.mktemp("home"))
    env = {**all_keys, "HOME": folder, "PLANNER_STATE_DIR": f"{folder}/state", "XDG_CONFIG_HOME": folder}
    made = Planner(env=env)
    yield made
    made.history.close()
