"""Helpers of `tests/play/test_replays.py`, shared with other tests."""

import numpy as np

import hsb
import hsb.logs
from hsb.logs import Batch

ARMS = list("abcdefgh")


def made_log(rng, n, *, skewed=False, rows=400):
    """Return batches and the true click rates: arms come and go, at times all are available, and clicks depend on context and arm."""
    batches, truth = [], []
    for begin in range(0, n, rows):
        m = min(4 + begin // (n // 4), 8)
        arms = ARMS[:m]
        available = np.ones((rows, m), dtype=bool)
        for t in range(0, rows, 40):
            available[t : t + 40] = rng.random(m) < 0.7
            available[t : t + 40, rng.integers(m)] = True
        contexts = rng.random((rows, 1))
        weights = available * (np.arange(m) + 1.0 if skewed else 1.0)
        p = weights / weights.sum(axis=1, keepdims=True)
        arm = (p.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(0, m - 1)
        probability = np.where((contexts < 0.5) == (np.arange(m) % 2 == 0), 0.8, 0.1)
        reward = (rng.random(rows) < probability[np.arange(rows), arm]).astype(float)
        batches.append(
            Batch.of(
                contexts=contexts, arm=arm, reward=reward, propensity=p[np.arange(rows), arm], arms=arms, available=available
            )
        )
        truth.append(np.where(available, probability, np.nan))
    return batches, truth


BATCHES, TRUTH = made_log(np.random.default_rng(0), 4000)
TREE = hsb.BinaryTree(depth=4)
POLICIES = {
    "Exp3": lambda: hsb.Exp3(arms=ARMS[:2], seed=1),
    "SExp3": lambda: hsb.SExp3(TREE, arms=ARMS[:2], learning_rate=0.3, seed=1),
    "HSB, rate": lambda: hsb.HSB(TREE, arms=ARMS[:2], learning_rate=0.5, seed=1),
    "HSB, huge rate": lambda: hsb.HSB(TREE, arms=ARMS[:2], learning_rate=400.0, seed=1),
    "HSB, falling rate and drift": lambda: hsb.HSB(TREE, arms=ARMS[:2], drift=1e-3, seed=1),
    "HSB, deep": lambda: hsb.HSB(hsb.BinaryTree(depth=40), arms=ARMS[:2], learning_rate=0.5, seed=1),
    "HSB, intervals": lambda: hsb.HSB(hsb.Lexicographic(leaves=6), arms=ARMS[:2], learning_rate=0.5, seed=1),
    "HSB, one of": lambda: hsb.HSB(hsb.OneOf(TREE, hsb.KaryTree(k=3, depth=2)), arms=ARMS[:2], learning_rate=0.5, seed=1),
    "HSB": lambda: hsb.HSB(TREE, arms=ARMS[:2], seed=1),
    "HSB, other advisor cells": lambda: hsb.HSB(hsb.Lexicographic(leaves=5), arms=ARMS[:2], seed=1),
    "HSB, rate and advisor": lambda: hsb.HSB(hsb.BinaryTree(depth=40), arms=ARMS[:2], learning_rate=0.2, drift="auto", seed=1),
    "HSB, many arms": lambda: hsb.HSB(TREE, arms=[*ARMS, *range(60)], learning_rate=0.5, seed=1),
    "TreeThompson": lambda: hsb.TreeThompson(TREE, arms=ARMS[:2], seed=1),
    "Uniform": lambda: hsb.Uniform(arms=ARMS[:2], seed=1),
    "LinUCB": lambda: hsb.LinUCB(1, arms=ARMS[:2], seed=1),
}


def beliefs(policy):
    return np.array([policy.probabilities(x) for x in (np.arange(64) + 0.5) / 64])
