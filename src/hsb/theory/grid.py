"""Into how many equal parts a structure divides each feature, and one structure's mapping on another's leaves."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import BudgetError
from ..quantise import halvings
from ..structures import KaryTree, OneOf, PositionSplits, Structure
from ..types import Ints

MOST_POINTS = 1 << 22


def parts(structure: Structure) -> list[int]:
    """Equal parts of each feature of the space; 1 where the structure does not look."""
    counts = [1] * structure.space.features
    own = [structure.leaves]
    if isinstance(structure, KaryTree):
        own = [structure.k**p for p in halvings(structure.depth, len(structure.features))]
    elif isinstance(structure, PositionSplits):
        own = [2**b for b in structure.bits]
    elif len(structure.features) > 1:
        own = [2**p for p in halvings(structure.leaves.bit_length() - 1, len(structure.features))]
    for feature, count in zip(structure.features, own, strict=True):
        counts[feature] = count
    return counts


def finest(structure: Structure) -> Structure:
    """The structure whose leaves are numbered: of a OneOf, the first with the most."""
    while isinstance(structure, OneOf):
        structure = max(structure.structures, key=lambda member: member.leaves)
    return structure


def carried(mapping: Ints, source: Structure, target: Structure) -> Ints | None:
    """The mapping on the leaves of `target`, or None where it is not constant on one of them.

    Both structures divide each feature into equal parts; one point is taken in every cell of the two divisions together.
    """
    source, target = finest(source), finest(target)
    middles = [_middles(a, b) for a, b in zip(parts(source), parts(target), strict=True)]
    count = math.prod(len(side) for side in middles)
    if count > MOST_POINTS:
        raise BudgetError(
            f"Comparing the leaves of {source!r} and {target!r} takes {count:,} points; the limit is {MOST_POINTS:,}. "
            "Use smaller structures for this."
        )
    points = np.stack([side.ravel() for side in np.meshgrid(*middles, indexing="ij")], axis=1)
    arms, leaves = mapping[source.leaf(points)], target.leaf(points)
    found = np.empty(target.leaves, dtype=np.int64)
    found[leaves] = arms
    return found if bool((found[leaves] == arms).all()) else None


def _middles(a: int, b: int) -> NDArray[np.float64]:
    """One point between each two neighbours among the multiples of 1/a and 1/b."""
    whole = math.lcm(a, b)
    edges = np.union1d(np.arange(a + 1) * (whole // a), np.arange(b + 1) * (whole // b))
    return (edges[:-1] + edges[1:]) / (2.0 * whole)
