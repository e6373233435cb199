"""What Theorem 1 charges for an explanation: ln(1/beta) of the mapping that it describes."""

from __future__ import annotations

import math

import numpy as np

from .. import theory
from ..structures import GroupedLexicographic, KaryTree, OneOf, Structure
from .result import Explanation

MOST_LEAVES = 1 << 16  # beyond, a tree's mapping is not written out leaf by leaf
MOST_INTERVALS = 200  # the exact recursion takes O(N^3)


def price(found: Explanation, *, stop: float | None) -> float:
    """ln(1/beta) of the mapping: exact where its leaves can be written out in reasonable time, otherwise an upper bound on it.

    A deep tree is charged for the one way of splitting that the explanation shows; long lexicographic structures are charged Theorem 2's
    bound for as many regions; under `OneOf` the chosen structure pays ln(K+1) for being chosen.

    >>> import hsb
    >>> tree = hsb.BinaryTree(depth=2)
    >>> found = hsb.HSB(tree, arms=2, learning_rate=0.1).explain()
    >>> price(found, stop=None) == hsb.theory.prior_cost(tree, [0, 0, 0, 0], arms=2)
    True
    """
    arms, chosen = len(found.arms), found.chosen
    ahead = _chosen_among(found.structure, chosen)
    if isinstance(chosen, OneOf):  # one arm everywhere
        return ahead + math.log(len(chosen.structures) + 1) + math.log(arms)
    stop = stop if chosen.takes_stop else None
    if isinstance(chosen, KaryTree) and chosen.leaves > MOST_LEAVES:
        return ahead + _one_way(found, chosen, 0.5 if stop is None else stop)
    mapping = _leaves(found, chosen)
    if isinstance(chosen, GroupedLexicographic) and chosen.leaves > MOST_INTERVALS:
        runs = 1 + int(np.count_nonzero(np.diff(mapping)))
        return ahead + theory.prior_bound(chosen, arms=arms, regions=runs)
    return ahead + theory.prior_cost(chosen, mapping, arms=arms, stop=stop)


def _chosen_among(structure: Structure, chosen: Structure) -> float:
    """ln(1/prior) of going down to the chosen structure."""
    if structure is chosen or not isinstance(structure, OneOf):
        return 0.0
    below = [_chosen_among(part, chosen) for part in structure.structures if _holds(part, chosen)]
    return math.log(len(structure.structures) + 1) + below[0]


def _holds(structure: Structure, chosen: Structure) -> bool:
    if structure is chosen:
        return True
    return isinstance(structure, OneOf) and any(_holds(part, chosen) for part in structure.structures)


def _one_way(found: Explanation, tree: KaryTree, q: float) -> float:
    """The way of splitting that the regions show: each is a node of the tree, a leaf where its box is as small as a leaf's."""
    splits = (len(found.regions) - 1) // (tree.k - 1)
    smallest = math.prod(high - low for low, high in tree.region(0))
    cost = -splits * math.log1p(-q)
    for region in found.regions:
        size = math.prod(_fractions(tree, region.bounds))
        if size > smallest * 1.5:
            cost += math.inf if q == 0.0 else -math.log(q)
        cost += math.log(len(found.arms))
    return cost


def _fractions(structure: Structure, bounds: tuple[tuple[float, float], ...]) -> list[float]:
    """How much of each feature that the structure looks at a box takes."""
    sides = []
    for feature in structure.features:
        low, high = structure.space.bounds(feature, 0.0, 1.0)
        sides.append((bounds[feature][1] - bounds[feature][0]) / (high - low))
    return sides


def _leaves(found: Explanation, structure: Structure) -> np.ndarray:
    """The arm of each leaf, in order."""
    space = structure.space
    middles = np.empty((structure.leaves, space.features))
    for feature in range(space.features):
        middles[:, feature] = sum(space.bounds(feature, 0.0, 1.0)) / 2.0
    for leaf in range(structure.leaves):
        for feature, (start, end) in zip(structure.features, structure.region(leaf), strict=True):
            middles[leaf, feature] = sum(space.bounds(feature, start, end)) / 2.0
    mapping = np.zeros(structure.leaves, dtype=np.int64)
    numbers = {arm: number for number, arm in enumerate(found.arms)}
    for region in found.regions:
        for box in region.boxes:
            low, high = np.array(box).T
            mapping[((middles > low) & (middles < high)).all(axis=1)] = numbers[region.arm]
    return mapping
