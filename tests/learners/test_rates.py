"""Rates: constant, set by a horizon, falling, and what a policy says to other arguments."""

import math

import pytest

import hsb
from hsb.learners.priors import CellsPrior
from hsb.learners.rates import Rates, is_confident, number_or_none
from hsb.structures.leaves import Leaves
from hsb.theory import constant_rate

PRIOR = CellsPrior(Leaves(4))


def begin(horizon=None, learning_rate=None, arms=3):
    return Rates.begin(PRIOR, arms, horizon=horizon, learning_rate=learning_rate)


def test_a_constant_rate_stays():
    rates = begin(learning_rate=0.25)
    assert rates.rate == rates.at(10**6).rate == rates.for_arms(PRIOR, 9, 50).rate == 0.25
    assert rates.settings() == {"horizon": None, "learning_rate": 0.25} and rates.excess_limit == 0.0


def test_a_horizon_sets_the_rate_by_the_bound_and_never_raises_it_later():
    rates, bound = begin(horizon=1000), 4 * math.log(3)
    assert rates.rate == constant_rate(bound, arms=3, horizon=1000, learning_rate=None)
    again = constant_rate(4 * math.log(8), arms=8, horizon=1000, learning_rate=None)
    assert rates.for_arms(PRIOR, 8, 0).rate == again
    assert rates.for_arms(PRIOR, 8, 5).rate == min(again, rates.rate)
    assert rates.settings() == {"horizon": 1000.0, "learning_rate": None}


def test_without_either_the_rate_falls_with_the_rounds_and_with_late_ones():
    rates = begin()
    end = math.ceil(rates.phase.until)
    assert rates.at(end - 1).rate == rates.rate > rates.at(end).rate == rates.at(end - 7, 7.0).rate
    assert rates.at(end).at(1).rate == rates.at(end).rate  # it never rises


@pytest.mark.parametrize("function", [is_confident, lambda rate: begin(learning_rate=rate)])
def test_another_text_is_no_rate(function):
    with pytest.raises(hsb.InputError, match=r"learning_rate must be a positive number, None or 'confident'; given 'fast'"):
        function("fast")


def test_confidence_is_for_the_default_alone_and_takes_no_horizon():
    with pytest.raises(hsb.InputError, match="Leave drift out, or give a number"):
        number_or_none("confident")
    with pytest.raises(hsb.InputError, match="not both"):
        begin(horizon=10, learning_rate="confident")


@pytest.mark.parametrize(
    ("horizon", "delay", "message"), [(None, 0.0, "needs a horizon"), (10, math.inf, "finite number of rounds")]
)
def test_a_bound_needs_a_horizon_and_feedback_that_comes(horizon, delay, message):
    with pytest.raises(hsb.InputError, match=message):
        begin().bound(1.0, horizon, arms=3, floor=0.0, delay=delay)
