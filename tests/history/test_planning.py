"""What recorded outcomes do to a plan."""

import subprocess
import sys

import pytest

from planner.pipeline import Planner

QUESTION = "best noise cancelling headphones for travel"
ONE_GROUP = {"budget": {"max_groups": 1}}
PROBE = """
import sys
from planner.pipeline import Planner
plan = Planner(settings={}).select(sys.argv[1], None, {"budget": {"max_groups": 1}})
assert "sqlalchemy" not in sys.modules and "sqlite3" not in sys.modules, "a plan imported a database"
print(plan.groups[0].name)
"""


@pytest.fixture
def planner(url, env):
    planner = Planner(settings={"history": {"store": url, "refresh_s": 0}}, env=env)
    yield planner
    planner.history.close()


@pytest.mark.rule("HIS-3.3")
def test_three_empty_sessions_in_a_row_cost_a_group_its_place_until_one_finds_something(planner):
    def first():
        return planner.select(QUESTION, None, ONE_GROUP).groups[0]

    before = first()
    assert before.name == "channels-community-en"
    for _ in range(2):
        planner.history.record([{"channel": "reddit", "results": 0}])
        assert first() == before
    planner.history.record([{"channel": "hackernews", "results": 0}])
    assert first().name == "channels-video-audio"
    planner.history.record([{"channel": "reddit", "results": 1}])
    assert first() == before


@pytest.mark.rule("HIS-3.3")
def test_a_demoted_group_keeps_its_score_and_its_slot_while_there_is_room(planner):
    before = {group.name: group.score for group in planner.select(QUESTION).groups}
    for _ in range(3):
        planner.history.record([{"channel": "reddit", "results": 0}])
    assert {group.name: group.score for group in planner.select(QUESTION).groups} == before


@pytest.mark.rule("HIS-3.3")
def test_failures_demote_nothing(planner):
    for _ in range(5):
        planner.history.record([{"channel": "reddit", "failure": "timeout_30s"}])
    assert planner.select(QUESTION, None, ONE_GROUP).groups[0].name == "channels-community-en"


@pytest.mark.rule("HIS-4.1")
def test_a_plan_reads_the_file_and_imports_no_database(env):
    planner = Planner(settings={}, env=env)
    for _ in range(3):
        planner.history.record([{"channel": "reddit", "results": 0}])
    planner.history.close()
    done = subprocess.run([sys.executable, "-c", PROBE, QUESTION], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "channels-video-audio\n"
