"""Helpers of `tests/logs/propensity_model/test_model.py`, shared with other tests."""

import numpy as np

ARMS = ["a", "b", "c"]
NAMED = {"context": ["x", "y"], "arm": "shown", "reward": "click"}


def softmax_log(n=6000, seed=0, sharp=2.0):
    """Return the log of a shop whose old policy was a softmax of the features: its table, the true propensities, and each arm's reward."""
    rng = np.random.default_rng(seed)
    x, y, kind = rng.random(n), rng.normal(0.0, 1.0, n), rng.integers(0, 3, n)
    scores = np.column_stack([sharp * x, 0.7 * y, 0.8 * (kind == 1) + 0.5])
    P = np.exp(scores)
    P /= P.sum(axis=1, keepdims=True)
    arm = (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    clicks = np.column_stack([0.1 + 0.6 * x, 0.3 + 0.0 * x, 0.7 - 0.6 * x])
    reward = (rng.random(n) < clicks[np.arange(n), arm]).astype(float)
    table = {"x": x, "y": y, "kind": [f"k{k}" for k in kind], "shown": [ARMS[k] for k in arm]}
    return table | {"p": P[np.arange(n), arm], "click": reward}, clicks
