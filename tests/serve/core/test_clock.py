"""A wall clock is believed while it keeps step with one that never jumps."""

import pytest

from hsb.serve.core.clock import MOST, Clock
from hsb.serve.core.messages import Now

SECOND = 10**6
START = 10**15


@pytest.fixture
def clock():
    return Clock(Now(START, 0), last=0)


def at(seconds, jump=0):
    return Now(START + seconds * SECOND + jump, seconds * SECOND)


@pytest.mark.parametrize("jump", [MOST + SECOND, -MOST - SECOND, 86_400 * SECOND])
def test_a_jump_holds_deadlines_until_it_is_put_right(clock, jump):
    assert not clock.see(at(10))
    assert clock.see(at(20, jump))
    assert abs(clock.time(at(20, jump)) - (START + 20 * SECOND)) <= SECOND  # as without it
    assert not clock.see(at(30))


@pytest.mark.parametrize("drift", [SECOND, -SECOND, MOST // 2])
def test_a_little_is_no_jump(clock, drift):
    assert not clock.see(at(100, drift)) and clock.time(at(100, drift)) == START + 100 * SECOND + drift


def test_an_admin_may_say_that_it_is_right(clock):
    jump = 86_400 * SECOND
    assert clock.see(at(10, jump))
    clock.confirm(at(20, jump))
    assert not clock.see(at(30, jump)) and clock.time(at(30, jump)) == START + 30 * SECOND + jump


def test_a_start_before_the_journals_last_row_is_held():
    assert Clock(Now(START, 0), last=START + 86_400 * SECOND).see(Now(START, 1))
