"""`Schedule`: the learning rate of a mixture, phase by phase, and the regret bound that follows from it.

Rates never rise. If a rate falls by the factor r, every mapping's weight P becomes prior^(1-r) P^r, renormalised (`State.flatten`), so that
what has been learned counts at the new rate. Then, in every run and for every mapping g of prior weight beta (`docs/proofs.md`),

    sum of (loss - estimate of g)  <=  ln(1/beta) / last rate + sum of (loss + ln(Z)/rate) + sum of sharing/rate,

where Z is the share of the mixture's weight that a round leaves. In expectation the middle sum is at most M rate/2 a round.
"""

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import NamedTuple

from .. import reproducible_math

FOREVER = 1 << 62
SECOND_ORDER = math.e - 2.0  # e^-x <= 1 - x + (e - 2) x^2 for x >= -1


class Phase(NamedTuple):
    """A run of rounds with one rate: the rate, its last round, and the shares of weight that nodes and the head give away per round."""

    rate: float
    until: int
    drift: float = 0.0
    head_drift: float = 0.0

    def sharing(self, arms: int) -> float:
        """Return what sharing adds to ln(1/beta) in a round with a loss: in the nodes, and between the mixture and its advisors."""
        return _sharing(self.drift, self.head_drift, arms)


@lru_cache(64)
def _sharing(drift: float, head_drift: float, arms: int) -> float:
    return -reproducible_math.log1p(-drift * (1.0 - 1.0 / arms)) - reproducible_math.log1p(-head_drift)


class BaselineShift(NamedTuple):
    """The limits of the baseline shift b, a control variate that is subtracted from losses near 1 (`docs/proofs.md`, 8).

    A shift b needs the share M rate b of the rounds to be uniform; M is the number of arms.
    """

    largest: float
    """The largest b, at most 1/2."""
    share: float
    """The largest share of rounds that is uniform for the shift; it limits b."""
    first: int
    """The number of rounds learned after which b is first set; it is set again whenever they double."""
    beside: bool = False
    """Whether its uniform share comes beside the floor, not within it: over representatives of groups, and the floor over all arms."""

    def round_cost(self, step: float, floor: float) -> float:
        """Return the maximum cost of a round beyond the floor; `step` is M times the rate.

        With the uniform share u = max(floor, step b), or floor + step b if it is `beside`, the cost is
        max((1 - b)^2 / 2, (e - 2) b^2) step / (1 - u) + u - floor; the second term is for arms that lose less than b. It is convex in b, so
        largest at one end of the range of b. A decision from before b was set is learned without a shift: step / (2 (1 - u)).

        >>> shift = BaselineShift(largest=0.5, share=0.05, first=256)
        >>> [round(shift.round_cost(step, 0.0) / step, 3) for step in (0.01, 0.1, 1.0)]
        [0.68, 0.689, 0.526]
        """
        b = min(self.largest, self.share / step)
        uniform = floor + step * b if self.beside else max(floor, step * b)
        if uniform >= 1.0:
            return math.inf
        second = max((1.0 - b) ** 2 / 2.0, SECOND_ORDER * b**2)
        return max(step / 2.0 / (1.0 - uniform), second * step / (1.0 - uniform) + uniform - floor)

    def late(self) -> float:
        """Return the factor by which the shift raises the cost of a change of weights between deciding and learning: 1 + (e - 2) b."""
        return 1.0 + SECOND_ORDER * self.largest

    def settings(self, rounds: float) -> int:
        """Return the number of times that b is set within `rounds` rounds."""
        return max(0, math.floor(math.log2(rounds / self.first))) if rounds >= self.first else 0


