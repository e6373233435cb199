"""What Theorem 1 charges for a mapping that changes, when weights are shared (fixed share, `HSB(drift=...)`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arguments import is_number, stop_prior, whole
from ..errors import InputError
from ..structures import Structure
from ..structures.logarithms import log_of
from ..types import Ints
from .checks import check_at_least_zero, check_structure
from .cost import checked_mapping


def tracking_cost(
    structure: Structure,
    mappings: Sequence[Sequence[int] | Ints],
    *,
    arms: int,
    drift: float,
    rounds: float,
    stop: float | None = None,
) -> float:
    """An upper bound on ln(1/beta) for `mappings`, each an arm for every leaf, used one after the other over `rounds` rounds with a loss.

    In `HSB(drift=s)` the arm of a part of the space is a Markov chain, one step for each round with a loss there: it stays with probability
    q = 1 - s + s/M and goes to each other arm with s/M. A way of splitting on whose parts all the mappings are constant, with c changes of the
    arms of its parts in all, weighs at least its prior times (s/(qM))^c q^(rounds - 1), whenever the changes come. So this is `prior_cost` with
    (1/M) (s/(qM))^changes in place of 1/M, summed over all ways. A change of the arm of one part adds about ln(M/s).

    Exact on a single leaf if every mapping is in use in a round with a loss. With one mapping and s = 0 it is `prior_cost`; infinite where
    there are changes and s = 0. Put it into `mixture_bound` for the regret against the sequence (`docs/proofs.md`, 2).

    >>> from hsb import BinaryTree, theory
    >>> tree, before, after = BinaryTree(depth=2), [0, 0, 0, 1], [1, 0, 0, 1]
    >>> round(tracking_cost(tree, [before, after], arms=2, drift=1e-3, rounds=1000), 2), round(theory.prior_cost(tree, before, arms=2), 2)
    (12.95, 3.75)
    """
    check_structure(structure)
    stop, arms = stop_prior(stop), whole("arms", arms, 1)
    if not is_number(drift) or not 0.0 <= drift <= 0.5:
        raise InputError(f"drift must be a share of weight in [0, 0.5], as given to HSB(drift=...); given {drift!r}.")
    check_at_least_zero("rounds", rounds)
    if rounds == math.inf:
        raise InputError("rounds must be a number of rounds, not infinity: sharing costs something in each of them.")
    symbols, changes = _columns(structure, mappings, arms)
    log_stay = math.log1p(-drift * (1.0 - 1.0 / arms))
    move = float(log_of(drift)) - math.log(arms) - log_stay
    values = np.full(len(changes), -math.log(arms))
    values[changes > 0] += changes[changes > 0] * move
    return max(0.0, -structure.log_prior(symbols, values, stop)) - max(0.0, rounds - 1.0) * log_stay


def _columns(structure: Structure, mappings: Sequence[Sequence[int] | Ints], arms: int) -> tuple[Ints, Ints]:
    """The leaves' symbols, one for each sequence of arms that a leaf has over time, and how often the arm changes in each."""
    if not isinstance(mappings, Sequence | np.ndarray) or isinstance(mappings, str | bytes) or not len(mappings):
        raise InputError(f"mappings must be a list of mappings, at least one, in the order of their use; given {mappings!r}.")
    table = np.stack([checked_mapping(structure, mapping, arms) for mapping in mappings])
    sequences, symbols = np.unique(table, axis=1, return_inverse=True)
    return symbols.ravel(), np.count_nonzero(np.diff(sequences, axis=0), axis=0)
