import pytest

from planner.llm.breaker import Breaker


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_breaker(clock):
    breaker = Breaker(3, 30, clock)
    for _ in range(3):
        breaker.failed()
    return breaker


@pytest.mark.rule("JDG-2.6")
def test_three_failures_in_a_row_open_it(open_breaker):
    assert not open_breaker.admits()


def test_a_success_in_between_starts_the_count_again(clock):
    breaker = Breaker(3, 30, clock)
    for outcome in (breaker.failed, breaker.failed, breaker.succeeded, breaker.failed, breaker.failed):
        outcome()
    assert breaker.admits()


def test_after_the_pause_one_caller_may_try(open_breaker, clock):
    clock.now = 30
    assert open_breaker.admits()
    assert not open_breaker.admits()


def test_a_failed_trial_opens_it_again(open_breaker, clock):
    clock.now = 30
    open_breaker.admits()
    open_breaker.failed()
    clock.now = 59
    assert not open_breaker.admits()
    clock.now = 60
    assert open_breaker.admits()


def test_a_good_trial_closes_it(open_breaker, clock):
    clock.now = 30
    open_breaker.admits()
    open_breaker.succeeded()
    assert open_breaker.admits()
    assert open_breaker.admits()


def test_an_abandoned_trial_lets_the_next_one_try(open_breaker, clock):
    clock.now = 30
    open_breaker.admits()
    open_breaker.abandoned()
    assert open_breaker.admits()
