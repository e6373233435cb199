"""Slow, simple versions of the fit of an ensemble to a log: sums and solved equations, and trees grown from lists of rows."""

import math

import numpy as np

from naive.ensemble import DEEPEST, TREES, Array, Cut, Forest, Node

TRIES, FEWEST, GAIN = 60, 15, 1.0


def solved(X: Array, y: Array, precision: Array, expected: float) -> Array:
    """Weights of a ridge regression, that of the constant being `expected` beforehand."""
    before = np.zeros(len(precision))
    before[0] = expected * precision[0]
    return np.linalg.solve(X.T @ X + np.diag(precision), X.T @ y + before)


def left_out(X: Array, y: Array, precision: Array, expected: float) -> Array:
    """Return each row's prediction by a regression on all others, cut to [0, 1], less 1/2; y is less 1/2 too."""
    every = np.arange(len(y))
    results = [float(x @ solved(X[every != t], y[every != t], precision, expected)) for t, x in enumerate(X)]
    return np.clip(np.array(results), -0.5, 0.5)


def evidence(X: Array, y: Array, precision: Array, expected: float, noise: float) -> float:
    """Return ln of the probability of y if the weights are drawn with variance noise / precision around the prior mean."""
    before = np.zeros(len(precision))
    before[0] = expected
    covariance = noise * (np.eye(len(y)) + (X / precision) @ X.T)
    error = y - X @ before
    return float(-0.5 * (np.linalg.slogdet(covariance)[1] + error @ np.linalg.solve(covariance, error)))


def grown(forest: Forest, Z: Array, arm: Array, loss: Array, rows: list[int]) -> None:
    """Trees grown from these rows of Z, level by level, each in an even part of half of the room."""
    forest.start()
    for k, root in enumerate(forest.trees):
        most = TREES + (k + 1) * ((forest.nodes - TREES) // (4 * TREES)) * 2
        root.cuts = None
        waiting = [(root, list(rows), 1)]
        for node, own, level in waiting:
            if len(own) < FEWEST or level >= DEEPEST or forest.nodes_used + 2 > most:
                continue
            best: tuple[float, Cut | None] = (GAIN, None)
            for _ in range(TRIES):
                cut = Cut(draw_column(forest), forest.arms)
                cut.threshold = Z[own[min(int(forest.random() * len(own)), len(own) - 1)], cut.column]
                cut.threshold += -1e-9 if forest.random() < 0.5 else 1e-9
                for t in own:
                    cut.sides[int(Z[t, cut.column] > cut.threshold), arm[t]] += loss[t], 1 - loss[t]
                best = max(best, (cut.gain(), cut), key=lambda each: each[0])
            if (cut := best[1]) is None:
                continue
            assert cut.threshold is not None
            node.column, node.threshold = cut.column, cut.threshold
            parts = [[t for t in own if (Z[t, cut.column] > cut.threshold) == side] for side in (False, True)]
            left, right = (Node(np.zeros((forest.arms, 2)), None) for _ in range(2))
            node.children = (left, right)
            forest.nodes_used += 2
            waiting += [(left, parts[0], level + 1), (right, parts[1], level + 1)]


def draw_column(forest: Forest) -> int:
    """Draw a column as a leaf does for its cuts."""
    u = forest.random()
    sums = np.cumsum(forest.probabilities)
    sums[-1] = 1.0
    return 1 + int(np.count_nonzero(sums <= u))


def watch(forest: Forest) -> None:
    """Leaves, in the order of their numbers, watch cuts as far as there is room."""
    forest.blocks_used = 0
    for node in numbered(forest):
        node.look = max(15, math.ceil(1.5 * node.visited))
        if node.children is None and forest.blocks_used < forest.blocks:
            forest.blocks_used += 1
            node.cuts = forest.draw()


def numbered(forest: Forest) -> list[Node]:
    """Roots, then the nodes of the first tree level by level, of the second, ..."""
    results = list(forest.trees)
    for root in forest.trees:
        own = [root]
        for node in own:
            own += node.children or ()
        results += own[1:]
    return results
