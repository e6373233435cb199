"""What Theorem 1 charges for an explanation: ln(1/beta) of the mapping that it describes."""

from __future__ import annotations

import math

import numpy as np

from .. import theory
from ..structures import GroupedLexicographic, KaryTree, Structure
from .result import Explanation

MOST_LEAVES = 1 << 16  # beyond, a tree's mapping is not written out leaf by leaf
MOST_INTERVALS = 200  # the exact recursion takes O(N^3)


def price(found: Explanation, *, stop: float | None) -> float:
    """ln(1/beta) of the mapping: exact where its leaves can be written out in reasonable time, otherwise an upper bound on it.

    Long lexicographic structures, and trees split very deep, are charged Theorem 2's bound for as many regions; under `OneOf` the
    chosen structure pays ln(K+1) for being chosen.

    >>> import hsb
    >>> tree = hsb.BinaryTree(depth=2)
    >>> found = hsb.HSB(tree, arms=2, learning_rate=0.1).explain()
    >>> price(found, stop=None) == hsb.theory.prior_cost(tree, [0, 0, 0, 0], arms=2)
    True
    """
    arms, chosen = len(found.arms), found.chosen
    ahead = _ahead(found.structure, chosen) or 0.0
    if chosen.structures:  # one arm everywhere
        return ahead + math.log(len(chosen.structures) + 1) + math.log(arms)
    stop = stop if chosen.takes_stop else None
    if isinstance(chosen, KaryTree) and chosen.leaves > MOST_LEAVES:
        return ahead + _deep(found, chosen, stop)
    mapping = _leaves(found, chosen)
    if isinstance(chosen, GroupedLexicographic) and chosen.leaves > MOST_INTERVALS:
        runs = 1 + int(np.count_nonzero(np.diff(mapping)))
        return ahead + theory.prior_bound(chosen, arms=arms, regions=runs)
    return ahead + theory.prior_cost(chosen, mapping, arms=arms, stop=stop)


def _ahead(structure: Structure, chosen: Structure) -> float | None:
    """ln(1/prior) of going down to the chosen structure; None where that is not below."""
    if structure is chosen:
        return 0.0
    below = (_ahead(part, chosen) for part in structure.structures)
    return next((math.log(len(structure.structures) + 1) + cost for cost in below if cost is not None), None)


def _deep(found: Explanation, tree: KaryTree, stop: float | None) -> float:
    """A tree with too many leaves to write out: only down to the smallest region. What lies below it has one arm."""
    arms = len(found.arms)
    smallest = min(math.prod(_fractions(tree, region.bounds)) for region in found.regions)
    depth = min(tree.depth, math.ceil(-math.log(smallest) / math.log(tree.k) - 1e-6))
    if tree.k**depth > MOST_LEAVES:
        return theory.prior_bound(tree, arms=arms, regions=len(found.regions))
    mapping = _leaves(found, KaryTree(k=tree.k, depth=depth, space=tree.space, features=tree.features))
    return -tree.log_beta(mapping, np.full(arms, -math.log(arms)), stop)


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
