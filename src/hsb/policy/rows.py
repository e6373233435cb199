"""Arguments that have a row for each round: how many rows there are, and what is wrong with them."""

from collections.abc import Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import BudgetError, InputError, quoted
from ..types import Floats

MOST = 10**10  # rows of a table


def rows_of(contexts: Any) -> int:
    """How many contexts a table has, for policies that do not look at them.

    >>> rows_of([None, "anything"])
    2
    """
    if (
        not isinstance(contexts, Sized)
        or isinstance(contexts, str | bytes | Mapping | set | frozenset)
        or getattr(contexts, "shape", None) == ()
    ):
        raise InputError(f"A table of contexts is needed, one row a round; given {quoted(contexts)}.")
    if len(contexts) > MOST:
        raise BudgetError(f"A table of contexts may have {MOST:,} rows at most; given {quoted(contexts)}.")
    return len(contexts)


def losses_or_rewards(who: str, losses: ArrayLike | None, rewards: ArrayLike | None) -> tuple[str, ArrayLike]:
    """Which of the two tables is given, by name, and the table."""
    if (losses is None) == (rewards is None):
        raise InputError(f"{who} needs losses or rewards=, exactly one; given {'neither' if losses is None else 'both'}.")
    return ("losses", losses) if losses is not None else ("rewards", rewards)  # type: ignore[return-value]


def check_shape(name: str, table: Floats, needed: tuple[int, int]) -> None:
    """Refuse a table of another shape."""
    if table.shape != needed:
        raise InputError(f"{name} needs shape {needed}, a row per context and a column per arm; given {table.shape}.")


def distribution_of(given: ArrayLike, arms: int, who: str) -> Floats:
    """A distribution over arms that a user's code gave, checked; it need not add to 1 exactly.

    >>> distribution_of([1, 3], 2, "mine")
    array([0.25, 0.75])
    """
    try:
        p = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.empty(0)
    if p.shape != (arms,) or not (p >= 0.0).all() or not 0.0 < p.sum() < np.inf:
        raise InputError(f"{who} must give {arms} numbers of at least 0, one for each arm, not all 0; it gave {quoted(given)}.")
    return np.asarray(p / p.sum())
