"""Which of several numbers is the least once each has Laplace noise: against drawing, and in closed form."""

import math

import numpy as np
import pytest

from hsb.engine.kernels.laplace import least, upper_tail

EVERY = np.zeros(0, dtype=np.uint8)


def probabilities(row, noise=1.0, available=EVERY):
    p = np.zeros(len(row))
    least(np.array(row, dtype=float), available, noise, p)
    return p


@pytest.mark.parametrize("gap", [0.0, 0.3, 1.0, 5.0, 50.0])
def test_of_two_the_closed_form(gap):
    """P(z_1 < z_2 + d) of two Laplace variables is 1 - e^-d (2 + d) / 4."""
    expected = 1.0 - math.exp(-gap) * (2.0 + gap) / 4.0
    assert probabilities([0.0, gap]) == pytest.approx([expected, 1.0 - expected], abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_of_several_the_share_in_draws(seed):
    rng = np.random.default_rng(seed)
    row, noise, n = rng.normal(size=5), 0.7, 200_000
    drawn = (row + noise * rng.laplace(size=(n, 5))).argmin(axis=1)
    np.testing.assert_allclose(probabilities(row, noise), np.bincount(drawn, minlength=5) / n, atol=0.005)


def test_an_arm_that_is_not_available_has_no_probability():
    result = probabilities([0.0, 0.5, 1.0], available=np.array([0, 1, 1], dtype=np.uint8))
    assert result[0] == 0.0 and result[1:] == pytest.approx(probabilities([0.5, 1.0]))


def test_tails():
    assert upper_tail(0.0) == 0.5 and upper_tail(2.0) + upper_tail(-2.0) == pytest.approx(1.0)
