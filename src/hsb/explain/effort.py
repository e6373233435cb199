"""How much work an explanation may be: counted, not timed, so that the same policy has the same rules on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..checks import is_number
from ..errors import InputError, quoted

UNITS = 1.2e6  # of work in an effort of 1, beside what measuring takes; a unit is about a microsecond of one processor
ASK, PLACE, ARM, SQUARE = (
    1.5,
    0.05,
    0.025,
    1.3e-3,
)  # units that a question takes, and more for each place, place and arm, place squared
DRAWN, PART = 0.15, 40.0  # units for each value that is drawn, and for each column of a part in which values are drawn
LOOKED = 0.25  # units for each value that is looked at for a cut
MOST = 1e6

Progress = Callable[[int, int], None]


class Effort:
    """Work that is left. `question` is what asking for one context takes, `columns` how many columns it has.

    >>> effort = Effort(1.0, question=5.0, columns=3)
    >>> effort.questions(0.1, at_most=100_000)
    24000
    >>> effort.spend(UNITS)
    >>> effort.over
    True
    """

    def __init__(self, effort: float, *, question: float, columns: int, progress: Progress | None = None) -> None:
        if not is_number(effort) or not 0.0 < effort <= MOST:
            raise InputError(
                f"effort must be a number above 0: 1 takes about two seconds, 10 about twenty; given {quoted(effort)}."
            )
        self.units, self.spent = UNITS * float(effort), 0.0
        self.question, self.columns, self.progress = question, columns, progress
        self.tell(0.0)

    @property
    def over(self) -> bool:
        """Is all of it spent?"""
        return self.spent >= self.units

    def spend(self, units: float) -> None:
        """So much was done."""
        self.spent += units
        self.tell(min(self.spent / self.units, 0.99))

    def tell(self, share: float) -> None:
        """Tell what share is done, in thousandths."""
        if self.progress is not None:
            self.progress(math.floor(1000 * share), 1000)

    def asked(self, contexts: int, parts: int) -> None:
        """Contexts were drawn, within so many parts, and asked for."""
        self.spend(contexts * (self.question + DRAWN * self.columns) + parts * PART * self.columns)

    def cut(self, rows: int, arms: int) -> None:
        """Rows were looked at for a cut, with so many arms among them."""
        self.spend(rows * self.columns * LOOKED * (1.0 + 0.1 * arms))

    def questions(self, share: float, at_most: int) -> int:
        """How many contexts a share of all the work can ask for."""
        return max(1, min(at_most, int(share * self.units / self.question)))


def question(places: int, arms: int) -> float:
    """About the units that a question takes to a policy whose models see `places` numbers.

    >>> [round(question(*each), 1) for each in ((1, 2), (20, 6), (256, 3))]
    [1.6, 6.0, 118.7]
    """
    return ASK + PLACE * places + ARM * places * arms + SQUARE * places**2
