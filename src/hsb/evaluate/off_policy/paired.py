"""Paired differences: the sums over the events of two candidates.

On an event the two play the arm shown with weights w and w'. With r the reward, scaled to [0, 1], and v = w - w', the terms

    X = max(v, 0) r + max(-v, 0) (1 - r)      and      Y = max(v, 0) (1 - r) + max(-v, 0) r

are not negative, and have the means T + D and T - D. D is the difference of the values at that event; T, the probability that the two put on
different arms, is known without any reward. So the bets of `betting.py` give a lower end for T + D and one for T - D, and with them an interval
for D that holds for any log with correct propensities. If the two play alike, X, Y and T are 0: candidates that seldom differ have a short
interval, however heavy the weights that they share.
"""

import numpy as np

from ...types import Flags, Floats
from .accumulators import BatchTerms
from .betting import STAKES, add_bets, evidence, lower_end
from .bootstrap import GroupSums
from .diagnostics import RARE, TOO_FEW

ONE_EVENT = 0.57  # times the root of the sum of squares: a difference of weights above it is a third of all squares


def value_columns(terms: BatchTerms, estimator: str, column: str) -> tuple[Floats, Floats]:
    """Return the columns N and S: the estimator is sum(S) / sum(N)."""
    return terms.columns["w" if estimator == "snips" else "1"], terms.columns[column]


class Pair:
    """Sums over the events that both a candidate and the baseline can play."""

    def __init__(self, estimator: str, column: str, low: float, high: float, *, same_range: bool) -> None:
        self.estimator, self.column, self.low, self.high, self.same_range = estimator, column, low, high, same_range
        self.tally = GroupSums(4 if estimator == "snips" else 2)
        self.same = True  # do the two play alike in every event?
        self.apart = 0.0  # the sum of T
        self.sums = np.zeros((2, len(STAKES)))
        self.gap = self.gaps = self.squares = self.largest = self.rewarded = 0.0  # of v: sum, sum of sizes, of squares, ...

    @property
    def rows(self) -> int:
        """The number of events that both can play."""
        return self.tally.rows

    def add(self, mine: BatchTerms, other: BatchTerms) -> None:
        """Add a batch, given the terms of each of the two."""
        both = mine.used & other.used
        if not both.any():
            return
        a, b = both[mine.used], both[other.used]
        more = mine.table - other.table if both.all() else (mine.table - other.table)[both]
        self.same = self.same and not more.any()
        self.apart += float(np.maximum(more, 0.0).sum())
        self._terms(mine, other, a, b)
        if not self.same:
            self._weights(mine.w[a] - other.w[b], (mine.reward[a] - self.low) / (self.high - self.low))

    def _terms(self, mine: BatchTerms, other: BatchTerms, a: Flags, b: Flags) -> None:
        (N, S), (M, R) = (value_columns(each, self.estimator, self.column) for each in (mine, other))
        if self.estimator == "snips":
            self.tally.add(np.column_stack([N[a], S[a], M[b], R[b]]))
        else:
            self.tally.add(np.column_stack([N[a], S[a] - R[b]]))

    def _weights(self, v: Floats, r: Floats) -> None:
        size = np.abs(v)
        self.gap += float(v.sum())
        self.gaps += float(size.sum())
        self.squares += float((v * v).sum())
        self.largest = max(self.largest, float(size.max(initial=0.0)))
        self.rewarded += float((size * r).sum())
        if self.same_range:
            paid = np.where(v > 0.0, r, 1.0 - r)
            for sums, terms in zip(self.sums, (size * paid, size * (1.0 - paid)), strict=True):
                add_bets(sums, terms)

    def merge(self, later: "Pair") -> None:
        """Add the sums of the events that follow."""
        self.tally.merge(later.tally)
        self.same = self.same and later.same
        self.sums += later.sums
        for name in ("apart", "gap", "gaps", "squares", "rewarded"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.largest = max(self.largest, later.largest)

    @property
    def sound(self) -> bool:
        """Is a bootstrap of the difference reliable, given that it is for each of the two? Not if few events determine the difference."""
        worth = self.gaps**2 / self.squares if self.squares > 0.0 else 0.0
        share = self.rewarded / self.gaps if self.gaps > 0.0 else 0.0
        return worth >= TOO_FEW and worth * min(share, 1.0 - share) >= RARE and self.largest <= ONE_EVENT * self.squares**0.5

    @property
    def unseen(self) -> float:
        """The weight that may be missing from events that one of the two plays more: below 0 if the candidate's is missing, above 0 if the
        baseline's is."""
        lacks = self.gap / max(self.rows, 1)
        most = 4 * self.largest / max(self.rows, 1)
        return float(np.clip(lacks, -most, most))

    def safe(self, confidence: float) -> tuple[float, float]:
        """Return an interval for the difference that holds for any log, in units of rewards; the widest possible if its ends cross."""
        scale, error, apart = self.high - self.low, round((1.0 - confidence) / 2, 15), self.apart / max(self.rows, 1)
        low, high = (
            sign * (lower_end(sums, self.rows, error, 2.0) - apart) for sign, sums in zip((1, -1), self.sums, strict=True)
        )
        low, high = max(low, -apart), min(high, apart)
        return (scale * low, scale * high) if low <= high else (-scale * apart, scale * apart)

    def p_safe(self) -> float:
        """Return an upper bound on the two-sided p value of "there is no difference"."""
        if self.same or not self.rows:
            return 1.0
        most = max(evidence(sums, self.rows, self.apart / self.rows) for sums in self.sums)
        return float(min(1.0, 2.0 * np.exp(-most)))
