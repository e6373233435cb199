"""What the tests of `tests/theory/test_cost.py` share with others."""

import math

from naive import mixture as naive

from support import structure_cases as cases


def fewest_splits(shape: naive.Hierarchy, mapping: list[int]) -> float:
    """A of Theorem 2 for this very mapping: the fewest splits that represent it, or infinity."""
    need: dict[naive.Node, float] = {}
    for i in shape.children_first:
        constant = len({mapping[leaf] for leaf in shape.regions[i]}) == 1
        ways = [1 + sum(need[j] for j in group) for group in shape.groups[i]]
        need[i] = min([0.0] * constant + ways, default=math.inf)
    return need[shape.root]


def on_cells(case: cases.Case, mapping: list[int]) -> list[int]:
    """The mapping of the structure's leaves on the oracle's, which may be finer."""
    return [mapping[case.structure.leaf_of(context)] for context in case.middles]
