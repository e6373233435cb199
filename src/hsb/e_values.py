"""Does it depend on the arm whether feedback comes? Counts by arm, and an e-value against "it does not".

Arm a is drawn with probability p. If the arm has no say in whether feedback comes, a is drawn with probability p among the decisions that got
feedback, and among those that did not: w = 1[arm is a] / p has mean 1 in both, given everything before. So for a stake k > 0 the products of
(1 + k w) / (1 + k), one over the decisions with feedback and one over those without, are martingales that begin at 1. So is their average over
stakes, over arms and over the two, with shares that are set beforehand. By Ville's inequality it *ever* exceeds x with probability 1/x at most.

An arm whose feedback is missing more often is drawn too often among the decisions without feedback, and the others among those with it.

What it needs: probabilities that are right (`log_honesty` tests that, and does not mind missing feedback), and decisions that are told in the
order in which they were made, each when it is settled whether its feedback comes in time. Young decisions must wait: those that have feedback
already are not like those that will.
"""

import math

import numpy as np

from .types import Flags, Floats, Ints

STAKES = 2.0 ** np.arange(1, -13, -1)
FIRST_ARMS = 0.8  # the share of all arms that were there from the beginning


def arm_share(place: int, first: int) -> float:
    """The share of an arm, so that the shares of all arms that ever come add up to 1 at most.

    The `first` arms, which were there from the beginning, share four fifths. The j-th arm that was added has one fifth / (j (j + 1)): the sum
    over all j is one fifth. An arm keeps its share, whatever arms come and go later.

    >>> [round(arm_share(place, 4), 3) for place in range(7)]
    [0.2, 0.2, 0.2, 0.2, 0.1, 0.033, 0.017]
    """
    if place < first:
        return FIRST_ARMS / first
    later = place - first + 1
    return (1.0 - FIRST_ARMS) / (later * (later + 1))


class FeedbackEvidence:
    """Decisions and feedback by arm, and the evidence that the two depend on each other.

    `first`: how many arms there are at the beginning; `widen` makes room for those that are added. Constant memory; 14 logarithms a decision.

    >>> evidence, rng = FeedbackEvidence(2), np.random.default_rng(0)
    >>> arm = rng.integers(2, size=1000)
    >>> evidence.add(arm, np.full(1000, 0.5), came=rng.random(1000) < np.where(arm == 0, 0.4, 0.8))
    >>> evidence.decisions.tolist(), [round(share, 2) for share in evidence.shares().tolist()]
    ([463.0, 537.0], [0.38, 0.81])
    >>> evidence.log_e_value() > math.log(1000) > evidence.log_honesty()
    True
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.decisions = np.zeros(first)
        """Decisions by arm."""
        self.answered = np.zeros(first)
        """Of these, decisions with feedback."""
        self.available = np.zeros((2, first))
        """Decisions without and with feedback in which the arm was available."""
        self.sums = np.zeros((2, first, len(STAKES)))
        """Sums of log(1 + k / p) of decisions without and with feedback in which the arm was drawn."""

    def widen(self, arms: int) -> None:
        """Make room for arms that were added, up to `arms` in all."""
        more = arms - len(self.decisions)
        if more > 0:
            self.decisions, self.answered = (np.pad(each, (0, more)) for each in (self.decisions, self.answered))
            self.available = np.pad(self.available, ((0, 0), (0, more)))
            self.sums = np.pad(self.sums, ((0, 0), (0, more), (0, 0)))

    def add(self, arm: Ints, propensity: Floats, came: Flags, available: Flags | None = None) -> None:
        """Take in decisions: the places of their arms, their probabilities, whether feedback came; `available`, (n, arms): which arms were.

        Without `available`, all arms were. Scalars are one decision.
        """
        places, p, had = np.atleast_1d(arm), np.atleast_1d(propensity), np.atleast_1d(came).astype(np.int64)
        count = len(self.decisions)
        self.decisions += np.bincount(places, minlength=count)
        self.answered += np.bincount(places, had, minlength=count)
        if available is None:
            self.available += np.bincount(had, minlength=2)[:, None]
        else:
            for way in (0, 1):
                self.available[way, : available.shape[1]] += available[had == way].sum(axis=0)
        np.add.at(self.sums, (had, places), np.log1p(STAKES / p[:, None]))

    def shares(self) -> Floats:
        """By arm, the share of its decisions that got feedback; NaN for an arm without decisions."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.answered / self.decisions)

    def log_e_value(self) -> float:
        """The logarithm of the e-value of "the arm has no say in whether feedback comes": above log(x), ever, with probability 1/x at most."""
        return self._average(self._gains())

    def exceeds(self, level: float) -> bool:
        """Is `log_e_value` above a level of at least 0? Quick with many arms as long as no stake alone is: it is an average over stakes."""
        gains = self._gains()
        return float(gains.max(initial=0.0)) > level and self._average(gains) > level

    def _gains(self) -> Floats:
        """The logarithm of what each stake has become, of decisions without and with feedback."""
        return np.asarray(self.sums - self.available[:, :, None] * np.log1p(STAKES))

    def log_honesty(self) -> float:
        """The logarithm of the e-value of "arms were drawn with these probabilities", over all decisions, with feedback or without."""
        return self._average((self.sums.sum(axis=0) - self.available.sum(axis=0)[:, None] * np.log1p(STAKES))[None])

    def _average(self, gains: Floats) -> float:
        ways, count, stakes = gains.shape
        if not count:
            return 0.0
        shares = np.array([arm_share(place, self.first) for place in range(count)]) / (ways * stakes)
        left = max(1.0 - float(shares.sum()) * ways * stakes, 0.0)  # is never bet
        top = max(float(gains.max()), 0.0)
        return top + math.log(float((shares[None, :, None] * np.exp(gains - top)).sum()) + left * math.exp(-top))
