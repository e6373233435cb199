"""A rate that follows what was seen: it falls when losing more than the mixture expected has cost too much, and not before.

The excess of the rounds so far, sharing apart, is the sum of loss + ln(Z)/rate. When it exceeds PATIENCE / rate, the rate falls by FALL. So it
never exceeds PATIENCE / rate, and by the inequality of `schedule.py` every mapping g of prior weight beta obeys, in every run,

    sum of (loss - estimate of g)  <=  (ln(1/beta) + PATIENCE + what sharing cost) / last rate.

How small the last rate may become, and so a bound on the regret, is in `docs/proofs.md`, 4b.
"""

import math

from .schedule import FOREVER, Falling, Leaning, Phase, Schedule

PATIENCE = 25.0
FALL = math.sqrt(2.0)
SHARED = 0.25  # in a phase of n rounds, nodes give SHARED / n of their weights back to the prior in each round with a loss
HEAD_SHARED = 0.5  # and the head this much


class Confident(Schedule):
    """The first rate of `shares`, until the excess says otherwise; how much is shared, phase by phase, is that of `shares`.

    >>> from hsb.theory import anytime_schedule
    >>> schedule = anytime_schedule(arms=3, rate="confident")
    >>> round(schedule.bound(20.3, arms=3, horizon=100_000))
    7768
    """

    patience = PATIENCE

    def __init__(self, shares: Falling) -> None:
        self.shares, self.head = shares, shares.head

    def phase(self, rounds: int) -> Phase:
        """The shares of a phase; the rate, as it is at first."""
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
        lean: Leaning | None = None,
    ) -> float:
        """The expected regret over `horizon` rounds against a mapping with ln(1/beta) = cost; nothing is proved of late feedback.

        (cost + head + PATIENCE + sharing) times the most that 1/rate is in expectation, `largest`.
        """
        if floor == 1.0 or delay > 0.0:
            return float(horizon)
        inverse = self.largest(arms=arms, horizon=horizon, implicit=implicit, floor=floor, lean=lean)
        return min(float(horizon), (cost + self.head_cost + self.patience + self._shared(horizon, arms)) * inverse)

    def largest(
        self, *, arms: int, horizon: float, implicit: bool = False, floor: float = 0.0, lean: Leaning | None = None
    ) -> float:
        """The most that 1/rate is after `horizon` rounds, in expectation (`docs/proofs.md`, 4b).

        With c = PATIENCE / (1 + 1/FALL), and r what a round costs over the rate at most, that is FALL (1 + sqrt(1 + 4 c r T)) / (2 c) without a
        floor, which adds what it costs and what it may win. Below 2 over the first rate it is more, as in some runs the rate does not fall.

        >>> from hsb.theory import anytime_schedule
        >>> schedule = anytime_schedule(arms=3, rate="confident")
        >>> [round(schedule.largest(arms=3, horizon=horizon)) for horizon in (100, 10_000, 1_000_000)]
        [22, 45, 453]
        """
        first = self.shares.phase(0).rate
        round_cost = arms / ((1.0 if implicit else 2.0) * (1.0 - floor))
        if lean:  # dearest where the share of uniform play that the largest shift needs is just allowed; and a round may win as much as that
            step = min(arms * first, lean.share / lean.shift)
            round_cost = arms * (lean.round_cost(step, floor) / step + lean.shift)
        uniform, begun = floor * horizon * (1.0 + 1.0 / (1.0 - floor)), 1.0 / first
        c, d = self.patience / (1.0 + 1.0 / FALL), 1.0 + FALL * uniform
        fallen = FALL * (d + math.sqrt(d * d + 4.0 * c * (round_cost * horizon + uniform * begun))) / (2.0 * c)
        return fallen if fallen >= 2.0 * begun else begun + fallen * fallen / (4.0 * begun)

    def _shared(self, horizon: float, arms: int) -> float:
        """What sharing adds to ln(1/beta) over these rounds, each with a loss."""
        total, done = 0.0, 0.0
        while done < horizon:
            phase = self.shares.phase(int(done))
            total += (min(float(phase.until), horizon) - done) * phase.sharing(arms)
            if phase.until >= FOREVER:
                break
            done = float(phase.until)
        return total
