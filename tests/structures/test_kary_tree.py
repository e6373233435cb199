"""Trees whose nodes divide into k equal parts, feature by feature."""

import numpy as np
import pytest

import hsb


@pytest.mark.parametrize(("k", "depth"), [(2, 6), (3, 4), (5, 3)])
def test_a_context_is_in_the_leaf_of_its_digits(k, depth):
    tree = hsb.KaryTree(k=k, depth=depth)
    for x in np.random.default_rng(0).random(50):
        assert tree.leaf_of(x) == int(x * k**depth)


def test_features_are_halved_in_turn():
    tree = hsb.BinaryTree(depth=2, space=hsb.Box.unit(2))
    assert [tree.leaf_of(point) for point in ([0.1, 0.1], [0.1, 0.9], [0.9, 0.1], [0.9, 0.9])] == [0, 1, 2, 3]


def test_a_node_has_k_children_that_partition_it():
    tree = hsb.KaryTree(k=3, depth=2)
    ((*children,),) = tree.groups((0, 0))
    assert [list(tree.leaves_of(child)) for child in children] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert tree.groups((2, 4)) == []


def test_the_binary_tree_is_the_tree_of_two():
    one, other = hsb.BinaryTree(depth=7), hsb.KaryTree(k=2, depth=7)
    assert one.cost == other.cost and one.leaf_of(0.3) == other.leaf_of(0.3)


@pytest.mark.parametrize(
    "settings", [{"k": 1, "depth": 2}, {"k": 2, "depth": -1}, {"k": 2.5, "depth": 2}, {"k": 5000, "depth": 2}]
)
def test_what_is_no_tree_is_refused(settings):
    with pytest.raises(hsb.InputError):
        hsb.KaryTree(**settings)
