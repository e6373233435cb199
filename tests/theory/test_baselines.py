"""Rates and bounds to compare with: the rate is the best one, and the bound is what it gives."""

import math

import numpy as np
import pytest

import hsb
from hsb import theory


@pytest.mark.parametrize(
    ("rate", "bound", "log_k", "more"),
    [
        (theory.exp3_rate, theory.exp3_bound, math.log(3), {}),
        (theory.s_exp3_rate, theory.s_exp3_bound, 32 * math.log(3), {"leaves": 32}),
        (theory.exp4_rate, theory.exp4_bound, math.log(50), {"experts": 50}),
    ],
)
def test_the_rate_makes_the_bound_least(rate, bound, log_k, more):
    horizon, arms = 10_000, 3
    at = rate(arms=arms, horizon=horizon, **more)

    def price(eta):
        return log_k / eta + arms * horizon * eta / 2

    assert bound(arms=arms, horizon=horizon, **more) == pytest.approx(price(at))
    assert all(price(at) < price(at * factor) for factor in (0.5, 0.9, 1.1, 2.0))


def test_bounds_grow_like_the_root_of_the_horizon():
    ratios = np.array([theory.exp3_bound(arms=4, horizon=4 * t) / theory.exp3_bound(arms=4, horizon=t) for t in (10, 1000)])
    np.testing.assert_allclose(ratios, 2.0)


@pytest.mark.parametrize("wrong", [{"arms": 0}, {"horizon": 0}, {"horizon": math.nan}])
def test_what_is_no_game_is_refused(wrong):
    with pytest.raises(hsb.InputError):
        theory.exp3_bound(**({"arms": 3, "horizon": 100} | wrong))
