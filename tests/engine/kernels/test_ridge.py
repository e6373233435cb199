"""Ridge regression, round by round, against the normal equations."""

import numpy as np
from naive.ensemble import Ridge

from hsb.engine.kernels import ridge
from hsb.engine.kernels.jit import kernel


@kernel
def learn_line(F, at, P, stride, x, y, v, n, turn):
    ridge.learn(F, at, P, stride, x, y, v, n, turn)


def taught(rows: np.ndarray, targets: np.ndarray, turns: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights and covariance of the kernel, rows of which are 3 words apart."""
    n = rows.shape[1]
    stride = n + 3
    F, v = np.zeros(n + n * stride), np.zeros(n)
    for i in range(n):
        F[n + i * stride + i] = 1.0 / precision[i]
    for x, y, turn in zip(rows, targets, turns.tolist(), strict=True):
        learn_line(F, 0, n, stride, x, float(y), v, n, turn)
    return F[:n], F[n:].reshape(n, stride)[:, :n]


def test_ridge_solves_the_normal_equations():
    """(diag(precision) + X'X) w = X'y, and the covariance is the inverse: to 1e-10 after 300 rounds."""
    rng = np.random.default_rng(7)
    X, y, precision = rng.normal(size=(300, 7)) * (rng.random((300, 7)) < 0.6), rng.normal(size=300), np.linspace(0.2, 3, 7)
    w, P = taught(X, y, np.full(300, -1), precision)
    A = np.diag(precision) + X.T @ X
    assert np.abs(w - np.linalg.solve(A, X.T @ y)).max() < 1e-10
    assert np.abs(P - np.linalg.inv(A)).max() < 1e-10


def test_seldom_is_one_known_round_in_four_with_four_times_the_weight():
    """Rounds with x'Px >= 0.05 always count once; the others with weight 4 if their turn is a multiple of 4, else not at all."""
    rng = np.random.default_rng(8)
    X, y, turns = rng.normal(size=(600, 4)), rng.normal(size=600), rng.integers(0, 1 << 24, size=600)
    w, P = taught(X, y, turns, np.ones(4))
    model, A, known = Ridge(np.ones(4)), np.eye(4), [0, 0]
    for x, each, turn in zip(X, y, turns.tolist(), strict=True):
        q = x @ np.linalg.solve(A, x)
        if q < 0.05:
            known[turn % 4 == 0] += 1
        A += np.outer(x, x) * (1.0 if q >= 0.05 else 4.0 * (turn % 4 == 0))
        model.learn(x, float(each), turn)
    assert min(known) > 50
    assert np.abs(P - np.linalg.inv(A)).max() < 1e-10 and np.abs(w - model.w).max() < 1e-10


def test_seldom_hardly_matters():
    """Random turns: weights within 0.05 of the exact ones, covariance within a fifth. Negative control: no turn ever leaves both wrong."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(4000, 4))
    y = X @ [0.3, -0.2, 0.1, 0.0] + 0.1 * rng.normal(size=4000)
    exact, right = taught(X, y, np.full(4000, -1), np.ones(4))
    w, P = taught(X, y, rng.integers(0, 1 << 24, size=4000), np.ones(4))
    _, wrong = taught(X, y, np.full(4000, 1), np.ones(4))
    assert np.abs(w - exact).max() < 0.05 and 0.8 < np.trace(P) / np.trace(right) < 1.25
    assert np.trace(wrong) / np.trace(right) > 5


def test_an_inverse_is_that_of_the_matrix():
    root = np.random.default_rng(0).normal(size=(6, 6))
    A = root @ root.T + 0.1 * np.eye(6)
    inverse = A.copy()
    ridge.invert(inverse, np.zeros((6, 6)), 6)
    assert np.abs(inverse @ A - np.eye(6)).max() < 1e-10 and np.array_equal(inverse, inverse.T)


def test_moved_sums_are_those_of_the_moved_features():
    """Feature 3 is 1 where feature 1 is missing; a missing feature stays 0."""
    rng, missing = np.random.default_rng(1), np.array([-1, 3, -1, -1])
    x = np.column_stack([np.ones(40), rng.normal(size=(40, 2)), rng.random(40) < 0.3])
    x[:, 1] *= 1.0 - x[:, 3]
    y, a, c = rng.normal(size=40), np.array([1.0, 0.5, 2.0, 1.0]), np.array([0.0, 0.3, -1.0, 0.0])
    moved = x * a + c
    moved[:, 1] *= 1.0 - x[:, 3]
    A, b = x.T @ x, x.T @ y
    ridge.move(A, b, a, c, missing, np.empty(4))
    np.testing.assert_allclose(A, moved.T @ moved, atol=1e-12)
    np.testing.assert_allclose(b, moved.T @ y, atol=1e-12)
