"""How fast a mixture learns, when: a value that is asked once a stretch of rounds, and that owns its bound and its certificate.

Theorem 1 with a rate that is constant over n rounds, against a mapping of prior weight beta: regret <= ln(1/beta)/rate + M n rate/2. What a
schedule adds to ln(1/beta) (sharing, the weight of the mixture beside its advisors) it charges itself, and the prior weights that it
charges for are the ones that the kernel is given (`head`).
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from ..types import Floats
from .anytime import MIXTURE, advisor_cost, anytime_mixture_bound, epoch, epoch_rate, epoch_rates
from .bounds import mixture_bound

FOREVER = 1 << 62


class Stretch(NamedTuple):
    """Rounds in which nothing changes: the rate, the share of weight given away in each, up to which round, and whether the mixture then
    begins anew."""

    rate: float
    drift: float
    until: int
    restart: bool = False


class Sums(NamedTuple):
    """Over the rounds learned from: rate; rate^2 loss^2 / (2 propensity); rate loss^2 / (2 propensity). A constant rate needs only the last."""

    rate: float = 0.0
    weighed: float = 0.0
    second: float = 0.0


class Schedule(ABC):
    """A rate for every round."""

    falls = False
    """Does the rate fall from round to round? Then certificates weigh rounds by their rates."""

    head: tuple[float, ...] = ()
    """Prior weights of the mixture and of the advisors beside it; none where it stands alone."""

    @abstractmethod
    def stretch(self, rounds: int) -> Stretch:
        """The stretch in which a policy is that has learned `rounds` rounds."""

    def rates(self, rounds: int, n: int) -> Floats:
        """The rates of the next n rounds, all in one stretch."""
        return np.full(n, self.stretch(rounds).rate)

    def bound(self, cost: float, *, arms: int, horizon: float) -> float:
        """The regret over `horizon` rounds against a mapping with ln(1/beta) = cost; infinite where nothing is proved. Here, Theorem 1."""
        rate = self.stretch(0).rate
        return mixture_bound(cost + self.extra_cost(horizon), learning_rate=rate, arms=arms, horizon=horizon)

    def extra_cost(self, rounds: float) -> float:
        """What is added to ln(1/beta) after `rounds` rounds. Here, sharing: ln(1/(1 - drift)) a round."""
        drift = self.stretch(0).drift
        return -rounds * math.log1p(-drift) if drift else 0.0

    def certified(self, cost: float, rounds: int, sums: Sums) -> tuple[float, float]:
        """What `rounds` rounds prove against a mapping with ln(1/beta) = cost, extra cost included: the second-order term and the whole."""
        return sums.second, cost / self.stretch(0).rate + sums.second


class Constant(Schedule):
    """One rate for ever. With `drift` every node learned from gives that share of its arms' weight to all (fixed share).

    >>> Constant(0.1).stretch(10).rate, round(Constant(0.1).bound(3.0, arms=2, horizon=100))
    (0.1, 40)
    """

    def __init__(self, rate: float, drift: float = 0.0) -> None:
        self.rate, self.drift = rate, drift

    def stretch(self, rounds: int) -> Stretch:
        """It never ends."""
        return Stretch(self.rate, self.drift, FOREVER)


class Falling(Schedule):
    """sqrt(A / (M t)) in round t, for `cost` = A / M. Measured, not proved.

    >>> Falling(2.0).rates(0, 2).round(3)
    array([1.414, 1.   ])
    """

    falls = True

    def __init__(self, cost: float, drift: float = 0.0) -> None:
        self.cost, self.drift = cost, drift

    def stretch(self, rounds: int) -> Stretch:
        """One round; `rates` gives those of many."""
        return Stretch(math.sqrt(self.cost / (rounds + 1.0)), self.drift, rounds + 1)

    def rates(self, rounds: int, n: int) -> Floats:
        return np.asarray(np.sqrt(self.cost / np.arange(rounds + 1, rounds + 1 + n, dtype=np.float64)))

    def bound(self, cost: float, *, arms: int, horizon: float) -> float:
        """Nothing is proved."""
        return math.inf

    def certified(self, cost: float, rounds: int, sums: Sums) -> tuple[float, float]:
        """Rounds are weighed by their rates."""
        return sums.weighed * rounds / sums.rate, (cost + sums.weighed) * rounds / sums.rate


class Epochs(Schedule):
    """HSB's default: epochs that grow fourfold, each at its own rate from the prior anew, beside an advisor (`docs/proofs.md`).

    With a `rate` of its own the rate stays, nothing begins anew, and epochs say only how much is shared.

    >>> Epochs(arms=3).stretch(0).until, Epochs(arms=3).stretch(1024).until, Epochs(arms=3, rate=0.1).stretch(1024).restart
    (1024, 4096, False)
    """

    head = (MIXTURE, 1.0 - MIXTURE)

    def __init__(self, *, arms: int, rate: float | None = None) -> None:
        self.arms, self.rate = arms, rate

    def stretch(self, rounds: int) -> Stretch:
        start, length = epoch(rounds)
        rate = epoch_rate(length, arms=self.arms) if self.rate is None else self.rate
        return Stretch(rate, 1.0 / length, start + length, self.rate is None)

    def extra_cost(self, rounds: float) -> float:
        """The mixture's weight beside its advisor, and sharing: in each epoch, or once and in each epoch."""
        return advisor_cost(1 if self.rate is None else len(epoch_rates(rounds, arms=self.arms)))

    def bound(self, cost: float, *, arms: int, horizon: float) -> float:
        """Theorem 1 in each epoch, summed; with a rate of its own, once."""
        if self.rate is not None:
            return super().bound(cost, arms=arms, horizon=horizon)
        return anytime_mixture_bound(cost, arms=arms, horizon=horizon)

    def certified(self, cost: float, rounds: int, sums: Sums) -> tuple[float, float]:
        """The cost is paid in each epoch."""
        if self.rate is not None:
            return super().certified(cost, rounds, sums)
        return sums.second, sum(cost / rate for rate in epoch_rates(rounds, arms=self.arms)) + sums.second
