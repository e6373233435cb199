"""The paper's rates and bounds as functions."""

from __future__ import annotations

import math

import numpy as np

from .errors import InputError
from .structures import Structure
from .structures.base import whole


def prior_bound(structure: Structure, *, arms: int, regions: int) -> float:
    """Theorem 2's upper bound on ln(1/beta): Psi (A_R + 1) ln((H_S + 1) M).

    >>> from hsb import BinaryTree
    >>> round(prior_bound(BinaryTree(depth=10), arms=3, regions=3), 3)
    75.254
    """
    if not isinstance(structure, Structure):
        raise InputError(f"A structure is needed, e.g. hsb.BinaryTree(depth=10); given {structure!r}.")
    arms, regions = whole("arms", arms, 1), whole("regions", regions, 1)
    splits = structure.splits(regions, arms)
    return structure.max_group * (splits + 1) * math.log((structure.max_groups + 1) * arms)


def learning_rate(structure: Structure, *, arms: int, horizon: float, regions: int | None = None) -> float:
    """Corollary 1's rate, sqrt(2 A / (M T)) with A = Psi (A_R + 1) ln((H_S + 1) M). `regions` defaults to the number of arms.

    >>> from hsb import BinaryTree
    >>> round(learning_rate(BinaryTree(depth=10), arms=3, horizon=100_000), 5)
    0.0224
    """
    _check_horizon(horizon)
    cost = prior_bound(structure, arms=arms, regions=arms if regions is None else regions)
    return math.sqrt(2.0 * cost / (arms * horizon))


def regret_bound(structure: Structure, *, arms: int, horizon: float, regions: int | None = None) -> float:
    """Corollary 1 with the right constant: at its rate, A/rate + M T rate/2 = sqrt(2 A M T).

    The paper prints sqrt(A M T / 2), half of it; the algebra is one line (`docs/errata.md`).

    >>> from hsb import BinaryTree
    >>> round(regret_bound(BinaryTree(depth=10), arms=3, horizon=100_000))
    6720
    """
    _check_horizon(horizon)
    cost = prior_bound(structure, arms=arms, regions=arms if regions is None else regions)
    return math.sqrt(2.0 * cost * arms * horizon)


def _check_horizon(horizon: float) -> None:
    if (
        isinstance(horizon, bool)
        or not isinstance(horizon, int | float | np.integer | np.floating)
        or not 1 <= horizon < math.inf
    ):
        raise InputError(f"horizon must be a number of rounds, at least 1; given {horizon!r}.")
