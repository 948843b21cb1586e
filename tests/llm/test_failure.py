import inspect

import pytest

from planner.errors import ReplayMiss
from planner.llm import libraries
from planner.llm.failure import BY_CLASS, TRANSIENT, CallError, classify


@pytest.mark.rule("JDG-5.2")
def test_every_error_class_of_litellm_has_a_kind():
    libraries.load()
    import litellm.exceptions

    classes = inspect.getmembers(litellm.exceptions, inspect.isclass)
    names = {name for name, cls in classes if issubclass(cls, Exception)}
    assert names <= set(BY_CLASS)


def test_a_miss_is_found_however_deep_it_is_wrapped():
    try:
        try:
            raise ReplayMiss("no recording")
        except ReplayMiss as miss:
            raise ConnectionError("x") from miss
    except ConnectionError as error:
        wrapped = error
    with pytest.raises(ReplayMiss):
        classify(wrapped)


@pytest.mark.rule("JDG-3.2")
def test_an_unknown_error_is_shown_by_its_class_alone():
    assert classify(RuntimeError("sk-secret")).reason == "invalid_answer (RuntimeError)"


def test_only_what_may_pass_is_transient():
    assert {"rate_limited", "server_error", "connection"} == TRANSIENT
    assert not CallError("refused_key", status=401).transient
