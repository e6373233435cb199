"""Bounds for policies that follow the best mapping so far."""

import itertools
import math

import pytest

from hsb.theory import leaders


@pytest.mark.parametrize(("leaves", "arms", "regions"), [(3, 2, 2), (4, 3, 2), (4, 3, 3), (5, 2, 1), (3, 3, None)])
def test_mappings_are_counted(leaves, arms, regions):
    """Of ordered leaves: at most so many intervals of one arm each."""
    count = sum(
        regions is None or 1 + sum(a != b for a, b in itertools.pairwise(mapping)) <= regions
        for mapping in itertools.product(range(arms), repeat=leaves)
    )
    assert math.exp(leaders.log_mappings(leaves=leaves, arms=arms, regions=regions)) == pytest.approx(count)


def test_bounds_grow_with_what_makes_it_harder():
    for bound in (
        lambda arms, horizon: leaders.csb_ftpl_anytime_bound(0.75, arms=arms, horizon=horizon),
        lambda arms, horizon: leaders.epoch_greedy_bound(3.0, arms=arms, horizon=horizon),
    ):
        assert bound(2, 10_000) < bound(4, 10_000) < bound(4, 40_000)


def test_no_bound_is_above_the_horizon():
    assert leaders.epoch_greedy_bound(100.0, arms=10, horizon=5) <= 5


def test_noise_of_one_leaf_is_that_of_the_larger_of_two_laplace_variables():
    assert leaders.noise_cost(leaves=1, arms=1) == pytest.approx(0.0, abs=1e-9)
    assert leaders.noise_cost(leaves=1, arms=2) == pytest.approx(0.75)
