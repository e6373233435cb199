"""The estimated reward of a rule's arm where the rule applies."""

from __future__ import annotations

from typing import Any, NamedTuple


class Earned(NamedTuple):
    """The mean reward of a rule's arm where the rule applies, estimated from a log, with an interval.

    >>> print(Earned(0.4137, 0.3612, 0.4571, rows=812))
    earns 0.414 (0.361 to 0.457)
    """

    value: float
    """The estimate: rewards of the rounds in which the arm was played, each weighted by one over its propensity."""
    low: float
    """The lower end of the interval."""
    high: float
    """The upper end."""
    rows: int
    """The number of rounds of the log in which the rule applied and the arm was available."""

    def __str__(self) -> str:
        return f"earns {self.value:.3g} ({self.low:.3g} to {self.high:.3g})"

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain data."""
        return self._asdict()
