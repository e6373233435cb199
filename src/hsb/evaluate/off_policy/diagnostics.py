"""Diagnostics of weights: does a log support a bootstrap? They concern the events in the log, and events that are missing from it.

A bootstrap draws from the events seen. If the policy often plays what the log's policy hardly ever did, few events carry most of the weight,
and it is a matter of luck whether the log has them: neither the spread nor the effective sample size of the events seen shows it. So there
are four questions:

- Is an event heavy: a weight above 0.7 sqrt(n)? The sum of n events of weight 1 varies by sqrt(n); one such event moves it nearly as much.
- Are heavy events missing? If arm a was shown with probability p, and the policy plays it with probability c, then it plays others with
  1 - c, the log's policy did with 1 - p, and such an event would have weighed (1 - c) / (1 - p) on average. Each event contributes to this
  estimate, even if none was heavy.
- Is the average weight 1, up to 2% or 2.5 standard errors?
- Is the effective sample size at least thirty, and the effective number of rewards at least five?

The thresholds were chosen on logs like those of `make coverage`, with other seeds (docs/off_policy.md).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...types import Floats

HEAVY = 0.7  # times sqrt(n): a weight above it is heavy
MISSING = 0.005  # share of decisions on arms that the log's policy almost never played in such contexts
OFF, ERRORS = 0.02, 2.5  # the average weight may be off 1 by either
FAR = 4.5  # standard errors beyond which there is a fault: random variation reaches it once in 150,000 logs
FEW, TOO_FEW = 100, 30  # effective sample sizes: below the first a warning, below the second no bootstrap
RARE = 5.0  # with fewer rewards than this the bootstrap underestimates the spread
UNSEEN_EVENTS = 4  # the number of events like the heaviest that may be missing if the average weight is below 1

STEPS, BINS = 4, 257  # steps for each factor of 2; weights up to 2^64

ADVICE = (
    "So intervals are not by the bootstrap: they are safe intervals or, for switch and clipped, bounds from clipped weights. "
    "A longer log narrows them; so does a log whose policy plays every arm often enough (floor= when it is written)."
)

ESTIMATED = (
    "The propensities are estimates: no interval, not even the safe one, includes their error, and all values are biased if the logging "
    "policy used features that are not given. The fit of the model is in log.logger, and the commands print it."
)


class Weighing:
    """Sums over the weights for the diagnostics; constant memory."""

    def __init__(self) -> None:
        self.rows = 0
        self.sum = self.squares = self.largest = 0.0
        self.elsewhere = np.zeros(BINS)  # decisions on arms not shown, by the weight that they would have had

    def add(self, w: Floats, probability: Floats, propensity: Floats) -> None:
        """Add events: weights `w`, and the `probability` of the arm shown under the policy and its `propensity` in the log."""
        self.rows += len(w)
        self.sum += float(w.sum())
        self.squares += float((w * w).sum())
        self.largest = max(self.largest, float(w.max(initial=0.0)))
        others = np.maximum(1.0 - probability, 0.0)
        weight = others / np.maximum(1.0 - propensity, 1e-15)
        bins = np.floor(STEPS * np.log2(np.clip(weight, 1.0, 2.0 ** ((BINS - 1) // STEPS)))).astype(np.int64)
        self.elsewhere += np.bincount(bins, weights=others, minlength=BINS)

    def merge(self, other: "Weighing") -> None:
        """Add the sums of other events."""
        self.rows += other.rows
        self.sum += other.sum
        self.squares += other.squares
        self.largest = max(self.largest, other.largest)
        self.elsewhere += other.elsewhere

    def result(self) -> "Weights":
        """Compute the diagnostics."""
        n = max(self.rows, 1)
        limit = HEAVY * math.sqrt(n)
        mean = self.sum / n
        return Weights(
            rows=self.rows,
            effective=self.sum * self.sum / self.squares if self.squares > 0.0 else 0.0,
            largest=self.largest,
            share=self.largest / self.sum if self.sum > 0.0 else 0.0,
            average=mean,
            error=math.sqrt(max(self.squares / n - mean * mean, 0.0) / n),
            missing=float(self.elsewhere[math.floor(STEPS * math.log2(max(limit, 1.0))) + 1 :].sum()) / n,
        )


class Weights(NamedTuple):
    """Statistics of the weights of a log's events."""

    rows: int
    effective: float
    largest: float
    share: float
    average: float
    error: float
    missing: float

    @property
    def limit(self) -> float:
        """The weight above which an event is too heavy for a bootstrap."""
        return HEAVY * math.sqrt(self.rows)

    @property
    def unseen(self) -> float:
        """The weight that a sound log may lack: the shortfall of the average weight, at most that of four events like the heaviest."""
        return min(max(1.0 - self.average, 0.0), UNSEEN_EVENTS * self.largest / max(self.rows, 1))

    @property
    def _worth(self) -> str:
        return f"The log holds little information on this policy: {self.rows} events are worth {self.effective:.0f} (effective sample size)."

    def remarks(self) -> Iterator[str]:
        """Warn of doubts that do not rule out a bootstrap."""
        if TOO_FEW <= self.effective < FEW:
            yield f"Evaluate on a longer log: intervals may be too short. {self._worth}"

    @property
    def too_much(self) -> bool:
        """Is the average weight so far above 1 that bounds from weights are too short?"""
        return self.average - 1.0 > max(OFF, ERRORS * self.error)

    def faults(self) -> Iterator[str]:
        """Explain why the values themselves are not reliable."""
        if abs(self.average - 1.0) > FAR * self.error + 1e-9:
            yield (
                f"Do not trust the values. Weights average {self.average:.4f}, not 1: the propensities are not those of the log, the log "
                "never shows some arms when the policy would play them, or the policy learned from these events."
            )

    @property
    def says_little(self) -> bool:
        """Are there too few rows that show the arm that the policy would play?"""
        return self.effective < TOO_FEW or self.largest > self.limit or self.missing > MISSING

    def doubts(self, paid: float) -> Iterator[str]:
        """Explain why a bootstrap of these events is not reliable; `paid` is the effective number of rewards, or of missing rewards.

        >>> list(Weights(rows=10_000, effective=9000, largest=3, share=0.0003, average=1, error=0.004, missing=0).doubts(500.0))
        []
        """
        if self.effective < TOO_FEW:
            yield f"{self._worth} These are too few for the bootstrap."
        if paid < RARE:
            yield f"Evaluate on a log with more rewards: the effective number of rewards is {paid:.1f}, too few for the bootstrap."
        if self.largest > self.limit:
            yield (
                f"One event carries {100 * self.share:.3g}% of all weight: {self.largest:.4g}; the limit is {self.limit:.3g} "
                f"for {self.rows} events. Events like it may be missing, or too frequent by luck."
            )
        if self.missing > MISSING:
            yield (
                f"In {100 * self.missing:.3g}% of decisions the policy plays arms that the log's policy almost never played there: such an "
                f"event would have a weight above {self.limit:.3g}, and most such events are missing."
            )
        if max(OFF, ERRORS * self.error) < abs(self.average - 1.0) <= FAR * self.error + 1e-9:
            yield (
                f"Check the propensities. Weights average {self.average:.3f}, not 1: events of large weight are missing or too many, by "
                "luck or by a fault."
            )
