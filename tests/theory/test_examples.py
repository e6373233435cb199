"""The bounds that the paper prints for its Examples."""

import pytest

import hsb
from hsb import theory

STRUCTURES = [
    hsb.ArbitrarySplits(leaves=6),
    hsb.BinaryTree(depth=6),
    hsb.KaryTree(k=3, depth=3),
    hsb.Lexicographic(leaves=16),
    hsb.GroupedLexicographic(leaves=12, groups=3),
    hsb.PositionSplits(bits=[2, 2]),
]
GAME = {"arms": 3, "horizon": 100_000, "learning_rate": 0.02}


@pytest.mark.parametrize("structure", STRUCTURES, ids=repr)
def test_more_regions_cost_more_and_the_last_line_is_the_looser(structure):
    few, many = (theory.example_bound(structure, regions=regions, **GAME) for regions in (2, 4))
    assert 0 < few <= many
    assert theory.example_bound(structure, simplified=True, **GAME) >= theory.example_bound(structure, **GAME) - 1e-9


def test_a_structure_without_an_example_is_refused():
    box = hsb.Box.unit(1)
    both = hsb.OneOf(hsb.BinaryTree(depth=2, space=box), hsb.BinaryTree(depth=3, space=box))
    with pytest.raises((hsb.InputError, NotImplementedError)):
        theory.example_bound(both, **GAME)
