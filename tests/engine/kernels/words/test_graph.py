"""The words of a graph's header: distinct, beyond the common ones, and where its tables are."""

from support.kernel_cases import numbers_of

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import graph as words

SHAPES = {"TABLES", "BOXES", "SUBSETS"}


def test_no_two_words_share_an_entry():
    numbers = sorted(value for name, value in numbers_of(words).items() if name not in SHAPES)
    assert len(set(numbers)) == len(numbers) and numbers[0] > h.LOGS and numbers[-1] < h.HEADER


def test_a_structure_has_the_shape_by_which_its_nodes_are_found():
    shapes = {hsb.PositionSplits(bits=[1, 2]): words.BOXES, hsb.ArbitrarySplits(leaves=3): words.SUBSETS}
    for structure, shape in shapes.items():
        (member,) = structure.members(2, None)
        assert member.I[words.SHAPE] == shape
        spec = member.I[member.I[words.SPEC] : member.I[words.NODE0]].tolist()
        assert spec == ([2, 1, 2] if shape == words.BOXES else [3])
