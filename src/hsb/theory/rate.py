"""Which rate a policy learns at."""

from __future__ import annotations

import math

from ..arguments import is_number
from ..errors import InputError
from .bounds import mixture_rate


def constant_rate(prior_cost: float, *, arms: int, horizon: float | None, learning_rate: float | None) -> float | None:
    """A policy's constant rate: as given, or the best of Theorem 1 for ln(1/beta) = `prior_cost`; None where neither is given.

    >>> constant_rate(75.25, arms=3, horizon=None, learning_rate=0.02)
    0.02
    """
    if learning_rate is None:
        if horizon is None:
            return None
        # One arm on one leaf has nothing to learn, and rate 0 in Theorem 1; any other rate will do until an arm is added.
        return mixture_rate(prior_cost, arms=arms, horizon=horizon) or math.sqrt(2.0 * math.log(2.0) / horizon)
    if horizon is not None:
        raise InputError("Give horizon= or learning_rate=, not both: the horizon is only used to set the rate.")
    if not is_number(learning_rate) or not 0.0 < learning_rate <= 1e300:
        raise InputError(f"learning_rate must be a positive number; given {learning_rate!r}.")
    return float(learning_rate)
