"""Theorems 3 and 4: what is lost by being constant on each leaf."""

import math

from ..checks import whole
from ..structures import Structure
from .bounds import regret_bound
from .checks import check_at_least_zero


def quantisation_gap(leaves: int, features: int, lipschitz: float) -> float:
    """Theorem 3: the best mapping of N leaves loses at most 2 c sqrt(n) / N^(1/n) a round more than the best of all mappings.

    N is `leaves`, n is `features`, how many there are, and c is `lipschitz`. It needs an assumption that the paper denies: the expected loss of
    each arm is one fixed function of the context, Lipschitz with constant c on the unit cube of n features. If losses may change from round to
    round, no such bound holds (`docs/errata.md`). Proof: give each cell the arm that is best at its middle. Both that arm's loss and the best
    arm's change by at most c d/2 from the middle to any point of the cell, so the gap is at most c d, where d is the cell's diagonal; Section
    V's cells have d <= 2 sqrt(n) / N^(1/n).

    >>> round(quantisation_gap(1024, 2, 3.0), 3)
    0.265
    """
    leaves, features = whole("leaves", leaves, 1), whole("features", features, 1)
    check_at_least_zero("lipschitz", lipschitz)
    return float(2.0 * lipschitz * math.sqrt(features) / leaves ** (1.0 / features))


def policy_bound(structure: Structure, *, arms: int, horizon: float, lipschitz: float, regions: int | None = None) -> float:
    """Theorem 4 with the right constant: the regret against the best of all mappings is at most sqrt(2 A M T) + T c d.

    c is `lipschitz`, A is `prior_bound`, M is `arms`, T is `horizon`. It needs Theorem 3's assumption (`quantisation_gap`), with distances
    measured in features scaled to [0, 1]. d is the diagonal of
    this structure's own cells, a feature that it does not look at counting as 1: at most the 2 sqrt(n) / N^(1/n) of the paper for
    Section V's quantiser, and right for the others too. On numbered cells nothing is lost. `regions` counts, along the numbered leaves,
    the best mapping as the cells' middles see it; on one feature that is no more than it has intervals.

    >>> from hsb import BinaryTree
    >>> round(policy_bound(BinaryTree(depth=20), arms=3, horizon=100_000, lipschitz=3.0), 1)
    9389.4
    """
    check_at_least_zero("lipschitz", lipschitz)
    bound = regret_bound(structure, arms=arms, horizon=horizon, regions=regions)
    return bound + horizon * lipschitz * structure.diagonal()
