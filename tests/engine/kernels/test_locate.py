"""The nodes of a graph that contain a leaf: all of them, parents first, each with the child that its groups lead to."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from support.kernel_cases import INTERPRETED
from support.structure_cases import arbitrary, hierarchy, position

from hsb.engine.kernels.locate import locate
from hsb.engine.kernels.words import graph as words

pytestmark = INTERPRETED
CASES = {"boxes": position([2, 0, 1]), "one box": position([0]), "subsets": arbitrary(4), "tables": hierarchy(6, seed=3)}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def nodes_and_edges(I, leaf):
    """Return the nodes that contain the leaf, and for each the indices of its groups' children."""
    count = locate(I, leaf)
    start = I[I[words.START] : I[words.START] + count + 1].tolist()
    edges = I[I[words.EDGE] : I[words.EDGE] + start[-1]].tolist()
    return I[I[words.LIST] : I[words.LIST] + count].tolist(), [edges[a:b] for a, b in pairwise(start)]


@each_case
def test_as_many_nodes_and_groups_as_the_slow_hierarchy_has(case):
    (member,) = case.structure.members(2, None)
    for leaf in range(case.shape.leaves):
        inside = [node for node, region in case.shape.regions.items() if leaf in region]
        nodes, edges = nodes_and_edges(member.I, leaf)
        assert len(set(nodes)) == len(nodes) == len(inside)
        assert sorted(map(len, edges)) == sorted(len(case.shape.groups[node]) for node in inside)


@each_case
def test_children_come_after_their_parents_and_all_but_the_root_are_children(case):
    (member,) = case.structure.members(2, None)
    for leaf in range(case.shape.leaves):
        nodes, edges = nodes_and_edges(member.I, leaf)
        assert all(i < child < len(nodes) for i, children in enumerate(edges) for child in children)
        assert {child for children in edges for child in children} == set(range(1, len(nodes)))


def test_the_children_of_a_set_are_its_parts_with_the_leaf():
    (member,) = arbitrary(4).structure.members(2, None)
    nodes, edges = nodes_and_edges(member.I, 2)
    sets = [frozenset(i for i in range(4) if mask >> i & 1) for mask in nodes]
    assert sets[0] == {0, 1, 2, 3} and all(2 in each for each in sets)
    for own, children in zip(sets, edges, strict=True):
        others = sorted(own - {2})
        parts = {frozenset({2, *some}) for size in range(len(others)) for some in combinations(others, size)}
        assert {sets[child] for child in children} == parts and len(children) == len(parts)


def test_a_box_is_numbered_by_its_sides():
    """Sides of two bits: the whole is 0, halves are 1 and 2, quarters 3 to 6. Of one bit: 0, then 1 and 2, times 1."""
    (member,) = position([2, 1]).structure.members(2, None)
    nodes, _ = nodes_and_edges(member.I, 0b101)  # quarter 2, half 1
    assert nodes == [side * 3 + other for side in (0, 2, 5) for other in (0, 2)]
    assert np.diff(nodes).min() > 0
