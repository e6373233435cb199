"""What the rounds played so far prove."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    """A bound on the regret, from what was observed: a fact about these rounds, whatever the world did.

    With estimates loss / propensity for the arm played and 0 for the others, and for any mapping g of prior weight beta,

        sum of (loss - estimate of g)  <=  ln(1/beta) / rate + sum of rate loss^2 / (2 propensity)

    holds for every run, not only on average (the proof of Theorem 1, before its expectation is taken), as long as each round was learned
    from before the next was decided. The estimates are unbiased: for a mapping fixed beforehand, the left side is in expectation the regret.
    Here g is the most probable mapping; chosen afterwards, it looks better than it is, and the left side errs towards too much regret.
    Where the rate falls, rounds are weighed by their rates; the bound then speaks of that weighted mean.

    >>> found = Certificate(rounds=1000, prior_cost=5.0, second_order=100.0, total=400.0)
    >>> found.average
    0.4
    >>> print(found)  # doctest: +ELLIPSIS
    Over 1,000 rounds the policy lost at most 0.4 a round more than its best mapping in hindsight, ...
    """

    rounds: int
    """Rounds learned from."""
    prior_cost: float
    """ln(1/beta) of the mapping compared with."""
    second_order: float
    """The sum over rounds of rate loss^2 / (2 propensity), in expectation at most M rate / 2 a round."""
    total: float
    """The bound for all rounds together, in units of the width of `loss_range`."""

    @property
    def average(self) -> float:
        """The bound for a round, on average."""
        return self.total / self.rounds if self.rounds else float("inf")

    def __str__(self) -> str:
        if not self.rounds:
            return "Nothing was learned yet, so nothing is certified."
        return (
            f"Over {self.rounds:,} rounds the policy lost at most {self.average:.4g} a round more than its best mapping in "
            f"hindsight, whose loss is estimated from the same rounds by loss / propensity."
        )
