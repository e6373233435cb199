"""Checks of arguments that have a row for each round."""

from collections.abc import Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import BudgetError, InputError, quoted
from ..types import Floats

MOST = 10**10  # rows of a table


def rows_of(contexts: Any) -> int:
    """Return the number of contexts in a table, for policies that ignore contexts.

    >>> rows_of([None, "anything"])
    2
    """
    if (
        not isinstance(contexts, Sized)
        or isinstance(contexts, str | bytes | Mapping | set | frozenset)
        or getattr(contexts, "shape", None) == ()
    ):
        raise InputError(f"Contexts must be a table with a row for each round; given {quoted(contexts)}.")
    if len(contexts) > MOST:
        raise BudgetError(f"A table of contexts may have at most {MOST:,} rows; given {quoted(contexts)}.")
    return len(contexts)


def losses_or_rewards(who: str, losses: ArrayLike | None, rewards: ArrayLike | None) -> tuple[str, ArrayLike]:
    """Return the name and the table of the one that is given; InputError unless it is exactly one."""
    if (losses is None) == (rewards is None):
        raise InputError(f"{who} needs losses or rewards=, exactly one; given {'neither' if losses is None else 'both'}.")
    return ("losses", losses) if losses is not None else ("rewards", rewards)  # type: ignore[return-value]


def check_shape(name: str, table: Floats, needed: tuple[int, int]) -> None:
    """Raise InputError if a table has another shape than needed."""
    if table.shape != needed:
        raise InputError(f"{name} needs shape {needed}, a row per context and a column per arm; given {table.shape}.")


def distribution_of(values: ArrayLike, arms: int, who: str) -> Floats:
    """Check a distribution over arms that a user's code returned, and divide it by its sum.

    >>> distribution_of([1, 3], 2, "mine")
    array([0.25, 0.75])
    """
    try:
        p = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.empty(0)
    if p.shape != (arms,) or not (p >= 0.0).all() or not 0.0 < p.sum() < np.inf:
        raise InputError(
            f"{who} must return {arms} numbers of at least 0, one for each arm, not all 0; it returned {quoted(values)}."
        )
    return np.asarray(p / p.sum())
