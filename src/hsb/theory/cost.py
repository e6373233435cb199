"""The exact prior cost of a mapping: not Theorem 2's bound on it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arguments import stop_prior, whole
from ..errors import InputError
from ..structures import Structure
from ..structures.base import spelled
from ..types import Ints
from .checks import check_structure


def prior_cost(structure: Structure, mapping: Sequence[int] | Ints, *, arms: int, stop: float | None = None) -> float:
    """ln(1/beta), exactly: what Theorem 1 charges for `mapping`, the arm (0 .. arms-1) of each leaf in order.

    Appendix B's prior, summed over every way in which the structure represents the mapping g:
    beta_i = [1{g constant on r_i}/M + sum over groups of prod beta_j] / (|Phi_i| + 1) at node i, and beta is the root's.
    With a tree's `stop` prior q it is q 1{g constant on r_i}/M + (1-q) prod beta_j; a leaf always stops. All in logarithms: nothing
    underflows. Infinite where the structure cannot represent the mapping, as a Hierarchy with a node of several leaves and no groups.
    Never more than Psi (A+1) ln((H_S+1) M) with A the fewest splits that represent the mapping (Theorem 2).

    Time: trees O(N); intervals O(K N^3), a few seconds at 1000 leaves and 2 groups; boxes O(boxes * features); sets O(3^N).

    A OneOf takes the mapping on the leaves of its finest structure (the first with the most leaves: those that `leaf_of` numbers). Each
    other structure, on whatever features, represents it only if it is constant on each of its own leaves, and adds nothing
    otherwise. Mappings that only the others can represent cannot be written like this, so their cost cannot be asked for.

    >>> from hsb import BinaryTree, theory
    >>> tree = BinaryTree(depth=10)
    >>> mapping = [2] * 512 + [0] * 428 + [1] * 84
    >>> round(prior_cost(tree, mapping, arms=3), 2), round(theory.prior_bound(tree, arms=3, regions=3), 2)
    (20.71, 75.25)
    """
    check_structure(structure)
    stop = stop_prior(stop)
    arms = whole("arms", arms, 1)
    leaves = checked_mapping(structure, mapping, arms)
    return max(0.0, -structure.log_prior(leaves, np.full(arms, -math.log(arms)), stop))


def checked_mapping(structure: Structure, mapping: Sequence[int] | Ints, arms: int) -> Ints:
    """The arm of each leaf, as an array."""
    try:
        plays = np.asarray(mapping)
    except ValueError:
        plays = np.empty((0, 0))
    if plays.dtype.kind not in "iu" or plays.shape != (structure.leaves,) or not (plays.min() >= 0 and plays.max() < arms):
        raise InputError(
            f"mapping must be the arm, a whole number in 0 .. {arms - 1}, of each of the {spelled(structure.leaves)} leaves in order; "
            f"given {plays.dtype} of shape {plays.shape}{f' up to {plays.max()}' if plays.dtype.kind in 'iu' and plays.size else ''}."
        )
    return plays.astype(np.int64)
