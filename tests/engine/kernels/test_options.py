"""The weights of a node's options: they add to 1, and those too small for a double are kept by a count."""

import numpy as np
import pytest
from support.kernel_cases import INTERPRETED

from hsb.engine.kernels import header as h
from hsb.engine.kernels import options

pytestmark = INTERPRETED


def row_of(weights):
    return np.array([0.0, *weights, *np.zeros(len(weights))])


def logs_of(F):
    n = (len(F) - 1) // 2
    return [options.log_weight(F, 0, n, i) for i in range(n)]


def test_weights_are_divided_by_their_sum():
    F = row_of([0.4, 0.1, 0.3])
    assert options.settle(F, 0, 3) == pytest.approx(0.8)
    assert [options.weight(F, 0, 3, i) for i in range(3)] == pytest.approx([0.5, 0.125, 0.375]) and F[0] == 0.0


def test_a_tiny_weight_leaves_the_sum_and_comes_back_into_it():
    F = row_of([0.5, 0.5 * 2.0**-700])
    options.settle(F, 0, 2)
    assert F[0] == 1.0 and options.weight(F, 0, 2, 1) == 0.0 and F[4] == 1.0
    assert logs_of(F) == pytest.approx([0.0, -700.0 * np.log(2.0)])
    F[2] *= 2.0**300
    options.settle(F, 0, 2)
    F[2] *= 2.0**300
    options.settle(F, 0, 2)
    assert F[0] == 0.0 and options.weight(F, 0, 2, 1) == pytest.approx(2.0**-100)


@pytest.mark.parametrize("log", [-0.5, -400.0, -1e4])
def test_a_logarithm_is_stored_however_small(log):
    F = row_of([0.5, 0.5])
    options.store_log(F, 0, 2, 1, log)
    assert logs_of(F)[1] == pytest.approx(log, rel=1e-13) and F[0] == float(log < np.log(h.OPTION_TINY))


def test_an_option_that_its_prior_forbids_stays_forbidden():
    F = row_of([1.0, 0.0])
    options.multiply_log(F, 0, 2, 0, -3.0)
    options.multiply_log(F, 0, 2, 1, 1000.0)
    assert options.settle_log(F, 0, 2) == pytest.approx(-3.0)
    assert F[1:3].tolist() == [1.0, 0.0]


def test_the_pass_in_logarithms_is_the_plain_one():
    weights, ratios = np.array([0.2, 0.5, 0.3]), np.array([0.9, 0.01, 0.4])
    plain, slow = row_of(weights * ratios), row_of(weights)
    for i, ratio in enumerate(ratios.tolist()):
        options.multiply_log(slow, 0, 3, i, np.log(ratio))
    assert options.settle_log(slow, 0, 3) == pytest.approx(np.log(options.settle(plain, 0, 3)), rel=1e-13)
    assert slow == pytest.approx(plain, rel=1e-13)