class Schedule(ABC):
    """A rate for every round; it never rises."""

    head: tuple[float, ...] = ()
    """Prior weights of the mixture and of its advisors; empty without advisors."""
    patience: float | None = None
    """If the rate depends on the losses: it falls when the excess exceeds `patience` over the rate (`confident.py`)."""

    @abstractmethod
    def phase(self, rounds: int) -> Phase:
        """Return the phase in effect after `rounds` updates."""

    @property
    def head_cost(self) -> float:
        """The amount that the advisors add to ln(1/beta), once."""
        return -reproducible_math.ln(self.head[0]) if self.head else 0.0

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
        """Return a bound on the expected regret over `horizon` rounds against a mapping with ln(1/beta) = cost; at most `horizon`.

        It is the sum over phases of M n rate/2 (twice that with implicit exploration) and of n sharing/rate, plus (cost + head)/rate with the
        last rate. A `floor` e divides the first by 1 - e and adds e a round. If every round is learned `delay` rounds late, a round costs
        `delay` * (rate + shares) more, and a fall of the rate at most `delay`; rounds then count 1 + 2 delay/M in the schedule. That is for
        losses set beforehand. With a baseline `shift`, `BaselineShift.round_cost` replaces M rate/2, and a delay costs `BaselineShift.late`
        times as much. Then `delay` rounds at each fall of the rate, and at each setting of the shift, cost its share more.
        """
        if floor == 1.0:
            return float(horizon)
        second = arms / ((1.0 if implicit else 2.0) * (1.0 - floor))
        late, share = (shift.late(), shift.share) if shift else (1.0, 0.0)
        total, done, rate, scale = floor * horizon, 0.0, math.inf, 1.0 + 2.0 * delay / arms
        if shift:
            total += min(delay * shift.settings(horizon), horizon) * share
        while done < horizon * scale:
            phase = self.phase(int(done))
            end = horizon * scale if phase.until >= FOREVER else min(float(phase.until), horizon * scale)
            n, rate = (end - done) / scale, phase.rate
            total += n * (shift.round_cost(arms * rate, floor) if shift else second * rate)
            total += n * phase.sharing(arms) / rate
            total += late * delay * n * (rate + phase.drift + phase.head_drift) + (late + share) * min(delay, done / scale)
            if phase.until >= FOREVER or total >= horizon:
                break
            done = float(phase.until)
        return min(float(horizon), total + (cost + self.head_cost) / rate)


class Constant(Schedule):
    """A constant rate. With `drift` every node learned from gives that share of its arms' weight to all (fixed share).

    >>> Constant(0.1).phase(10).rate, round(Constant(0.1).bound(3.0, arms=2, horizon=100))
    (0.1, 40)
    """

    def __init__(self, rate: float, drift: float = 0.0) -> None:
        self.rate, self.drift = rate, drift

    def phase(self, rounds: int) -> Phase:
        """Return the only phase, which never ends."""
        return Phase(self.rate, FOREVER, self.drift)


class Falling(Schedule):
    """About sqrt(cost / (M t)) in round t: constant over phases, each as long as all before it, at the rate of its geometric middle.

    The first phase has `first` rounds. In each round with a loss a node shares `drift` of its weights, and in a phase of n rounds
    `shared` / n more; the head shares `head_shared` / n. With `rate` the rate is constant, and phases only set how much is shared.

    >>> falling = Falling(2.0, arms=2)
    >>> [(falling.phase(rounds).until, round(falling.phase(rounds).rate, 3)) for rounds in (0, 1, 2, 100)]
    [(1, 1.189), (2, 0.841), (4, 0.595), (128, 0.105)]
    """

    def __init__(
        self,
        cost: float,
        *,
        arms: int,
        first: int = 1,
        drift: float = 0.0,
        shared: float = 0.0,
        head_shared: float = 0.0,
        head: tuple[float, ...] = (),
        rate: float | None = None,
    ) -> None:
        self.cost, self.arms, self.first = max(cost, reproducible_math.ln(2.0)), arms, first  # a single arm has cost 0
        self.drift, self.shared, self.head_shared, self.head, self.rate = drift, shared, head_shared, head, rate

    def phase(self, rounds: int) -> Phase:
        start, until = 0, self.first
        if rounds >= self.first:
            start = self.first << ((int(rounds) // self.first).bit_length() - 1)
            until = 2 * start
        rate = self.rate
        if rate is None:
            rate = math.sqrt(self.cost / (self.arms * until / math.sqrt(2.0)))
        n = until - start
        return Phase(rate, until, self.drift + self.shared / n, self.head_shared / n)
