"""What each estimator makes of a row, by its formula."""

import numpy as np
import pytest

from hsb.evaluate.off_policy.estimators import ESTIMATORS, WITH_MODEL, allowance, terms

N = 200
RNG = np.random.default_rng(0)
W, R, D, Q = RNG.exponential(size=N), RNG.random(N), RNG.random(N), RNG.random(N)


def test_formulas():
    columns = terms(W, R, D, Q, clip=2.0, low=0.0, high=1.0)
    np.testing.assert_allclose(columns["w r"], W * R)
    np.testing.assert_allclose(columns["d"], D)
    np.testing.assert_allclose(columns["dr"], D + W * (R - Q))
    np.testing.assert_allclose(columns["clipped"], np.minimum(W, 2.0) * R)


def test_without_a_model_there_are_fewer():
    columns = terms(W, R, None, None, clip=None, low=0.0, high=1.0)
    assert "w r" in columns and not {"d", "dr", "switch", "clipped"} & set(columns)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_missing_weight_only_widens(estimator):
    small, large = (allowance(estimator, 0.4, unseen, 0.0, 1.0) for unseen in (0.0, 0.1))
    assert all(a >= b >= 0 for a, b in zip(np.abs(large), np.abs(small), strict=True))
    assert set(WITH_MODEL) < set(ESTIMATORS)
