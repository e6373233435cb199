"""What the rounds played so far prove."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    """A bound on the regret, from what was observed: a fact about these rounds, whatever the world did.

    With estimates loss / propensity for the arm played and 0 for the others, and for any mapping g of prior weight beta,

        sum of rate (loss - estimate of g)  <=  ln(1/beta) + sum of rate^2 loss^2 / (2 propensity)

    holds for every run, not only on average (the proof of Theorem 1, before its expectation is taken), as long as each round was learned
    from before the next was decided. The estimates are unbiased: in expectation the left side is the regret. Here g is the
    most probable mapping, which makes estimate + ln(1/beta)/rate least.

    >>> found = Certificate(rounds=1000, prior_cost=5.0, second_order=3.0, weight=20.0, constant=True)
    >>> found.average, found.total
    (0.4, 400.0)
    >>> print(found)  # doctest: +ELLIPSIS
    Over 1,000 rounds the policy lost at most 0.4 a round more than its best mapping in hindsight, ...
    """

    rounds: int
    """Rounds learned from."""
    prior_cost: float
    """ln(1/beta) of the mapping compared with."""
    second_order: float
    """The sum over rounds of rate^2 loss^2 / (2 propensity), which is in expectation at most M rate^2 / 2 a round."""
    weight: float
    """The sum of the rounds' rates."""
    constant: bool
    """Was the rate the same in every round?"""

    @property
    def average(self) -> float:
        """The bound for a round, on average; where the rate falls, with rounds weighed by their rates."""
        return (self.prior_cost + self.second_order) / self.weight if self.weight else float("inf")

    @property
    def total(self) -> float:
        """The bound for all rounds together: with a constant rate, ln(1/beta)/rate + the sum of rate loss^2 / (2 propensity)."""
        return self.average * self.rounds

    def __str__(self) -> str:
        if not self.rounds:
            return "Nothing was learned yet, so nothing is certified."
        weighed = "" if self.constant else ", recent rounds weighing less as their rate was lower"
        return (
            f"Over {self.rounds:,} rounds the policy lost at most {self.average:.4g} a round more{weighed} than its best mapping in "
            f"hindsight, whose loss is estimated from the same rounds by loss / propensity."
        )
