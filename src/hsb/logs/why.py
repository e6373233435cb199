"""Why rows of a log cannot be used."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..types import Ints


class Why:
    """Of each row the first reason not to use it, if there is one.

    >>> why = Why(3)
    >>> why.note(np.array([False, True, True]), "it is late")
    >>> why.note(np.array([True, True, False]), "it is odd")
    >>> why.good, list(why)
    (array([False, False, False]), [(0, 'it is odd'), (1, 'it is late'), (2, 'it is late')])
    """

    def __init__(self, rows: int) -> None:
        self.number: Ints = np.zeros(rows, dtype=np.int64)  # of the reason; 0: none
        self.reasons: list[str] = [""]

    def note(self, bad: NDArray[np.bool_], reason: str) -> None:
        """Keep the reason of rows that have none yet."""
        new = bad & (self.number == 0)
        if new.any():
            self.number[new] = self._of(reason)

    def set(self, row: int, reason: str) -> None:
        """`note` of one row."""
        if not self.number[row]:
            self.number[row] = self._of(reason)

    @property
    def good(self) -> NDArray[np.bool_]:
        """Which rows have no reason."""
        return np.asarray(self.number == 0)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """The rows that have a reason, in order, and it."""
        for row in np.flatnonzero(self.number).tolist():
            yield row, self.reasons[self.number[row]]

    def _of(self, reason: str) -> int:
        if reason not in self.reasons:
            self.reasons.append(reason)
        return self.reasons.index(reason)
