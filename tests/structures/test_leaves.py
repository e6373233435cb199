"""The cells of a structure, each by itself."""

import math

import pytest

import hsb
from hsb.structures.leaves import Leaves


def test_it_has_the_leaves_of_its_structure():
    tree = hsb.BinaryTree(depth=4, space=hsb.Box([0], [10]))
    leaves = Leaves(tree)
    assert leaves.leaves == 16 and all(leaves.leaf_of(x) == tree.leaf_of(x) for x in (0, 2.5, 9.9))


def test_every_mapping_costs_the_same():
    costs = [Leaves(4).worst_cost(regions, math.log(3), 3, None) for regions in (1, 2, 4)]
    assert costs == pytest.approx([4 * math.log(3)] * 3)


@pytest.mark.parametrize("given", [5, hsb.BinaryTree(depth=2), hsb.Cells(3)])
def test_it_comes_back_from_plain_data(given):
    leaves = Leaves(given)
    assert Leaves.from_plain(leaves.plain()).plain() == leaves.plain()


@pytest.mark.parametrize("given", [0, -1, 2.5, None, "tree"])
def test_what_has_no_leaves_is_refused(given):
    with pytest.raises(hsb.InputError):
        Leaves(given)
