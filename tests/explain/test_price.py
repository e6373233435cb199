"""What Theorem 1 charges for an explanation: the prior cost of the mapping that it describes."""

import numpy as np
import pytest

import hsb
from hsb.explain.price import price
from hsb.theory import prior_cost


@pytest.mark.parametrize("structure", [hsb.BinaryTree(depth=3), hsb.Lexicographic(leaves=8)], ids=repr)
def test_it_is_the_prior_cost_of_what_is_explained(structure):
    policy = hsb.HSB(structure, arms=2, learning_rate=0.5, seed=0)
    contexts = np.random.default_rng(0).random(2000)
    losses = np.column_stack([contexts > 0.5, contexts <= 0.5]).astype(float)
    hsb.simulate(policy, contexts, losses)
    explanation = policy.explain()
    middles = (np.arange(8) + 0.5) / 8
    mapping = [[0, 1].index(arm) for arm in explanation.arms_at(middles.tolist())]
    assert price(explanation, stop=None) == pytest.approx(prior_cost(structure, mapping, arms=2))


def test_one_arm_everywhere_is_the_cheapest():
    tree = hsb.BinaryTree(depth=2)
    fresh = hsb.HSB(tree, arms=2, learning_rate=0.1).explain()
    one, many = (prior_cost(tree, mapping, arms=2) for mapping in ([0] * 4, [0, 1, 0, 1]))
    assert price(fresh, stop=None) == pytest.approx(one) and one < many
