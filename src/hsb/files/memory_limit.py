"""A limit on the memory that a file's contents may take, in proportion to the file's size."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..errors import BudgetError


class _Budget:
    """Words of eight bytes still available."""

    __slots__ = ("left",)

    def __init__(self, words: float) -> None:
        self.left = words


_budget: ContextVar[_Budget] = ContextVar("hsb_budget", default=_Budget(math.inf))  # noqa: B039  # infinity stays what it is


@contextmanager
def limited(words: float) -> Iterator[None]:
    """Limit the total of all `afford` calls within the block to `words` words of eight bytes. A nested block spends from both.

    >>> with limited(1000):
    ...     afford(600)
    ...     try:
    ...         afford(600)
    ...     except BudgetError:
    ...         print("at most 1000")
    at most 1000
    """
    outer = _budget.get()
    begun = min(words, outer.left)
    inner = _Budget(begun)
    token = _budget.set(inner)
    try:
        yield
    finally:
        _budget.reset(token)
        outer.left -= begun - inner.left


def afford(words: float) -> None:
    """Reserve `words` words of eight bytes before allocating them; BudgetError beyond the limit. Outside `limited` there is no limit."""
    budget = _budget.get()
    if words > budget.left:
        raise BudgetError(f"its contents need {words * 8 / 2**20:,.0f} MB more, out of proportion to the size of the file")
    budget.left -= words
