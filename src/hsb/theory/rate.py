"""Which rate a policy learns at."""

from __future__ import annotations

import math

from ..arguments import is_number
from ..errors import InputError
from ..structures import Structure
from .bounds import learning_rate as corollary_rate
from .bounds import prior_bound


def constant_rate(
    structure: Structure, arms: int, horizon: float | None, regions: int | None, learning_rate: float | None
) -> float | None:
    """A policy's constant rate: as given, or Corollary 1's for the horizon; None where neither is given.

    >>> from hsb import BinaryTree
    >>> constant_rate(BinaryTree(depth=10), 3, None, None, 0.02)
    0.02
    """
    if regions is not None:
        prior_bound(structure, arms=arms, regions=regions)
    if learning_rate is None:
        if horizon is None:
            return None
        # One arm on one leaf has nothing to learn, and rate 0 in Corollary 1; any other rate will do until an arm is added.
        return corollary_rate(structure, arms=arms, horizon=horizon, regions=regions) or math.sqrt(
            2.0 * math.log(2.0) / horizon
        )
    if horizon is not None:
        raise InputError("Give horizon= or learning_rate=, not both: the horizon is only used to set the rate.")
    if not is_number(learning_rate) or not 0.0 < learning_rate <= 1e300:
        raise InputError(f"learning_rate must be a positive number; given {learning_rate!r}.")
    return float(learning_rate)
