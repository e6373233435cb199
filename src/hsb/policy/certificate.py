"""What the rounds learned so far prove."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    """A bound on what was lost more than by a mapping, from what was observed: a fact about these rounds, whatever the world did.

    `policy.certificate()` makes it. A mapping is an arm for each leaf of the structure. With estimates loss / propensity for the arm played and
    0 for the others, and for every mapping g of prior weight beta,

        sum of (loss - estimate of g)  <=  ln(1/beta) / rate + sum of (loss + ln(Z) / rate at that time) + what sharing cost

    holds in every run, not only on average: with late feedback, arms that come and go, logged decisions, a rate that falls (`docs/proofs.md`).
    Z is the share of all weight that a round left; sharing is weight that goes back to the prior, so that changes can be followed. The sums run
    over the rounds learned from; those in which g's arm was not offered are left out, and before an arm was added g may have any other arm. The
    bound is never more than the loss observed, since estimates are never negative.

    The estimates are unbiased, so for a mapping fixed beforehand the left side is, in expectation, the regret. Here g is the mapping that
    `explain()` shows, and in the default the one that its advisor has learned, on the structure's leaves; chosen afterwards, it looks better
    than it is, and the left side errs towards too much regret.

    With `delta`, from a policy made with `implicit=True`, the bound is on the true regret instead of an estimated one, for all mappings at once
    and at all times, and fails with probability delta at most: if when feedback comes depends on neither arms nor losses.

    >>> found = Certificate(rounds=1000, lost=700.0, excess=100.0, prior_cost=5.0, rate=0.02)
    >>> found.total, found.average
    (350.0, 0.35)
    >>> print(found)  # doctest: +ELLIPSIS
    Over the 1,000 rounds learned from, at most 0.35 a round was lost more than by the mapping that explain() shows, ...
    >>> print(Certificate(rounds=10, lost=7.0, excess=9.0, prior_cost=5.0, rate=0.2, shifted=True))  # doctest: +ELLIPSIS
    Over the 10 rounds learned from, nothing is proved yet against the mapping that explain() shows: the bound is 3.4 a round, ...
    """

    rounds: int
    """Rounds learned from."""
    lost: float
    """The sum of their losses, in the `units` below, as all of these."""
    excess: float
    """The sum over rounds of loss + ln(Z)/rate, and of what sharing cost: in expectation at most M rate / 2 a round, sharing apart."""
    prior_cost: float
    """ln(1/beta) of the mapping compared with, all that is added to it included."""
    rate: float
    """The present rate."""
    masked: bool = False
    """Were some arms not offered in some rounds?"""
    against: str = "the mapping that explain() shows"
    """Whom the policy is compared with."""
    delta: float | None = None
    """The probability that it does not hold; None: it always does, of estimated losses."""
    shifted: bool = False
    """Were losses learned as what they are more or less than a number b set beforehand? Estimates are then b + (loss - b) / propensity."""
    units: str = "1"
    """What losses are measured in: the width of `loss_range`; where that is found on the way, its width in the round of each loss."""

    @property
    def total(self) -> float:
        """The bound for all rounds together."""
        bound = self.prior_cost / self.rate + self.excess
        return bound if self.shifted or self.excess == math.inf else min(bound, self.lost)

    @property
    def average(self) -> float:
        """The bound for a round, on average."""
        return self.total / self.rounds if self.rounds else math.inf

    def __str__(self) -> str:
        if not self.rounds:
            return "Nothing was learned yet, so nothing is certified."
        if self.excess == math.inf:
            return "Part of this policy's rounds were learned by a version of hsb that did not count what a certificate needs."
        left_out = ", rounds left out in which its arm was not offered" if self.masked else ""
        estimate = "b + (loss - b) / propensity, b set beforehand" if self.shifted else "loss / propensity"
        if self.delta is None:
            how = f", whose loss is estimated from the same rounds by {estimate}{left_out}."
        else:
            how = f", with probability {1.0 - self.delta:g} at least{left_out}."
        units = "" if self.units == "1" else f" Losses are in units of {self.units}."
        rounds = f"Over the {self.rounds:,} rounds learned from" if self.rounds > 1 else "Over the one round learned from"
        if self.average >= 1.0:
            return (
                f"{rounds}, nothing is proved yet against {self.against}: the bound is {self.average:.4g} a round, and no more than 1 can be "
                f"lost. Arms played seldom, and feedback that comes late, need more rounds.{units}"
            )
        return f"{rounds}, at most {self.average:.4g} a round was lost more than by {self.against}{how}{units}"
