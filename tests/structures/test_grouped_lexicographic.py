"""Intervals of ordered leaves, split into two or K consecutive parts."""

import itertools
import math

import pytest

import hsb


@pytest.mark.parametrize(("leaves", "groups"), [(5, 2), (6, 3), (7, 4)])
def test_every_choice_of_cuts_is_a_group(leaves, groups):
    structure = hsb.GroupedLexicographic(leaves=leaves, groups=groups)
    result = structure.groups((0, leaves))
    assert len(result) == math.comb(leaves - 1, groups - 1)
    for group in result:
        assert group[0][0] == 0 and group[-1][1] == leaves
        assert all(before[1] == after[0] for before, after in itertools.pairwise(group))


def test_two_groups_are_the_lexicographic_structure():
    two, plain = hsb.GroupedLexicographic(leaves=6, groups=2), hsb.Lexicographic(leaves=6)
    assert two.groups((1, 5)) == plain.groups((1, 5)) and two.cost == plain.cost
    assert two.splits(3, arms=2) == plain.splits(3, arms=2)


def test_a_leaf_does_not_split():
    assert hsb.Lexicographic(leaves=4).groups((2, 3)) == []
