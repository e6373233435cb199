"""How fast a mixture learns, when."""

import itertools

import pytest

import hsb
from hsb.theory.schedule import FOREVER, BaselineShift, Constant, Falling


def test_a_constant_rate_never_ends():
    phase = Constant(0.1).phase(10)
    assert (phase.rate, phase.until) == (0.1, FOREVER)


@pytest.mark.parametrize("arms", [2, 10])
def test_a_falling_rate_never_rises_and_each_phase_begins_where_the_last_ended(arms):
    falling, rounds, rates = Falling(2.0, arms=arms), 0, []
    for _ in range(20):
        phase = falling.phase(rounds)
        assert phase.until > rounds and falling.phase(phase.until - 1) == phase
        rates.append(phase.rate)
        rounds = phase.until
    assert all(after <= before for before, after in itertools.pairwise(rates))
    assert rounds > 2**15


def test_a_bound_is_never_more_than_can_be_lost():
    for schedule in (Constant(5.0), Falling(2.0, arms=3)):
        assert 0 < schedule.bound(3.0, arms=3, horizon=100) <= 100
        assert schedule.bound(3.0, arms=3, horizon=100) <= schedule.bound(9.0, arms=3, horizon=100)


def test_a_shift_is_set_a_few_times_and_makes_late_feedback_dearer():
    shift = BaselineShift(largest=0.5, share=0.05, first=256)
    assert shift.settings(100) <= shift.settings(10_000) <= shift.settings(10**6) < 50
    assert BaselineShift(largest=0.0, share=0.05, first=256).late() == 1.0 < shift.late()


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan")])
def test_a_rate_is_above_zero(rate):
    with pytest.raises(hsb.InputError):
        hsb.HSB(hsb.BinaryTree(depth=2), arms=2, learning_rate=rate)
