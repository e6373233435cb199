"""How much memory may be taken for what a file asks for: in proportion to the file itself."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..errors import BudgetError


class _Budget:
    """Words of eight bytes that may still be taken."""

    __slots__ = ("left",)

    def __init__(self, words: float) -> None:
        self.left = words


_budget: ContextVar[_Budget] = ContextVar("hsb_budget", default=_Budget(math.inf))  # noqa: B039  # infinity stays what it is


@contextmanager
def limited(words: float) -> Iterator[None]:
    """Within the block, all that `afford` is asked for may come to no more than that many words of eight bytes, all together.

    A block within another spends from both.

    >>> with limited(1000):
    ...     afford(600)
    ...     try:
    ...         afford(600)
    ...     except BudgetError:
    ...         print("no more than 1000")
    no more than 1000
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
    """Spend memory, before it is taken; what is out of proportion to the file that asks for it is refused. Outside `limited`, nothing is."""
    budget = _budget.get()
    if words > budget.left:
        raise BudgetError(
            f"what it describes needs {words * 8 / 2**20:,.0f} MB more, and the file is too small to hold so much"
        )
    budget.left -= words
