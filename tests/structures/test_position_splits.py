"""Boxes that may be halved along any feature."""

import pytest

import hsb


def test_the_root_splits_along_each_feature_that_has_bits():
    structure = hsb.PositionSplits(bits=[2, 1, 1])
    assert structure.leaves == 16 and len(structure.groups(structure.root)) == 3
    for group in structure.groups(structure.root):
        leaves = [set(structure.leaves_of(node)) for node in group]
        assert len(leaves) == 2 and not leaves[0] & leaves[1] and leaves[0] | leaves[1] == set(range(16))


def test_boxes_are_halves():
    structure = hsb.PositionSplits(bits=[1, 1])
    halves = {box for group in structure.groups(structure.root) for node in group for box in structure.boxes(node)}
    assert halves == {((0.0, 0.5), (0.0, 1.0)), ((0.5, 1.0), (0.0, 1.0)), ((0.0, 1.0), (0.0, 0.5)), ((0.0, 1.0), (0.5, 1.0))}


@pytest.mark.parametrize("bits", [[], [-1], [1.5], "11", [60]])
def test_what_are_no_bits_is_refused(bits):
    with pytest.raises(hsb.InputError):
        hsb.PositionSplits(bits=bits)
