"""Every non-empty set of leaves is a node, and splits into any two parts."""

import pytest

import hsb


@pytest.mark.parametrize("leaves", [1, 2, 3, 6])
def test_a_set_of_n_leaves_has_as_many_splits_as_pairs_of_parts(leaves):
    structure = hsb.ArbitrarySplits(leaves=leaves)
    groups = structure.groups((1 << leaves) - 1)
    assert len(groups) == 2 ** (leaves - 1) - 1
    for one, other in groups:
        assert one & other == 0 and one | other == (1 << leaves) - 1 and one and other


def test_leaves_of_a_node_are_the_bits_of_its_mask():
    assert list(hsb.ArbitrarySplits(leaves=5).leaves_of(0b10110)) == [1, 2, 4]


def test_leaves_of_one_arm_can_always_be_gathered():
    assert [hsb.ArbitrarySplits(leaves=6).splits(regions, arms=3) for regions in (2, 4, 6)] == [2, 2, 2]


def test_too_many_leaves_are_refused():
    with pytest.raises(hsb.InputError):
        hsb.ArbitrarySplits(leaves=40)
