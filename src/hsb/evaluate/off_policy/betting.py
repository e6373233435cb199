"""An interval for a policy's value that holds for every log: adaptive or not, with any weights, for any number of events.

Let X_1, X_2, ... >= 0, and let m_t be the mean of X_t given everything before it. For a fixed stake k > 0

    E[(1 + k X_t) / (1 + k m_t) | before] = 1,   so the product of (1 + k X_t) / (1 + k m_t) has mean 1.

The logarithm is concave: with m the average of the m_t over n events, the product of (1 + k m_t) is at most (1 + k m)^n. So the product of
(1 + k X_t), divided by (1 + k m)^n, has mean at most 1, and so has an average of such quotients over several stakes; by Markov's inequality it
exceeds 1/a with probability at most a. Every m for which it does is ruled out: these are all m below some number, the lower end.

For rewards scaled to [0, 1], X_t = w_t r_t has mean m_t = the value of the policy at event t, and X_t = w_t (1 - r_t) has mean 1 - m_t: one
lower end each, at 2.5%, makes an interval of 95% for the average value over the log's events. This needs propensities that are right given the
past, a policy that did not learn from this log, and a number of events that was not chosen by looking at their rewards. It does not need
independent events, a smallest propensity or a reward model. A large weight enters by its logarithm, so it is almost clipped at 1/k. (Betting
on a bounded mean: Waudby-Smith and Ramdas 2024; that weights need no upper bound: Waudby-Smith et al. 2024. With log(1 + y) >= y - y^2 for
y >= -1/2 it is an empirical Bernstein bound, with better constants.)
"""

import math

import numpy as np

from ...types import Floats

STAKES = 2.0 ** np.arange(1, -19, -1)
BEST, SPREAD = (
    2.5,
    1.5,
)  # a stake of 2.5 / sqrt(n) is best for terms that vary by about 1; the spread of the weights of other stakes around it, in logarithms
ERROR = 0.025  # the error probability of each end


class Bets:
    """Sums of log(1 + k X), for every stake, of w r and of w (1 - r). 40 logarithms an event, constant memory."""

    def __init__(self) -> None:
        self.rows = 0
        self.sums = np.zeros((2, len(STAKES)))

    def add(self, w: Floats, r: Floats) -> None:
        """Add events: weights `w`, and rewards `r` scaled to [0, 1]."""
        self.rows += len(w)
        for sums, terms in zip(self.sums, (w * r, w * (1.0 - r)), strict=True):
            add_bets(sums, terms)

    def merge(self, other: "Bets") -> None:
        """Add the sums of other events."""
        self.rows += other.rows
        self.sums += other.sums

    def ends(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval, within [0, 1]; (0, 1) if the two ends cross, because the propensities are then wrong.

        >>> bets = Bets()
        >>> bets.add(np.ones(1000), np.arange(1000) % 2.0)
        >>> tuple(round(end, 2) for end in bets.ends())
        (0.45, 0.55)
        """
        error = round((1.0 - confidence) / 2, 15)
        low, high = lower_end(self.sums[0], self.rows, error), 1.0 - lower_end(self.sums[1], self.rows, error)
        return (low, high) if low <= high else (0.0, 1.0)


def add_bets(sums: Floats, terms: Floats) -> None:
    """Add log(1 + k x) to the sums, for every stake k and term x."""
    some = terms[terms > 0.0]
    for j, stake in enumerate(STAKES.tolist()):
        sums[j] += np.log1p(stake * some).sum()


def lower_end(sums: Floats, rows: int, error: float = ERROR, most: float = 1.0) -> float:
    """Return the smallest mean in [0, most] that `sums` of log(1 + k X) over `rows` events do not rule out, by bisection.

    >>> lower_end(np.zeros(len(STAKES)), 100)
    0.0
    """
    if rows == 0:
        return 0.0
    limit = -math.log(error)

    def ruled_out(mean: float) -> bool:
        return evidence(sums, rows, mean) > limit

    below, above = 0.0, most
    if not ruled_out(below):
        return 0.0
    for _ in range(50):
        middle = (below + above) / 2
        below, above = (middle, above) if ruled_out(middle) else (below, middle)
    return below


def evidence(sums: Floats, rows: int, mean: float) -> float:
    """Return the log wealth of the bets against "the mean is at most `mean`". If true, it exceeds log(1 / a) with probability at most a.

    >>> evidence(np.log1p(STAKES) * 100, 100, 0.5) > math.log(1000) > 0 > evidence(np.log1p(STAKES) * 100, 100, 1.1)
    True
    """
    shares = np.exp(-0.5 * (np.log(STAKES * math.sqrt(rows) / BEST) / SPREAD) ** 2)
    gains = sums + np.log(shares / shares.sum()) - rows * np.log1p(STAKES * mean)
    top = float(gains.max())
    return top + math.log(float(np.exp(gains - top).sum()))
