"""A mapping carried from one structure's leaves to another's."""

import numpy as np

import hsb
from hsb.structures.carry import carried, parts


def test_parts_of_each_feature():
    square = hsb.Box.unit(2)
    assert list(parts(hsb.BinaryTree(depth=5, space=square))) == [8, 4]
    assert list(parts(hsb.BinaryTree(depth=3, space=square, features=[1]))) == [1, 8]


def test_a_finer_tree_plays_the_same():
    coarse, fine = hsb.BinaryTree(depth=2), hsb.BinaryTree(depth=5)
    result = carried(np.array([0, 2, 1, 0]), coarse, fine)
    assert result.tolist() == [0] * 8 + [2] * 8 + [1] * 8 + [0] * 8


def test_a_coarser_tree_cannot_unless_nothing_is_lost():
    coarse, fine = hsb.BinaryTree(depth=1), hsb.BinaryTree(depth=2)
    assert carried(np.array([0, 0, 1, 1]), fine, coarse).tolist() == [0, 1]
    assert carried(np.array([0, 1, 1, 1]), fine, coarse) is None
