"""What the rounds played so far prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .mixture import Mixture


@dataclass(frozen=True)
class Certificate:
    """A bound on the regret, from what was observed.

    >>> found = Certificate(rounds=1000, prior_cost=5.0, second_order=3.0, weight=20.0)
    >>> found.average, found.total
    (0.4, 400.0)
    """

    rounds: int
    """Rounds learned from."""
    prior_cost: float
    """ln(1/beta) of the mapping compared with."""
    second_order: float
    """The sum over rounds of rate^2 loss^2 / (2 propensity), which is in expectation at most M rate^2 / 2 a round."""
    weight: float
    """The sum of the rounds' rates."""

    @property
    def average(self) -> float:
        """The bound for a round, on average; where the rate falls, with rounds weighed by their rates."""
        return (self.prior_cost + self.second_order) / self.weight if self.weight else float("inf")

    @property
    def total(self) -> float:
        """The bound for all rounds together: with a constant rate, ln(1/beta)/rate + the sum of rate loss^2 / (2 propensity)."""
        return self.average * self.rounds

    @staticmethod
    def of(policy: Mixture) -> Certificate:
        """That of a policy."""
        raise NotImplementedError
