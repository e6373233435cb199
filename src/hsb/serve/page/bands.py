"""Intervals that hold however often one looks: confidence sequences, from bets on nonnegative terms.

Let X_1, X_2, ... >= 0, and m_t the mean of X_t given everything before it. For a stake k > 0 the product of (1 + k X_t) / (1 + k m_t) is a
martingale that begins at 1, and so is an average of such products over stakes, if the shares of the stakes are fixed in advance. By Ville's
inequality it *ever* exceeds 1/a with probability a at most. As log is concave, with m the average of m_1 ... m_n, the product of (1 + k X_t)
over (1 + k m)^n is no larger. So the means m for which

    log sum over k of share_k exp(sum_t log(1 + k X_t) - n log(1 + k m))  >  log(1/a)

are ruled out, at all n at once except with probability a. They are all means below some number. (`hsb.evaluate.off_policy.betting` has the
same for one n fixed in advance, where the stakes can be fitted to n; here every stake has the same share, which costs log(20) once.)

The terms, for rewards r scaled to [0, 1] and w = the rule's probability of the arm over the logged one:

    value of a rule        w r, and w (1 - r) for the upper end
    value of the policy    the same with w = 1
    policy less rule       r + w (1 - r), whose mean is 1 + the difference; (1 - r) + w r for the upper end

The weights have mean 1, so c (w - 1) may be subtracted from any term (a control variate). Here c predicts, from earlier updates, the term for a
weight of 1. The mean stays and the variance shrinks, most if rewards are rare. A term may then be negative, so this is done only for stakes k
with k c (W - 1) <= 1/2, where W is the largest possible weight: one over the floor. Without a floor terms stay as they are.
"""

import math

import numpy as np

from ...e_values import arm_share
from ...evaluate.off_policy.betting import STAKES
from ...types import Floats

ERROR = 0.05  # the probability that an interval is ever wrong
SHARE = -math.log(len(STAKES))
STEPS = 40  # of bisection


def arm_error(index: int, first: int, error: float = ERROR) -> float:
    """Return the probability that an arm's interval is ever wrong. Over all arms that are ever added these sum to at most `error`.

    `hsb.e_values.arm_share` defines the shares.

    >>> [round(arm_error(index, 4), 4) for index in range(7)]
    [0.01, 0.01, 0.01, 0.01, 0.005, 0.0017, 0.0008]
    """
    return error * arm_share(index, first)


def bets(terms: Floats) -> Floats:
    """Return log(1 + k x) for every term x (a row) and stake k (a column)."""
    return np.log1p(terms[:, None] * STAKES)


def controlled(terms: Floats, w: Floats, guess: Floats, most: Floats) -> Floats:
    """Return log(1 + k x) for terms less `guess` times (w - 1), for the stakes that `most`, the largest possible weights, allow.

    >>> one, two = np.array([0.0, 30.0]), np.array([20.0, 1e300])
    >>> bool((controlled(one, one, np.ones(2), two)[1] == bets(one)[1]).all())
    True
    """
    room = (guess * np.maximum(most - 1.0, 0.0))[:, None]
    allowed = STAKES * room <= 0.5
    return np.log1p(STAKES * (terms[:, None] - np.where(allowed, (guess * (w - 1.0))[:, None], 0.0)))


def evidence(sums: Floats, rows: Floats, means: Floats) -> Floats:
    """Return the logarithm of what the bets turned 1 into, for rows of `sums`, each with its number of terms and a mean."""
    gains = sums + SHARE - rows[:, None] * np.log1p(STAKES * means[:, None])
    top = gains.max(axis=1)
    return np.asarray(top + np.log(np.exp(gains - top[:, None]).sum(axis=1)))


def lower_ends(sums: Floats, rows: Floats, error: float, most: float = 1.0) -> Floats:
    """Return for each row of sums the smallest mean in [0, most] that is not ruled out.

    >>> bool(lower_ends(bets(np.ones(1000)).sum(axis=0)[None, :], np.array([1000.0]), 0.025)[0] > 0.98)
    True
    """
    below, above = np.zeros(len(rows)), np.full(len(rows), most)
    limit = -math.log(error)
    some = evidence(sums, rows, below) > limit
    for _ in range(STEPS):
        middle = (below + above) / 2
        out = evidence(sums, rows, middle) > limit
        below, above = np.where(out, middle, below), np.where(out, above, middle)
    return np.where(some, below, 0.0)


def intervals(sums: Floats, rows: Floats, error: float = ERROR) -> tuple[Floats, Floats]:
    """Return the ends of means in [0, 1], from sums (n, 2, stakes) of bets on w r and on w (1 - r).

    If the ends cross, the logged propensities are wrong, and the interval is all of [0, 1].

    >>> terms = np.arange(1000) % 2.0
    >>> sums = np.stack([bets(terms).sum(axis=0), bets(1.0 - terms).sum(axis=0)])
    >>> low, high = intervals(sums[None], np.array([1000.0]))
    >>> round(float(low[0]), 2), round(float(high[0]), 2)
    (0.44, 0.56)
    """
    low = lower_ends(sums[:, 0], rows, error / 2)
    high = 1.0 - lower_ends(sums[:, 1], rows, error / 2)
    crossed = low > high
    return np.where(crossed, 0.0, low), np.where(crossed, 1.0, high)


def differences(sums: Floats, rows: Floats, error: float = ERROR) -> tuple[Floats, Floats]:
    """Return the ends of differences in [-1, 1], from sums (n, 2, stakes) of bets on r + w (1 - r) and on (1 - r) + w r."""
    low = lower_ends(sums[:, 0], rows, error / 2, 2.0) - 1.0
    high = 1.0 - lower_ends(sums[:, 1], rows, error / 2, 2.0)
    crossed, none = low > high, rows == 0
    return np.where(crossed | none, -1.0, low), np.where(crossed | none, 1.0, high)


def honesty(sums: Floats, rows: Floats) -> Floats:
    """Return the log e-value that an arm's logged probability is too small, from bets on w = 1[arm] / propensity, whose mean is at most 1.

    Do not trust the log above log(1000).
    """
    return evidence(sums, rows, np.ones(len(rows)))
