"""A test of whether feedback depends on the arm: counts by arm, and an e-value against the hypothesis that it does not.

Arm a is drawn with probability p. If the arm does not affect whether feedback arrives, a has probability p among the decisions with feedback,
and among those without: w = 1[arm is a] / p has mean 1 in both, given everything before. So for a stake k > 0 the products of
(1 + k w) / (1 + k), one over the decisions with feedback and one over those without, are martingales that begin at 1. So is their average over
stakes, over arms and over the two products, with weights fixed in advance. By Ville's inequality it *ever* exceeds x with probability at most
1/x.

An arm whose feedback is missing more often is too frequent among the decisions without feedback, the other arms among those with it.

The test needs correct probabilities (`log_honesty` tests them, and tolerates missing feedback). Add decisions in the order in which they were
made, each once it is settled whether its feedback arrives in time. Recent decisions must wait: those that already have feedback differ from
those whose feedback is still to come.
"""

import math

import numpy as np

from .types import Flags, Floats, Ints

STAKES = 2.0 ** np.arange(1, -13, -1)
FIRST_ARMS = 0.8  # the total weight of the initial arms


def arm_share(index: int, first: int) -> float:
    """Return the weight of the arm `index`; the weights of all arms that are ever added sum to at most 1.

    The `first` arms, which exist from the beginning, share four fifths. The j-th arm that was added has one fifth / (j (j + 1)): the sum
    over all j is one fifth. An arm keeps its weight, whatever arms are added or removed later.

    >>> [round(arm_share(index, 4), 3) for index in range(7)]
    [0.2, 0.2, 0.2, 0.2, 0.1, 0.033, 0.017]
    """
    if index < first:
        return FIRST_ARMS / first
    later = index - first + 1
    return (1.0 - FIRST_ARMS) / (later * (later + 1))


class FeedbackEvidence:
    """Counts of decisions and feedback by arm, and the evidence that feedback depends on the arm.

    `first` is the number of arms at the beginning; `widen` makes room for added arms. Constant memory; 14 logarithms a decision.

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
        """Add decisions: indices of their arms, propensities, whether feedback `came`, and which arms were `available`, (n, arms).

        `available` None: all arms were. Scalars are one decision.
        """
        indices, p, had = np.atleast_1d(arm), np.atleast_1d(propensity), np.atleast_1d(came).astype(np.int64)
        count = len(self.decisions)
        self.decisions += np.bincount(indices, minlength=count)
        self.answered += np.bincount(indices, had, minlength=count)
        if available is None:
            self.available += np.bincount(had, minlength=2)[:, None]
        else:
            for way in (0, 1):
                self.available[way, : available.shape[1]] += available[had == way].sum(axis=0)
        np.add.at(self.sums, (had, indices), np.log1p(STAKES / p[:, None]))

    def shares(self) -> Floats:
        """Return, for each arm, the share of its decisions that got feedback; NaN for an arm without decisions."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.answered / self.decisions)

    def log_e_value(self) -> float:
        """Return the log e-value against "feedback does not depend on the arm". If that is true, P(it ever exceeds log x) <= 1/x."""
        return self._average(self._gains())

    def exceeds(self, level: float) -> bool:
        """Is `log_e_value` above `level`, at least 0? Fast for many arms unless a single stake exceeds it: the e-value averages over stakes."""
        gains = self._gains()
        return float(gains.max(initial=0.0)) > level and self._average(gains) > level

    def _gains(self) -> Floats:
        """Return the logarithm of each stake's product, for decisions without and with feedback."""
        return np.asarray(self.sums - self.available[:, :, None] * np.log1p(STAKES))

    def log_honesty(self) -> float:
        """Return the log e-value against "arms were drawn with these probabilities", over all decisions, with or without feedback."""
        return self._average((self.sums.sum(axis=0) - self.available.sum(axis=0)[:, None] * np.log1p(STAKES))[None])

    def _average(self, gains: Floats) -> float:
        ways, count, stakes = gains.shape
        if not count:
            return 0.0
        shares = np.array([arm_share(index, self.first) for index in range(count)]) / (ways * stakes)
        left = max(1.0 - float(shares.sum()) * ways * stakes, 0.0)  # never staked
        top = max(float(gains.max()), 0.0)
        return top + math.log(float((shares[None, :, None] * np.exp(gains - top)).sum()) + left * math.exp(-top))
