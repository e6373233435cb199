"""What playing a rule's arm earns where the rule applies."""

from __future__ import annotations

from typing import Any, NamedTuple


class Earned(NamedTuple):
    """What a rule's arm earns a round where the rule applies, estimated from a log, and an interval for it.

    >>> print(Earned(0.4137, 0.3612, 0.4571, rows=812))
    earns 0.414 (0.361 to 0.457)
    """

    value: float
    """The estimate: rewards of the rounds in which the arm was played, each weighed by one over its propensity."""
    low: float
    """The lower end of the interval."""
    high: float
    """The upper end."""
    rows: int
    """How many rounds of the log are of the rule and available the arm."""

    def __str__(self) -> str:
        return f"earns {self.value:.3g} ({self.low:.3g} to {self.high:.3g})"

    def to_dict(self) -> dict[str, Any]:
        """A dict of plain data."""
        return self._asdict()
