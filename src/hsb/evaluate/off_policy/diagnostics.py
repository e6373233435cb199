"""Can a log carry a bootstrap? What its weights say: of the events that are in it, and of those that are missing from it.

A bootstrap draws from the events seen. Where the policy often plays what the log's policy hardly ever did, few events carry most of the
weight, and whether they turn up is probability: neither the spread nor the effective sample size of what did turn up tells. So four questions:

- Is an event heavy: a weight above 0.7 sqrt(n)? n events of weight 1 vary by sqrt(n) in all; one such event moves the sum nearly as much.
- Are heavy events missing? If arm a was shown with probability p, and the policy plays it with probability c, then it plays others with 1 - c,
  the log's policy did with 1 - p, and such an event would have weighed (1 - c) / (1 - p) on average. Each event tells, though none was heavy.
- Is the average weight 1, up to 2% or 2.5 standard errors?
- Are the events worth thirty of the policy's own, and their rewards five?

The thresholds were chosen on logs like those of `make coverage`, with other seeds (docs/off_policy.md).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...types import Floats

HEAVY = 0.7  # times sqrt(n): a weight above it is heavy
MISSING = 0.005  # a share of decisions on arms that were all but never played there
OFF, ERRORS = 0.02, 2.5  # the average weight may be off 1 by either
FAR = 4.5  # standard errors that it is off by a fault, not by chance: by chance once in 150,000 logs
FEW, TOO_FEW = 100, 30  # effective sample sizes: below the first a warning, below the second no bootstrap
RARE = 5.0  # with fewer rewards than this the bootstrap sees no spread
UNSEEN_EVENTS = 4  # so many events like the heaviest may be missing where the average weight is below 1

STEPS, BINS = 4, 257  # steps an octave; weights up to 2^64

ADVICE = (
    "So intervals are not by the bootstrap: they are the safe one or, of switch and clipped, bounds from clipped weights. "
    "A longer log would narrow them; so would one whose policy plays every arm often enough (floor= when it is written)."
)

ESTIMATED = (
    "The propensities are estimates: no interval, the safe one included, has their error, and what decided beside the features given biases "
    "all. How well the model of the log's policy fits is in log.logger, and printed by the commands."
)


class Weighing:
    """Adds up what is asked of the weights; constant memory."""

    def __init__(self) -> None:
        self.rows = 0
        self.sum = self.squares = self.largest = 0.0
        self.elsewhere = np.zeros(BINS)  # share of decisions on arms not shown, by the weight they would have had

    def add(self, w: Floats, probability: Floats, propensity: Floats) -> None:
        """Take in events: the weight, and the probability of the arm shown, by the policy and by the log's."""
        self.rows += len(w)
        self.sum += float(w.sum())
        self.squares += float((w * w).sum())
        self.largest = max(self.largest, float(w.max(initial=0.0)))
        others = np.maximum(1.0 - probability, 0.0)
        weight = others / np.maximum(1.0 - propensity, 1e-15)
        bins = np.floor(STEPS * np.log2(np.clip(weight, 1.0, 2.0 ** ((BINS - 1) // STEPS)))).astype(np.int64)
        self.elsewhere += np.bincount(bins, weights=others, minlength=BINS)

    def merge(self, other: "Weighing") -> None:
        """Take in the sums of other events."""
        self.rows += other.rows
        self.sum += other.sum
        self.squares += other.squares
        self.largest = max(self.largest, other.largest)
        self.elsewhere += other.elsewhere

    def result(self) -> "Weights":
        """What came of it."""
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
    """The weights of a log's events, in numbers."""

    rows: int
    effective: float
    largest: float
    share: float
    average: float
    error: float
    missing: float

    @property
    def limit(self) -> float:
        """Heavier events are too heavy for a bootstrap."""
        return HEAVY * math.sqrt(self.rows)

    @property
    def unseen(self) -> float:
        """How much weight may be missing from a log that is sound: what the average lacks, but no more than four events like the heaviest."""
        return min(max(1.0 - self.average, 0.0), UNSEEN_EVENTS * self.largest / max(self.rows, 1))

    @property
    def _worth(self) -> str:
        return (
            f"The log says little about this policy: {self.rows} events are worth {self.effective:.0f} (effective sample size)."
        )

    def remarks(self) -> Iterator[str]:
        """What is worth a word, though a bootstrap may be tried."""
        if TOO_FEW <= self.effective < FEW:
            yield f"Evaluate on a longer log, for intervals may be too short. {self._worth}"

    @property
    def too_much(self) -> bool:
        """Do the weights average so far above 1 that bounds by them are too short?"""
        return self.average - 1.0 > max(OFF, ERRORS * self.error)

    def faults(self) -> Iterator[str]:
        """Why the values themselves are not to be trusted."""
        if abs(self.average - 1.0) > FAR * self.error + 1e-9:
            yield (
                f"Do not trust the values. Weights average {self.average:.4f}, not 1: the propensities are not those of the log, the log "
                "never shows some arms where the policy plays them, or the policy learned from these very events."
            )

    @property
    def says_little(self) -> bool:
        """Are there too few rows that show what the policy would play?"""
        return self.effective < TOO_FEW or self.largest > self.limit or self.missing > MISSING

    def doubts(self, paid: float) -> Iterator[str]:
        """Why a bootstrap of these events cannot be trusted; `paid` is how many rewards, or their absence, the events are worth.

        >>> list(Weights(rows=10_000, effective=9000, largest=3, share=0.0003, average=1, error=0.004, missing=0).doubts(500.0))
        []
        """
        if self.effective < TOO_FEW:
            yield f"{self._worth} Too few for the bootstrap."
        if paid < RARE:
            yield f"Evaluate on a log with more rewards: these are worth {paid:.1f} events, too few for the bootstrap."
        if self.largest > self.limit:
            yield (
                f"One event carries {100 * self.share:.3g}% of all weight: {self.largest:.4g}, where {self.limit:.3g} is the most "
                f"for {self.rows} events. Others like it are missing, or are in the log by luck."
            )
        if self.missing > MISSING:
            yield (
                f"In {100 * self.missing:.3g}% of decisions the policy plays arms that the log's policy all but never played there: an "
                f"event of that kind would weigh more than {self.limit:.3g}, and most of them are missing."
            )
        if max(OFF, ERRORS * self.error) < abs(self.average - 1.0) <= FAR * self.error + 1e-9:
            yield (
                f"Check the propensities. Weights average {self.average:.3f}, not 1: events of large weight are missing or too many, by "
                "probability or by a fault."
            )
