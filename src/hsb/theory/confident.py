"""`Confident`: a rate that falls only when the losses exceed by too much what the mixture expected.

The excess of the rounds so far, sharing apart, is the sum of loss + ln(Z)/rate. When it exceeds PATIENCE / rate, the rate falls by FALL. So it
never exceeds PATIENCE / rate, and by the inequality of `schedule.py` every mapping g of prior weight beta obeys, in every run,

    sum of (loss - estimate of g)  <=  (ln(1/beta) + PATIENCE + cost of sharing) / last rate.

`docs/proofs.md`, 4b, bounds the last rate from below, and so the regret.
"""

import math

from .schedule import FOREVER, BaselineShift, Falling, Phase, Schedule

PATIENCE = 25.0
FALL = math.sqrt(2.0)
SHARED = 0.25  # in a phase of n rounds, nodes give SHARED / n of their weights back to the prior in each round with a loss
HEAD_SHARED = 0.5  # and the head this much


class Confident(Schedule):
    """The first rate of `shares` until the excess is too large, with the sharing of `shares`, phase by phase.

    >>> from hsb.theory import anytime_schedule
    >>> schedule = anytime_schedule(arms=3, rate="confident")
    >>> round(schedule.bound(20.3, arms=3, horizon=100_000))
    7768
    """

    patience = PATIENCE

    def __init__(self, shares: Falling) -> None:
        self.shares, self.head = shares, shares.head

    def phase(self, rounds: int) -> Phase:
        """Return the phase with its shares and with the first rate."""
        return self.shares.phase(rounds)._replace(rate=self.shares.phase(0).rate)

    def bound(
        self,
        cost: float,
        *,
        arms: int,
        horizon: float,
        implicit: bool = False,
        floor: float = 0.0,
        delay: float = 0.0,
        shift: BaselineShift | None = None,
    ) -> float:
        """Return a bound on the expected regret over `horizon` rounds against a mapping with ln(1/beta) = cost; none for late feedback.

        It is (cost + head + PATIENCE + sharing) times `largest`, a bound on the expectation of 1/rate.
        """
        if floor == 1.0 or delay > 0.0:
            return float(horizon)
        inverse = self.largest(arms=arms, horizon=horizon, implicit=implicit, floor=floor, shift=shift)
        return min(float(horizon), (cost + self.head_cost + self.patience + self._shared(horizon, arms)) * inverse)

    def largest(
        self, *, arms: int, horizon: float, implicit: bool = False, floor: float = 0.0, shift: BaselineShift | None = None
    ) -> float:
        """Return a bound on the expectation of 1/rate after `horizon` rounds (`docs/proofs.md`, 4b).

        With c = PATIENCE / (1 + 1/FALL), and r the maximum cost of a round over the rate, it is FALL (1 + sqrt(1 + 4 c r T)) / (2 c) without a
        floor, which adds its cost and its possible gain. Below 2 over the first rate it is more, as in some runs the rate does not fall.

        >>> from hsb.theory import anytime_schedule
        >>> schedule = anytime_schedule(arms=3, rate="confident")
        >>> [round(schedule.largest(arms=3, horizon=horizon)) for horizon in (100, 10_000, 1_000_000)]
        [22, 45, 453]
        """
        first = self.shares.phase(0).rate
        round_cost = arms / ((1.0 if implicit else 2.0) * (1.0 - floor))
        if shift:  # the cost is largest if `share` just allows the largest shift; a round may also gain that much
            step = min(arms * first, shift.share / shift.largest)
            round_cost = arms * (shift.round_cost(step, floor) / step + shift.largest)
        uniform, begun = floor * horizon * (1.0 + 1.0 / (1.0 - floor)), 1.0 / first
        c, d = self.patience / (1.0 + 1.0 / FALL), 1.0 + FALL * uniform
        fallen = FALL * (d + math.sqrt(d * d + 4.0 * c * (round_cost * horizon + uniform * begun))) / (2.0 * c)
        return fallen if fallen >= 2.0 * begun else begun + fallen * fallen / (4.0 * begun)

    def _shared(self, horizon: float, arms: int) -> float:
        """Return what sharing adds to ln(1/beta) over these rounds, each with a loss."""
        total, done = 0.0, 0.0
        while done < horizon:
            phase = self.shares.phase(int(done))
            total += (min(float(phase.until), horizon) - done) * phase.sharing(arms)
            if phase.until >= FOREVER:
                break
            done = float(phase.until)
        return total
