"""Helpers of `tests/theory/test_cost.py`, shared with other tests."""

import math

from naive import mixture as naive

from support import structure_cases as cases


def fewest_splits(shape: naive.Hierarchy, mapping: list[int]) -> float:
    """Return A of Theorem 2 for exactly this mapping: the fewest splits that represent it, or infinity."""
    need: dict[naive.Node, float] = {}
    for i in shape.children_first:
        constant = len({mapping[leaf] for leaf in shape.regions[i]}) == 1
        ways = [1 + sum(need[j] for j in group) for group in shape.groups[i]]
        need[i] = min([0.0] * constant + ways, default=math.inf)
    return need[shape.root]


def on_cells(case: cases.Case, mapping: list[int]) -> list[int]:
    """Return the mapping of the structure's leaves on the oracle's, which may be finer."""
    return [mapping[case.structure.leaf_of(context)] for context in case.middles]
