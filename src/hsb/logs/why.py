"""Why rows of a log cannot be used."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..types import Ints


class Why:
    """The first problem of each row of a log, if any.

    >>> why = Why(3)
    >>> why.note(np.array([False, True, True]), "it is late")
    >>> why.note(np.array([True, True, False]), "it is odd")
    >>> why.good, list(why)
    (array([False, False, False]), [(0, 'it is odd'), (1, 'it is late'), (2, 'it is late')])
    """

    def __init__(self, rows: int) -> None:
        self.number: Ints = np.zeros(rows, dtype=np.int64)  # index into `reasons`; 0: no problem
        self.reasons: list[str] = [""]

    def note(self, bad: NDArray[np.bool_], reason: str) -> None:
        """Record a reason for the rows in `bad` that have no reason yet."""
        new = bad & (self.number == 0)
        if new.any():
            self.number[new] = self._of(reason)

    def set(self, row: int, reason: str) -> None:
        """Record a reason for one row, as `note` does."""
        if not self.number[row]:
            self.number[row] = self._of(reason)

    @property
    def good(self) -> NDArray[np.bool_]:
        """Booleans: the rows that can be used."""
        return np.asarray(self.number == 0)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield (row, reason) for the rows that have one, in order."""
        for row in np.flatnonzero(self.number).tolist():
            yield row, self.reasons[self.number[row]]

    def _of(self, reason: str) -> int:
        if reason not in self.reasons:
            self.reasons.append(reason)
        return self.reasons.index(reason)
