"""Helpers of `tests/evaluate/off_policy/test_estimate.py`, shared with other tests."""

import numpy as np

import hsb
from hsb.logs import Batch

TREE = hsb.BinaryTree(depth=3)


def means(kind, x):
    """(n, 3): the truth."""
    if kind == "graded":
        return np.stack([x, 1.0 - x, np.full_like(x, 0.5)], axis=1) * 0.8 + 0.1
    low, high = {"clicks": (0.1, 0.48), "rare": (0.03, 0.1)}[kind]
    return low + high * np.stack([x < 0.5, x >= 0.5, np.full_like(x, 0.3)], axis=1)


def logged(kind, seed, n, *, skewed=True):
    """Return a batch: three arms, logged with propensities that depend on the context."""
    rng = np.random.default_rng([5, seed])
    x = rng.random(n)
    p = np.stack([0.15 + 0.5 * x, np.full(n, 0.2), 0.65 - 0.5 * x], axis=1) if skewed else np.full((n, 3), 1 / 3)
    arm = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, 2)
    row = np.arange(n)
    mu = means(kind, x)[row, arm]
    reward = rng.beta(4 * mu, 4 * (1 - mu)) if kind == "graded" else (rng.random(n) < mu).astype(float)
    return Batch.of(contexts=x[:, None], arm=arm, reward=reward, propensity=p[row, arm], arms=[0, 1, 2])


def trained(kind):
    """Return a policy with preferences but no certainty."""
    policy, rng = hsb.HSB(TREE, arms=3, learning_rate=0.5, seed=0), np.random.default_rng(99)
    for _ in range(60):
        decision = policy.decide(rng.random())
        policy.learn(decision, reward=float(rng.random() < means(kind, np.array([decision.context]))[0, decision.arm]))
    return policy


def truth(kind, policy):
    """Return the true value from a fine grid: policy and, except at two ends of its cells, truth are smooth between grid points."""
    grid = (np.arange(4096) + 0.5) / 4096
    return float(np.mean([policy.probabilities(x) @ m for x, m in zip(grid.tolist(), means(kind, grid), strict=True)]))


def pooled(seed, n):
    """Return a batch whose pools differ from row to row."""
    batch = logged("clicks", seed, n)
    available = np.random.default_rng(seed).random((n, 3)) < 0.7
    available[np.arange(n), batch.arm] = True
    return Batch.of(
        contexts=batch.contexts,
        arm=batch.arm,
        reward=batch.reward,
        propensity=batch.propensity,
        arms=[0, 1, 2],
        available=available,
    )
