"""The default's schedule: no horizon, no rate."""

import pytest

import hsb
from hsb.theory.anytime import FIRST, anytime_bound, anytime_mixture_bound, anytime_schedule


def test_the_first_phase_is_as_long_as_is_said():
    schedule = anytime_schedule(arms=3)
    assert schedule.phase(0).until == FIRST
    assert schedule.phase(100_000).rate < schedule.phase(0).rate


def test_the_bound_of_the_policy_is_this_one():
    tree = hsb.BinaryTree(depth=6)
    policy = hsb.HSB(tree, arms=3)
    assert policy.regret_bound(50_000) == pytest.approx(anytime_bound(tree, arms=3, horizon=50_000))


def test_it_grows_with_the_horizon_more_slowly_than_the_horizon():
    tree = hsb.BinaryTree(depth=4)
    bounds = [anytime_bound(tree, arms=2, horizon=t) / t for t in (10**4, 10**5, 10**6, 10**7)]
    assert bounds == sorted(bounds, reverse=True) and bounds[-1] < 0.02


def test_a_dearer_mapping_has_a_larger_bound():
    bounds = [anytime_mixture_bound(cost, arms=3, horizon=10**6) for cost in (1.0, 5.0, 20.0)]
    assert bounds == sorted(bounds) and bounds[0] < bounds[-1]
