"""What is lost by being constant on each leaf."""

import math

import numpy as np
import pytest

import hsb
from hsb import theory


@pytest.mark.parametrize("leaves", [4, 16, 100])
def test_the_best_mapping_of_the_leaves_loses_no_more_than_the_gap(leaves):
    """Two arms whose expected losses change by c at most a unit: lines that cross."""
    c, xs = 2.0, (np.arange(100_000) + 0.5) / 100_000
    losses = np.stack([np.clip(c * xs / 2, 0, 1), np.clip(c * (1 - xs) / 2 * 1.1, 0, 1)], axis=1)
    best = losses.min(axis=1).mean()
    cells = losses.reshape(leaves, -1, 2).mean(axis=1).min(axis=1).mean()
    assert best <= cells <= best + theory.quantisation_gap(leaves, 1, c)


def test_the_gap_falls_with_the_leaves():
    assert theory.quantisation_gap(1024, 1, 3.0) == pytest.approx(2 * 3.0 / 1024)
    assert theory.quantisation_gap(1024, 2, 3.0) == pytest.approx(2 * 3.0 * math.sqrt(2) / 32)


def test_the_whole_bound_is_the_mixtures_and_the_gap():
    tree, game = hsb.BinaryTree(depth=10), {"arms": 3, "horizon": 10_000}
    assert theory.policy_bound(tree, lipschitz=3.0, **game) > theory.policy_bound(tree, lipschitz=1.0, **game) > 0
