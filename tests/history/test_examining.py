import json

import pytest
from click.testing import CliRunner

from planner.cli.main import cli
from planner.history.engine import address
from planner.history.examining import examined
from planner.history.history import FILE

SECRET = ("bob", "hunter2")


@pytest.mark.rule("HIS-7.2")
def test_the_store_is_described_before_and_after_something_is_recorded(url, folder, history):
    before = examined(url, folder / FILE)
    assert (before["reachable"], before["events"], folder.exists()) == (True, 0, False)
    history.record([{"channel": "zhihu", "results": 3}, {"channel": "arxiv", "results": 0}])
    after = examined(url, folder / FILE)
    assert (after["kind"], after["events"]) == ("sqlite" if url is None else "postgresql", 2)


@pytest.mark.rule("HIS-7.2")
def test_what_is_wrong_with_a_store_is_said(tmp_path):
    (tmp_path / FILE).write_bytes(b"junk" * 2_000)
    said = examined(None, tmp_path / FILE)
    assert (said["reachable"], said["events"]) == (False, None)
    assert "not a usable database" in said["problem"]
    assert examined("off", tmp_path / FILE) == {"kind": "off"}


@pytest.mark.rule("HIS-4.4")
@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://bob:hunter2@db:5432/plans", "postgresql://db:5432/plans"),
        ("postgresql://db/plans?user=bob&password=hunter2", "postgresql://db/plans"),
        ("postgresql://bob:x@hunter2@db/plans", "a URL that cannot be read"),
        ("postgresql://bob:x@y/hunter2@db/plans", "a URL that cannot be read"),
        ("postgresql://bob:hunter2@[::1/plans", "a URL that cannot be read"),
    ],
)
def test_an_address_holds_nothing_of_user_and_password(url, place):
    assert address(url) == place


@pytest.mark.rule("HIS-7.2", "HIS-4.4")
def test_the_doctor_shows_a_store_that_cannot_be_reached_and_is_content(env):
    env["PLANNER_HISTORY__STORE"] = "postgresql://bob:hunter2@127.0.0.1:1/plans"
    done = CliRunner().invoke(cli, ["doctor", "--json"], env=env)
    said = json.loads(done.stdout)["history"]
    assert (done.exit_code, said["reachable"]) == (0, False)
    assert said["address"] == "postgresql://127.0.0.1:1/plans"
    assert not any(word in done.output for word in SECRET)
