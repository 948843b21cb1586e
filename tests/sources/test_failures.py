import json

import pytest

from planner.sources.failures import Failure, reason_of
from planner.sources.loading import load_error_table
from planner.sources.rules import Rules

KNOWN = {"quota_exhausted", "timeout_30s", "empty_results", "api_error", "gfw_blocked"}


class UsageLimitExceededError(Exception):
    """Named as Tavily's client names it."""


class ReadTimeout(Exception):  # noqa: N818 - httpx calls it so
    """Named as httpx names it."""


def caused(outer, inner):
    outer.__cause__ = inner
    return outer


def reason(engine, **seen):
    return reason_of(Failure(engine, **seen), load_error_table())


@pytest.mark.rule("RTE-6.6")
@pytest.mark.parametrize(
    ("engine", "seen", "expected"),
    [
        ("tavily_search", {"status": 432, "body": "exceeds your plan's set usage limit"}, "quota_exhausted"),
        ("tavily_search", {"status": 433}, "quota_exhausted"),
        ("tavily_search", {"status": 429}, "quota_exhausted"),
        ("tavily_search", {"exception": UsageLimitExceededError("too much")}, "quota_exhausted"),
        ("tavily_search", {"exception": "tavily.errors.InvalidAPIKeyError"}, "api_error"),
        ("tavily_search", {"status": 401, "body": "Unauthorized: missing or invalid API key."}, "api_error"),
        ("tavily_search", {"exception": TimeoutError()}, "timeout_30s"),
        ("bailian_web_search", {"status": 429, "body": '{"code":"Throttling.RateQuota"}'}, "quota_exhausted"),
        ("bailian_web_search", {"status": 403, "body": '{"code":"AllocationQuota.FreeTierOnly"}'}, "quota_exhausted"),
        ("bailian_web_search", {"status": 400, "body": '{"code":"Arrearage"}'}, "quota_exhausted"),
        ("bailian_web_search", {"status": 408, "body": '{"code":"RequestTimeOut"}'}, "timeout_30s"),
        ("bailian_web_search", {"status": 500, "body": '{"code":"InternalError.Timeout"}'}, "timeout_30s"),
        ("bailian_web_search", {"status": 401, "body": '{"code":"InvalidApiKey"}'}, "api_error"),
        ("bailian_web_search", {"status": 400, "body": '{"code":"DataInspectionFailed"}'}, "api_error"),
        ("web_search", {"status": 429, "body": '{"error":{"code":"RATE_LIMITED","status":429}}'}, "quota_exhausted"),
        ("web_search", {"status": 429, "body": '{"error":{"code":"QUOTA_LIMITED"}}'}, "quota_exhausted"),
        ("web_search", {"status": 422, "body": '{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}'}, "api_error"),
        ("web_search", {"exception": ConnectionResetError(104, "Connection reset by peer")}, "gfw_blocked"),
        ("web_search", {"exception": caused(RuntimeError("connect failed"), ConnectionResetError())}, "gfw_blocked"),
        ("web_search", {"exception": ReadTimeout("")}, "timeout_30s"),
        ("web_fetch_direct", {"status": 404}, "empty_results"),
        ("web_fetch_direct", {"status": 451}, "gfw_blocked"),
        ("web_fetch_direct", {"status": 504}, "timeout_30s"),
        ("web_fetch_direct", {"status": 503}, "api_error"),
        ("local_cache", {"exception": FileNotFoundError("memory/x_cache.md")}, "empty_results"),
        ("local_cache", {"exception": PermissionError("memory")}, "api_error"),
        ("vector", {"status": 429}, "quota_exhausted"),
        ("vector", {"body": "the moon is full"}, "api_error"),
        ("vector", {}, "api_error"),
    ],
)  # fmt: skip
def test_what_engines_really_return(engine, seen, expected):
    assert reason(engine, **seen) == expected


@pytest.mark.rule("RTE-6.6")
def test_a_real_json_error_is_read_through_its_cause_chain():
    with pytest.raises(ValueError, match="Expecting") as error:
        json.loads("{")
    assert reason("local_cache", exception=error.value) == "api_error"


@pytest.mark.rule("RTE-6.6")
def test_every_row_gives_a_reason_of_the_chain_and_names_known_engines(rules: Rules):
    engines = {row.engine for row in rules.chain}
    triggers = {trigger for row in rules.chain for trigger in row.triggers}
    assert triggers == KNOWN
    for row in load_error_table():
        assert row.reason in KNOWN
        assert set(row.engines) <= engines
        assert row.status or row.body or row.exception
        assert all(phrase == phrase.casefold() for phrase in row.body)
