"""How much memory may be taken for what a file asks for: in proportion to the file itself."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..errors import BudgetError

_words: ContextVar[float] = ContextVar("hsb_words", default=math.inf)


@contextmanager
def limited(words: float) -> Iterator[None]:
    """Within the block, `afford` refuses more than so many words of eight bytes.

    >>> with limited(1000):
    ...     afford(10)
    """
    before = _words.set(words)
    try:
        yield
    finally:
        _words.reset(before)


def afford(words: float) -> None:
    """Refuse, before it is taken, memory that is out of all proportion to the file that asks for it; outside `limited`, nothing is."""
    if words > _words.get():
        raise BudgetError(f"what it describes needs {words * 8 / 2**20:,.0f} MB, and the file is too small to hold so much")
