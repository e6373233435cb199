"""One structure's mapping on another's leaves: both divide each feature into equal parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BudgetError, quoted
from ..types import Floats, Ints

if TYPE_CHECKING:
    from .base import Structure

MOST_POINTS = 1 << 22


def parts(structure: Structure) -> list[int]:
    """Return the number of equal parts of each feature of the space; 1 for unused features."""
    counts = [1] * structure.space.features
    for feature, count in zip(structure.features, structure.divisions(), strict=True):
        counts[feature] = count
    return counts


def carried(mapping: Ints, source: Structure, target: Structure) -> Ints | None:
    """Return the mapping on the leaves of `target`, or None if it is not constant on one of them.

    Reads one point in every cell of the common refinement.
    """
    middles = [_middles(a, b) for a, b in zip(parts(source), parts(target), strict=True)]
    count = math.prod(len(side) for side in middles)
    if count > MOST_POINTS:
        raise BudgetError(
            f"Comparing the leaves of {quoted(source)} and {quoted(target)} takes {count:,} points; the limit is {MOST_POINTS:,}. "
            "Use smaller structures for this."
        )
    points = np.stack([side.ravel() for side in np.meshgrid(*middles, indexing="ij")], axis=1)
    arms, leaves = mapping[source.leaf(points)], target.leaf(points)
    on_target = np.empty(target.leaves, dtype=np.int64)
    on_target[leaves] = arms
    return on_target if bool((on_target[leaves] == arms).all()) else None


def _middles(a: int, b: int) -> Floats:
    """Return a point between each two neighbours among the multiples of 1/a and 1/b."""
    whole = math.lcm(a, b)
    edges = np.union1d(np.arange(a + 1) * (whole // a), np.arange(b + 1) * (whole // b))
    return np.asarray((edges[:-1] + edges[1:]) / (2.0 * whole))
