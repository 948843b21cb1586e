"""Shared by all tests: one planner over the shipped catalog, an environment with every key set, the rule marker."""

import os
import signal

import pytest

REQUIRE_ALL = os.environ.get("REQUIRE_ALL") == "1"


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # a shell starts its background jobs deaf to Ctrl-C, and what they start inherits it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "rule(*ids): the rules of tests/requirements that this test shows")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """With REQUIRE_ALL=1 a skip is a failure: continuous integration must not pass by leaving things out."""
    outcome = yield
    report = outcome.get_result()
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped under REQUIRE_ALL: {report.longrepr}"


@pytest.fixture(scope="session")
def catalog():
    from planner.catalog.loader import load_catalog
    from planner.paths import shipped

    return load_catalog(shipped("skills"))


@pytest.fixture(scope="session")
def all_keys(catalog):
    return {name: "set" for leaf in catalog.leaves for name in leaf.auth.required}


@pytest.fixture
def env(tmp_path, all_keys):
    """Every channel key set, nothing of this machine's state."""
    folders = {
        name: str(tmp_path / name.lower()) for name in ("PLANNER_STATE_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    }
    return {**all_keys, **folders, "HOME": str(tmp_path)}


@pytest.fixture
def planner(env):
    from planner.pipeline import Planner

    return Planner(env=env)
