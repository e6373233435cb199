"""The nodes of a structure, listed, and the sums over all its mappings."""

import itertools
import math

import numpy as np
import pytest

import hsb
from hsb.structures.walk import listing, log_beta, log_of, log_sum


def test_logarithms_of_sums():
    assert log_sum(np.array([0.0, 0.0])) == pytest.approx(math.log(2))
    assert log_sum(np.array([-1e5, -1e5 + 1])) == pytest.approx(-1e5 + math.log(1 + math.e))
    assert log_of([1.0, 0.0]).tolist() == [0.0, -math.inf]


@pytest.mark.parametrize(
    "structure", [hsb.BinaryTree(depth=2), hsb.Lexicographic(leaves=4), hsb.ArbitrarySplits(leaves=3)], ids=repr
)
def test_the_weights_of_all_mappings_add_to_one(structure):
    arms = 2
    values = np.full(arms, -math.log(arms))
    total = sum(
        math.exp(log_beta(structure, np.array(mapping), values))
        for mapping in itertools.product(range(arms), repeat=structure.leaves)
    )
    assert total == pytest.approx(1.0)


def test_parents_come_first():
    result = listing(hsb.BinaryTree(depth=3))
    assert len(result.numbers) == 15
    tree = hsb.BinaryTree(depth=3)
    for node, number in result.numbers.items():
        assert all(result.numbers[child] > number for group in tree.groups(node) for child in group)
