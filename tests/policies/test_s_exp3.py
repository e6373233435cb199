"""S-EXP3: an EXP3 in each cell, and nothing between them."""

import numpy as np
import pytest

import hsb
from hsb import theory


def test_each_cell_is_an_exp3_of_its_own():
    policy = hsb.SExp3(4, arms=3, learning_rate=0.3, seed=0)
    alone = [hsb.Exp3(arms=3, learning_rate=0.3, seed=0) for _ in range(4)]
    rng = np.random.default_rng(2)
    for _ in range(200):
        x = rng.random()
        cell, loss = alone[int(4 * x)], rng.random()
        np.testing.assert_allclose(policy.probabilities(x), cell.probabilities(None), rtol=1e-10)
        decision = policy.decide(x)
        policy.learn(decision, loss=loss)
        cell.learn(hsb.Decision(context=None, arm=decision.arm, propensity=decision.propensity), loss=loss)


def test_cells_may_come_from_a_structure():
    tree = hsb.BinaryTree(depth=3, space=hsb.Box([0, 0], [1, 2]))
    assert hsb.SExp3(tree, arms=2, horizon=100).structure.leaves == 8 == hsb.SExp3(8, arms=2, horizon=100).structure.leaves


def test_its_bound_is_the_theorys():
    result = hsb.SExp3(32, arms=3, horizon=10_000).regret_bound()
    assert result == pytest.approx(theory.s_exp3_bound(arms=3, horizon=10_000, leaves=32))
