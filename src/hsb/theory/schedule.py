"""How fast a mixture learns, when: a value that is asked once a stretch of rounds, and that owns its bound and its certificate.

Rates never rise. Where one falls by the factor r, every mapping's weight P becomes prior^(1-r) P^r, renormalised (`State.flatten`), so that
what was learned counts at the new rate. Then, in every run and for every mapping g of prior weight beta (`docs/proofs.md`),

    sum of (loss - estimate of g)  <=  ln(1/beta) / last rate + sum of (loss + ln(Z)/rate) + sum of sharing/rate,

Z being what a round leaves of the mixture's weight. In expectation the middle sum is at most M rate/2 a round.
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

from .. import reproducible_math

FOREVER = 1 << 62
LEANT = math.e - 2.0  # e^-x <= 1 - x + (e - 2) x^2 for x >= -1


class Stretch(NamedTuple):
    """Rounds in which nothing changes: the rate, up to which round, and the shares of weight given away in each, by nodes and by the head."""

    rate: float
    until: int
    drift: float = 0.0
    head_drift: float = 0.0

    def sharing(self, arms: int) -> float:
        """What sharing adds to ln(1/beta) in a round with a loss: in the nodes, and between the mixture and its advisors."""
        return -reproducible_math.log1p(-self.drift * (1.0 - 1.0 / arms)) - reproducible_math.log1p(-self.head_drift)


class Schedule(ABC):
    """A rate for every round; it never rises."""

    head: tuple[float, ...] = ()
    """Prior weights of the mixture and of the advisors beside it; none where it stands alone."""

    @abstractmethod
    def stretch(self, rounds: int) -> Stretch:
        """The stretch in which a policy is that has learned `rounds` rounds."""

    @property
    def head_cost(self) -> float:
        """What the advisors beside the mixture add to ln(1/beta), once."""
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
        lean: float = 0.0,
    ) -> float:
        """The expected regret over `horizon` rounds against a mapping with ln(1/beta) = cost: at most `horizon`, as losses are in [0, 1].

        The sum over stretches of M n rate/2 (twice that with implicit exploration) and of n sharing/rate, and (cost + head)/rate with the
        last rate. A `floor` e divides the first by 1 - e and adds e a round. Where every round is learned `delay` rounds late, a round costs
        `delay` * (rate + shares) more, and a fall of the rate `delay` at most; rounds then count 1 + 2 delay/M in the schedule. That is for
        losses set beforehand. With a `lean` e, the share M rate b of rounds, e at most, may be uniform, for a shift b of the losses:
        M n rate (e - 2) takes the place of M n rate/2, e being Euler's number, divided by 1 - lean, and that share is added.
        """
        if floor == 1.0:
            return float(horizon)
        second = arms / ((1.0 if implicit else 2.0) * (1.0 - floor))
        total, done, rate, scale = floor * horizon, 0.0, math.inf, 1.0 + 2.0 * delay / arms
        while done < horizon * scale:
            stretch = self.stretch(int(done))
            end = horizon * scale if stretch.until >= FOREVER else min(float(stretch.until), horizon * scale)
            n, rate = (end - done) / scale, stretch.rate
            total += (second if lean == 0.0 else LEANT * arms / (1.0 - max(lean, floor))) * n * rate + n * stretch.sharing(
                arms
            ) / rate
            total += n * min(lean, arms * rate)
            total += delay * n * (rate + stretch.drift + stretch.head_drift) + min(delay, done / scale)
            if stretch.until >= FOREVER or total >= horizon:
                break
            done = float(stretch.until)
        return min(float(horizon), total + (cost + self.head_cost) / rate)


class Constant(Schedule):
    """One rate for ever. With `drift` every node learned from gives that share of its arms' weight to all (fixed share).

    >>> Constant(0.1).stretch(10).rate, round(Constant(0.1).bound(3.0, arms=2, horizon=100))
    (0.1, 40)
    """

    def __init__(self, rate: float, drift: float = 0.0) -> None:
        self.rate, self.drift = rate, drift

    def stretch(self, rounds: int) -> Stretch:
        """It never ends."""
        return Stretch(self.rate, FOREVER, self.drift)


class Falling(Schedule):
    """About sqrt(cost / (M t)) in round t: constant over stretches, each as long as all before it, at the rate of its geometric middle.

    The first stretch has `first` rounds. In each round with a loss a node shares `drift` of its weights, and in a stretch of n rounds
    `shared` / n more; the head shares `head_shared` / n. With a `rate` of its own the rate stays, and stretches say only how much is shared.

    >>> falling = Falling(2.0, arms=2)
    >>> [(falling.stretch(rounds).until, round(falling.stretch(rounds).rate, 3)) for rounds in (0, 1, 2, 100)]
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
        self.cost, self.arms, self.first = max(cost, reproducible_math.ln(2.0)), arms, first  # one arm has nothing to learn
        self.drift, self.shared, self.head_shared, self.head, self.rate = drift, shared, head_shared, head, rate

    def stretch(self, rounds: int) -> Stretch:
        start, until = 0, self.first
        if rounds >= self.first:
            start = self.first << ((int(rounds) // self.first).bit_length() - 1)
            until = 2 * start
        rate = self.rate
        if rate is None:
            rate = math.sqrt(self.cost / (self.arms * until / math.sqrt(2.0)))
        n = until - start
        return Stretch(rate, until, self.drift + self.shared / n, self.head_shared / n)
