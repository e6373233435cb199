"""The prior cost of an explanation in Theorem 1: ln(1/beta) of the mapping that it describes."""

import math

import numpy as np

from .. import theory
from ..structures import GroupedLexicographic, KaryTree, Structure
from ..structures.boxes import Box
from ..types import Floats, Ints
from .pieces import in_users_units
from .result import Explanation

MOST_LEAVES = 1 << 16  # of a tree's mapping that is written out leaf by leaf
MOST_INTERVALS = 200  # the exact recursion takes O(N^3)


def price(explanation: Explanation, *, stop: float | None, arm_costs: Floats | None = None) -> float:
    """Return ln(1/beta) of the mapping: exact if its leaves can be listed in reasonable time, otherwise an upper bound.

    An arm costs ln M, or its entry of `arm_costs`. Long lexicographic structures and trees that split very deep cost as much as the most
    expensive mapping with the same number of regions (`theory.worst_cost`). Under `OneOf` the chosen structure costs ln(K+1) in addition.

    >>> import hsb
    >>> tree = hsb.BinaryTree(depth=2)
    >>> explanation = hsb.HSB(tree, arms=2, learning_rate=0.1).explain()
    >>> price(explanation, stop=None) == hsb.theory.prior_cost(tree, [0, 0, 0, 0], arms=2)
    True
    """
    arms, chosen, structure = len(explanation.arms), explanation.chosen, explanation.structure
    assert chosen is not None and structure is not None  # a mapping of a structure has both
    costs: Floats = np.full(arms, math.log(arms)) if arm_costs is None else arm_costs
    dearer = float(costs.max()) - math.log(arms)
    ahead = _ahead(structure, chosen) or 0.0
    if chosen.structures:  # one arm everywhere
        return ahead + math.log(len(chosen.structures) + 1) + float(costs[explanation.arms.index(explanation.regions[0].arm)])
    if isinstance(chosen, KaryTree):  # with too many leaves, only down to the smallest region
        depth = chosen.depth if chosen.leaves <= MOST_LEAVES else _depth(explanation, chosen)
        if chosen.k**depth > MOST_LEAVES:
            regions = len(explanation.regions)
            return ahead + theory.worst_cost(chosen, arms=arms, regions=regions, stop=stop, dearer=dearer)
        mapping = _mapping(explanation, chosen, [chosen.boxes((depth, number))[0] for number in range(chosen.k**depth)])
        return ahead - chosen.log_beta(mapping, -costs, stop)
    mapping = _mapping(explanation, chosen, [tuple(chosen.region(leaf)) for leaf in range(chosen.leaves)])
    if isinstance(chosen, GroupedLexicographic) and chosen.leaves > MOST_INTERVALS:
        runs = 1 + int(np.count_nonzero(np.diff(mapping)))
        return ahead + theory.worst_cost(chosen, arms=arms, regions=runs, dearer=dearer)
    return ahead - chosen.log_prior(mapping, -costs, None)


def _ahead(structure: Structure, chosen: Structure) -> float | None:
    """Return ln(1/prior) of the path from `structure` down to `chosen`; None if `chosen` is not below."""
    if structure is chosen:
        return 0.0
    below = (_ahead(part, chosen) for part in structure.structures)
    return next((math.log(len(structure.structures) + 1) + cost for cost in below if cost is not None), None)


def _depth(explanation: Explanation, tree: KaryTree) -> int:
    """Return the level of the smallest region."""
    (whole,) = in_users_units(tree, tree.boxes(tree.root))
    bounds = np.array([region.bounds for region in explanation.regions], dtype=np.float64)
    sizes = (np.diff(bounds, axis=2) / np.diff(np.array(whole), axis=1)).prod(axis=(1, 2))
    return min(tree.depth, math.ceil(-math.log(sizes.min()) / math.log(tree.k) - 1e-6))


def _mapping(explanation: Explanation, chosen: Structure, cells: list[Box]) -> Ints:
    """Return the arm of each cell, in order."""
    middles = np.array(in_users_units(chosen, tuple(cells)), dtype=np.float64).mean(axis=2)
    mapping = np.zeros(len(cells), dtype=np.int64)
    numbers = {arm: number for number, arm in enumerate(explanation.arms)}
    for region in explanation.regions:
        for box in region.boxes:
            low, high = np.array(box, dtype=np.float64).T
            mapping[((middles > low) & (middles < high)).all(axis=1)] = numbers[region.arm]
    return mapping
