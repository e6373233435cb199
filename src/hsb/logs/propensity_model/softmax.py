"""Multinomial logistic regression with a penalty and, for each row, a set of possible classes; by L-BFGS (Nocedal 1980)."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from ...types import Floats, Ints

OF_CONSTANT = 0.01  # the penalty of the constant's weights
MEMORY = 12  # steps whose curvature is remembered
ITERATIONS = 200
CLOSE = 0.02  # of the total log-likelihood: random variation is about half a unit for each weight


def softmax(scores: Floats, available: NDArray[np.bool_]) -> Floats:
    """Return the softmax of the scores over the possible classes; other classes have probability 0.

    >>> softmax(np.zeros((1, 3)), np.array([[True, False, True]])).tolist()
    [[0.5, 0.0, 0.5]]
    """
    scores = np.where(available, scores, -np.inf)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def fit_weights(X: Floats, y: Ints, available: NDArray[np.bool_], start: Floats, size: float = 1.0) -> Floats:
    """Return weights (features, classes) that minimise -log-likelihood + `size` / 2 times the sum of their squares, from `start` on.

    The first column of X is the constant.

    >>> X, y = np.array([[1.0, -1.0], [1.0, 1.0]] * 50), np.array([0, 1] * 50)
    >>> W = fit_weights(X, y, np.ones((100, 2), dtype=bool), np.zeros((2, 2)))
    >>> bool(softmax(X[:1] @ W, np.ones((1, 2), dtype=bool))[0, 0] > 0.95)
    True
    """
    penalty = np.full((X.shape[1], 1), size)
    penalty[0] = OF_CONSTANT
    rows, W = np.arange(len(y)), start.copy()
    most = max(available.sum(axis=1).mean(), 1.0) if len(y) else 1.0
    scale = np.linalg.inv(X.T @ X / most + np.diag(penalty[:, 0]))  # about the inverse curvature of each class

    def loss_and_gradient(W: Floats) -> tuple[float, Floats]:
        probabilities = softmax(X @ W, available)
        loss = -float(np.log(np.maximum(probabilities[rows, y], 1e-300)).sum()) + 0.5 * float((penalty * W * W).sum())
        probabilities[rows, y] -= 1.0
        return loss, X.T @ probabilities + penalty * W

    loss, gradient = loss_and_gradient(W)
    past: deque[tuple[Floats, Floats]] = deque(maxlen=MEMORY)
    for _ in range(ITERATIONS):
        step = -_precondition(gradient, past, scale)
        slope = float((gradient * step).sum())
        if -slope <= 2.0 * CLOSE:
            break
        share, new, better = 1.0, W + step, loss_and_gradient(W + step)
        while better[0] > loss + 1e-4 * share * slope and share > 1e-10:
            share *= 0.5
            new = W + share * step
            better = loss_and_gradient(new)
        if better[0] > loss:
            break
        moved, turned = new - W, better[1] - gradient
        if float((moved * turned).sum()) > 1e-10 * float((turned * turned).sum()):
            past.append((moved, turned))
        W, (loss, gradient) = new, better
    return W


def _precondition(gradient: Floats, past: "deque[tuple[Floats, Floats]]", scale: Floats) -> Floats:
    """Multiply the gradient by an approximate inverse Hessian: the two loops of L-BFGS, around `scale`."""
    q, shares = gradient.copy(), []
    for moved, turned in reversed(past):
        share = float((moved * q).sum()) / float((moved * turned).sum())
        q -= share * turned
        shares.append(share)
    q = scale @ q
    for (moved, turned), share in zip(past, reversed(shares), strict=True):
        q += moved * (share - float((turned * q).sum()) / float((moved * turned).sum()))
    return q
