"""The budget of work for an explanation: counted, not timed, so that the same policy has the same rules on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..checks import is_number
from ..errors import InputError, quoted

UNITS = 1.2e6  # of work in an effort of 1, without the final measurements; a unit is about a microsecond of one processor
ASK, COLUMN, ARM, SQUARE = (
    1.5,
    0.05,
    0.025,
    1.3e-3,
)  # units of a query, and for each column of its models, column and arm, column squared
DRAWN, PART = 0.15, 40.0  # units for each sampled value, and for each column of a part in which values are sampled
LOOKED = 0.25  # units for each value that a cut reads
MOST = 1e6

Progress = Callable[[int, int], None]


class Effort:
    """A budget of work. `query_cost`: units of computing the probabilities at one context; `columns`: the columns of a context.

    >>> effort = Effort(1.0, query_cost=5.0, columns=3)
    >>> effort.affordable_queries(0.1, at_most=100_000)
    24000
    >>> effort.spend(UNITS)
    >>> effort.over
    True
    """

    def __init__(self, effort: float, *, query_cost: float, columns: int, progress: Progress | None = None) -> None:
        if not is_number(effort) or not 0.0 < effort <= MOST:
            raise InputError(
                f"effort must be a number above 0: 1 takes about two seconds, 10 about twenty; given {quoted(effort)}."
            )
        self.units, self.spent = UNITS * float(effort), 0.0
        self.query_cost, self.columns, self.progress = query_cost, columns, progress
        self.report(0.0)

    @property
    def over(self) -> bool:
        """Is the budget spent?"""
        return self.spent >= self.units

    def spend(self, units: float) -> None:
        """Charge `units` of work, and report."""
        self.spent += units
        self.report(min(self.spent / self.units, 0.99))

    def report(self, share: float) -> None:
        """Report the share of the work that is done, in thousandths."""
        if self.progress is not None:
            self.progress(math.floor(1000 * share), 1000)

    def charge_queries(self, contexts: int, parts: int) -> None:
        """Charge the sampling of `contexts` within `parts` parts, and their queries."""
        self.spend(contexts * (self.query_cost + DRAWN * self.columns) + parts * PART * self.columns)

    def charge_cut(self, rows: int, arms: int) -> None:
        """Charge the search for a cut among `rows` with `arms` different arms."""
        self.spend(rows * self.columns * LOOKED * (1.0 + 0.1 * arms))

    def affordable_queries(self, share: float, at_most: int) -> int:
        """Return the number of queries, 1 to `at_most`, that a share of the whole budget pays for."""
        return max(1, min(at_most, int(share * self.units / self.query_cost)))


def query_cost(design_columns: int, arms: int) -> float:
    """Estimate the units of a query to a policy whose models see `design_columns` columns.

    >>> [round(query_cost(*each), 1) for each in ((1, 2), (20, 6), (256, 3))]
    [1.6, 6.0, 118.7]
    """
    return ASK + COLUMN * design_columns + ARM * design_columns * arms + SQUARE * design_columns**2
