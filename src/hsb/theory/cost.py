"""Prior costs of mappings in Theorem 1: exact, not Theorem 2's bound; and of mappings that change."""

import math
from collections.abc import Sequence

import numpy as np

from .. import reproducible_math
from ..checks import is_number, stop_prior, whole
from ..errors import InputError, quoted
from ..structures import Structure
from ..structures.base import spelled
from ..types import Ints
from .checks import check_at_least_zero, check_structure

Plays = Sequence[int] | Ints  # the arm of each leaf in order


def prior_cost(structure: Structure, mapping: Plays, *, arms: int, stop: float | None = None) -> float:
    """ln(1/beta), exactly: what Theorem 1 charges for `mapping`, the arm (0 .. `arms` - 1) of each leaf in order.

    Appendix B's prior, summed over every way in which the structure represents the mapping g:
    beta_i = [1{g constant on r_i}/M + sum over groups of prod beta_j] / (|Phi_i| + 1) at node i, and beta is the root's.
    With a tree's `stop` prior q it is q 1{g constant on r_i}/M + (1-q) prod beta_j; a leaf always stops. All in logarithms: nothing
    underflows. Infinite where the structure cannot represent the mapping, as a Hierarchy with a node of several leaves and no groups.
    Never more than Psi (A+1) ln((H_S+1) M) with A the fewest splits that represent the mapping (Theorem 2).

    Time: trees O(N); intervals O(K N^3), a few seconds at 1000 leaves and 2 groups; boxes O(boxes * features); sets O(3^N).

    A OneOf takes the mapping on the leaves of its finest structure (the first with the most leaves: those that `leaf_of` numbers). Each
    other structure, on whatever features, represents it only if it is constant on each of its leaves, and adds nothing
    otherwise. Mappings that only the others can represent cannot be written like this, so this function cannot give their cost.

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
    return max(0.0, -structure.log_prior(leaves, np.full(arms, -reproducible_math.ln(arms)), stop))


def tracking_cost(
    structure: Structure, mappings: Sequence[Plays], *, arms: int, drift: float, rounds: float, stop: float | None = None
) -> float:
    """An upper bound on ln(1/beta) for `mappings`, each an arm for every leaf, used one after the other over `rounds` rounds with a loss.

    In `HSB(drift=s)` the arm of a part of the space is a Markov chain, one step for each round with a loss there: it stays with probability
    q = 1 - s + s/M and goes to each other arm with s/M. A way of splitting on whose parts all the mappings are constant, with c changes of the
    arms of its parts in all, weighs at least its prior times (s/(qM))^c q^(rounds - 1), whenever the changes come. So this is `prior_cost` with
    (1/M) (s/(qM))^changes in place of 1/M, summed over all ways. A change of the arm of one part adds about ln(M/s).

    `stop` is as in `prior_cost`. Exact on a single leaf if every mapping is in use in a round with a loss. With one mapping and s = 0 it is
    `prior_cost`; infinite if there are changes and s = 0. Put it into `mixture_bound` for the regret against the sequence (`docs/proofs.md`,
    3).

    >>> from hsb import BinaryTree, theory
    >>> tree, before, after = BinaryTree(depth=2), [0, 0, 0, 1], [1, 0, 0, 1]
    >>> round(tracking_cost(tree, [before, after], arms=2, drift=1e-3, rounds=1000), 2), round(theory.prior_cost(tree, before, arms=2), 2)
    (12.95, 3.75)
    """
    check_structure(structure)
    stop, arms = stop_prior(stop), whole("arms", arms, 1)
    if not is_number(drift) or not 0.0 <= drift <= 0.5:
        raise InputError(f"drift must be a share of weight in [0, 0.5], as given to HSB(drift=...); given {quoted(drift)}.")
    check_at_least_zero("rounds", rounds)
    if rounds == math.inf:
        raise InputError("rounds must be a number of rounds, not infinity: sharing costs something in each of them.")
    symbols, changes = _columns(structure, mappings, arms)
    log_stay = reproducible_math.log1p(-drift * (1.0 - 1.0 / arms))
    move = reproducible_math.ln(drift) - reproducible_math.ln(arms) - log_stay
    values = np.full(len(changes), -reproducible_math.ln(arms))
    values[changes > 0] += changes[changes > 0] * move
    return max(0.0, -structure.log_prior(symbols, values, stop)) - max(0.0, rounds - 1.0) * log_stay


def _columns(structure: Structure, mappings: Sequence[Plays], arms: int) -> tuple[Ints, Ints]:
    """The leaves' symbols, one for each sequence of arms that a leaf has over time, and how often the arm changes in each."""
    if not isinstance(mappings, Sequence | np.ndarray) or isinstance(mappings, str | bytes) or not len(mappings):
        raise InputError(
            f"mappings must be a list of mappings, at least one, in the order of their use; given {quoted(mappings)}."
        )
    table = np.stack([checked_mapping(structure, mapping, arms) for mapping in mappings])
    sequences, symbols = np.unique(table, axis=1, return_inverse=True)
    return symbols.ravel(), np.count_nonzero(np.diff(sequences, axis=0), axis=0)


def checked_mapping(structure: Structure, mapping: Plays, arms: int) -> Ints:
    """The arm of each leaf, as an array."""
    try:
        plays = np.asarray(mapping)
    except (ValueError, MemoryError):
        plays = np.empty((0, 0))
    if plays.dtype.kind not in "iu" or plays.shape != (structure.leaves,) or not (plays.min() >= 0 and plays.max() < arms):
        raise InputError(
            f"mapping must be the arm, a whole number in 0 .. {arms - 1}, of each of the {spelled(structure.leaves)} leaves in order; "
            f"given {plays.dtype} of shape {plays.shape}{f' up to {plays.max()}' if plays.dtype.kind in 'iu' and plays.size else ''}."
        )
    return plays.astype(np.int64)
