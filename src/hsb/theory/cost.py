"""The exact prior cost of a mapping: not Theorem 2's bound on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arguments import stop_prior, whole
from ..errors import InputError
from ..structures import ArbitrarySplits, GroupedLexicographic, Hierarchy, KaryTree, OneOf, PositionSplits, Structure
from ..structures.base import no_stop, spelled
from ..types import Floats, Ints
from .checks import check_structure
from .cost_boxes import boxes
from .cost_graphs import hierarchy, subsets
from .cost_intervals import intervals
from .cost_trees import tree
from .grid import carried, finest
from .logs import NEVER, log, log_sum


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
    return max(0.0, -log_prior(structure, leaves, structure, np.full(arms, -log(arms)), stop))


def checked_mapping(structure: Structure, mapping: Sequence[int] | Ints, arms: int) -> Ints:
    """The arm of each leaf, as an array."""
    try:
        found = np.asarray(mapping)
    except ValueError:
        found = np.empty((0, 0))
    if found.dtype.kind not in "iu" or found.shape != (structure.leaves,) or not (found.min() >= 0 and found.max() < arms):
        raise InputError(
            f"mapping must be the arm, a whole number in 0 .. {arms - 1}, of each of the {spelled(structure.leaves)} leaves in order; "
            f"given {found.dtype} of shape {found.shape}{f' up to {found.max()}' if found.dtype.kind in 'iu' and found.size else ''}."
        )
    return found.astype(np.int64)


def log_prior(structure: Structure, symbols: Ints, source: Structure, values: Floats, stop: float | None) -> float:
    """ln beta at the root of `structure`, where each leaf of `source` has a symbol, a number in 0 .. len(values)-1.

    A node all of whose leaves have symbol k may stop there, and `values[k]` is the ln of what that weighs, its stop prior apart. For a
    mapping the symbols are arms, and each has the value -ln M; `tracking.py` has others.
    """
    if isinstance(structure, OneOf):
        terms = [log_prior(member, symbols, source, values, stop) for member in structure.structures]
        terms.append(float(values[symbols[0]]) if (symbols == symbols[0]).all() else NEVER)
        return float(log_sum(np.array(terms))) - log(len(terms))
    if not isinstance(structure, KaryTree):
        no_stop(structure, stop)
    own = symbols if structure is finest(source) else carried(symbols, source, structure)
    if own is None:
        return NEVER
    match structure:
        case KaryTree():
            return tree(own, structure.k, structure.depth, values, 0.5 if stop is None else float(stop))
        case GroupedLexicographic():
            return intervals(own, structure.groups, values)
        case PositionSplits():
            return boxes(own, structure.bits, values)
        case ArbitrarySplits():
            return subsets(own, values)
        case Hierarchy():
            return hierarchy(own, structure.nodes, structure.root, values)
    raise InputError(f"The prior cost of a {type(structure).__name__} is not known; write it as an hsb.Hierarchy.")
