"""Models of rewards, asked only about rows that they were not fitted on."""

import numpy as np
import pytest

import hsb
from hsb.evaluate.off_policy.reward_models import FOLDS, CellMeans, Ridge, reward_model

N = 4000
RNG = np.random.default_rng(0)
X, ARM = RNG.random((N, 1)), RNG.integers(2, size=N)
REWARD = np.where(ARM == 0, X[:, 0], 1.0 - X[:, 0]) + 0.01 * RNG.normal(size=N)
FOLD = np.arange(N) % FOLDS


@pytest.mark.parametrize("make", [Ridge, lambda: CellMeans(hsb.BinaryTree(depth=5))], ids=["ridge", "cells"])
def test_a_simple_world_is_learned(make):
    model = make()
    model.prepare(X)
    model.add(X, X, ARM, REWARD, FOLD)
    model.finish()
    result = model.predict(X, X, FOLD, [0, 1])
    np.testing.assert_allclose(result, np.column_stack([X, 1.0 - X]), atol=0.1)


def test_a_row_is_not_predicted_from_itself():
    """The rewards of one fold are absurd: predictions for that fold do not know it."""
    reward = np.where(FOLD == 2, 1000.0, REWARD)
    model = CellMeans(hsb.BinaryTree(depth=2))
    model.prepare(X)
    model.add(X, X, ARM, reward, FOLD)
    model.finish()
    result = model.predict(X, X, FOLD, [0, 1])
    assert result[FOLD == 2].max() < 2.0 < result[FOLD != 2].min()


def test_arguments_stand_for_models():
    assert isinstance(reward_model(None), Ridge) and isinstance(reward_model(hsb.BinaryTree(depth=1)), CellMeans)
