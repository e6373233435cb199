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

    Long lexicographic structures, and trees split very deep, are charged Theorem 2's bound for as many regions; under `OneOf` the
    chosen structure pays ln(K+1) for being chosen.

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
        return ahead + _deep(found, chosen, 0.5 if stop is None else stop)
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


def _deep(found: Explanation, tree: KaryTree, q: float) -> float:
    """A tree with too many leaves to write out: only down to the smallest region. What lies below it has one arm."""
    smallest = min(math.prod(_fractions(tree, region.bounds)) for region in found.regions)
    depth = min(tree.depth, math.ceil(-math.log(smallest) / math.log(tree.k) - 1e-6))
    if tree.k**depth > MOST_LEAVES:
        return theory.prior_bound(tree, arms=len(found.arms), regions=len(found.regions))
    constant = -math.log(len(found.arms))
    log_q = math.log(q) if q > 0.0 else -math.inf
    bottom = constant  # ln beta of one arm on a node: at a leaf, then level by level up to the smallest region
    for _ in range(tree.depth - depth):
        bottom = float(np.logaddexp(log_q + constant, math.log1p(-q) + tree.k * bottom))
    arm = _leaves(found, KaryTree(k=tree.k, depth=depth, space=tree.space, features=tree.features))
    log_beta = np.full(len(arm), bottom)
    same = np.ones(len(arm), dtype=bool)
    for _ in range(depth):
        arms = arm.reshape(-1, tree.k)
        same = same.reshape(-1, tree.k).all(axis=1) & (arms == arms[:, :1]).all(axis=1)
        stay = np.where(same, log_q + constant, -math.inf)
        log_beta = np.logaddexp(stay, math.log1p(-q) + log_beta.reshape(-1, tree.k).sum(axis=1))
        arm = arms[:, 0]
    return -float(log_beta[0])


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
