"""The kernels of LinUCB against NumPy's linear algebra."""

import math

import numpy as np
import pytest

from hsb.engine.kernels import lin_ucb

EVERY = np.zeros(0, dtype=np.uint8)


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_an_inverse_is_that_of_the_matrix(scale):
    """With features of very different sizes too."""
    rows = np.random.default_rng(0).normal(size=(40, 5)) * np.array([1.0, scale, 1.0, 1.0 / scale, 1.0])
    A, inverse = 0.5 * np.eye(5) + rows.T @ rows, np.empty((5, 5))
    lin_ucb.invert(A, inverse, 0.5, np.zeros((5, 5)))
    d = np.sqrt(np.diag(A))
    np.testing.assert_allclose(inverse * np.outer(d, d), np.linalg.inv(A / np.outer(d, d)), rtol=1e-8, atol=1e-8)
    assert np.array_equal(inverse, inverse.T)


@pytest.mark.parametrize("a", [1e-200, 0.3, 1.0, 7.0, 1e100])
def test_a_unit_is_a_power_of_two_whose_square_is_about_the_inverse(a):
    unit = lin_ucb.unit(a)
    assert math.frexp(unit)[0] == 0.5 and 0.25 <= unit * a * unit <= 4.0


def test_an_update_is_a_ridge_regression():
    rng, d = np.random.default_rng(1), 3
    state, updates, seen, work = (
        np.zeros((2, 2 * d + 2, d)),
        np.zeros(2, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros((d + 2, d)),
    )
    state[:, np.arange(d), np.arange(d)], state[:, d + np.arange(d), np.arange(d)] = 0.5, 2.0
    points, losses = rng.random((300, 2)), rng.random(300)
    for point, loss in zip(points, losses.tolist(), strict=True):
        lin_ucb.update(state, updates, point, 1, loss, 0.5, work, seen)
    Z = np.column_stack([points, np.ones(300)])
    A = 0.5 * np.eye(d) + Z.T @ Z
    np.testing.assert_allclose(state[1, :d], A, rtol=1e-12)
    np.testing.assert_allclose(state[1, d : 2 * d], np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state[1, -1], np.linalg.solve(A, Z.T @ losses), rtol=1e-9)
    assert updates.tolist() == [0, 300] and seen[0] == 300 and not state[0, -1].any()
    score = np.empty(2)
    lin_ucb.scores(state, EVERY, 0.7, np.array([0.2, 0.4]), work, score)
    z = np.array([0.2, 0.4, 1.0])
    assert score == pytest.approx(
        [-0.7 * math.sqrt(2 * z @ z), z @ state[1, -1] - 0.7 * math.sqrt(z @ np.linalg.solve(A, z))], rel=1e-9
    )


def test_the_least_score_and_how_many_arms_have_it():
    assert lin_ucb.least(np.array([2.0, 1.0, math.inf, 1.0])) == (1.0, 2)
