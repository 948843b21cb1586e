"""What an agent may report, and how it is refused."""

import pytest

from planner.errors import InputError
from planner.history.outcomes import read_outcomes


@pytest.mark.rule("HIS-1.1")
@pytest.mark.parametrize(
    ("outcome", "field"),
    [
        ({"channel": "zhihuu", "results": 1}, "outcomes.1.channel"),
        ({"channel": "github", "results": 1}, "outcomes.1.channel"),
        ({"channel": "zhihu", "group": "channels-academic"}, "outcomes.1.group"),
        ({"channel": "zhihu", "results": -1}, "outcomes.1.results"),
        ({"channel": "zhihu", "results": True}, "outcomes.1.results"),
        ({"channel": "zhihu", "results": 1.0}, "outcomes.1.results"),
        ({"channel": "zhihu", "failure": "GET https://x/?key=1"}, "outcomes.1.failure"),
        ({"channel": "zhihu", "pattern": "x" * 301}, "outcomes.1.pattern"),
        ({"channel": "zhihu", "feedback": "meh"}, "outcomes.1.feedback"),
        ({"channel": "zhihu", "result": 3}, "outcomes.1.result"),
        ({"results": 3}, "outcomes.1.channel"),
        (3, "outcomes.1"),
    ],
)
def test_a_wrong_report_is_refused_by_name(catalog, outcome, field):
    with pytest.raises(InputError) as error:
        read_outcomes([{"channel": "arxiv", "results": 1}, outcome], catalog)
    assert error.value.field == field


@pytest.mark.rule("HIS-1.1")
@pytest.mark.parametrize("outcomes", [[], "zhihu", {"channel": "zhihu"}, None, [{"channel": "zhihu"}] * 1001])
def test_a_report_is_a_list_of_1_to_1000_outcomes(catalog, outcomes):
    with pytest.raises(InputError, match="outcomes"):
        read_outcomes(outcomes, catalog)


@pytest.mark.parametrize("session", ["", "  ", "x" * 201, 3])
def test_a_session_id_is_short_text(planner, session):
    with pytest.raises(InputError, match="session"):
        planner.history.record([{"channel": "zhihu"}], session=session)
