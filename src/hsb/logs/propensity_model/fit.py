"""How well a model of who wrote a log fits it: what is said of estimated propensities."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...types import Floats

BINS = 10
OFF = 0.03  # an average gap between predicted and seen that is worth a word
MANY = 0.001  # a share of propensities that were set to the smallest allowed which is worth a word
SURE = 0.99  # an arm shown with more could be predicted


class Bin(NamedTuple):
    """Of the arms that were available, those with about the same probability: the average that the model says, the share that was shown."""

    predicted: float
    seen: float
    entries: int


@dataclass(frozen=True)
class LoggerFit:
    """How well the model behind `hsb.logs.open(..., propensity="estimate")` predicts which arm was shown.

    Every number is of rows that the model was not fitted on.

    >>> fit = LoggerFit(1000, 2, -0.5, -0.6, -0.69, (Bin(0.3, 0.31, 1000), Bin(0.7, 0.69, 1000)), 0.01, 0.05, 0.1, 0, 0.0)
    >>> print(fit)
    propensities estimated on 1,000 rows, 2 arms: log-likelihood -0.5000 a row; -0.6000 by how often arms were shown alone, -0.6900 if uniform
    predicted and seen differ by 0.0100 on average:
    predicted 0.300 0.700
    seen      0.310 0.690
    smallest propensity 0.05, 1% are below 0.1
    """

    rows: int
    """Rows that it was fitted on, in five parts: the propensity of each row comes from the other four."""
    arms: int
    """How many arms there are."""
    log_likelihood: float
    """The average logarithm of the propensity, as the model has it."""
    frequencies: float
    """The same, where a propensity is how often the arm was shown, among those available, whatever the context."""
    uniform: float
    """The same, where all arms available are as probable as each other."""
    calibration: tuple[Bin, ...]
    """Ten bins, from the smallest probabilities to the largest, with as many available arms each."""
    calibration_error: float
    """How far predicted and seen are apart, on average over the bins."""
    smallest: float
    """The smallest propensity."""
    low: float
    """One propensity of a hundred is below this."""
    bounded: int
    """How many were smaller than a hundredth of uniform, and were set to it."""
    sure: float
    """The share of rows whose arm was all but certain (0.99 or more): they say nothing of other arms."""

    @property
    def gain(self) -> float:
        """By how much contexts help to predict the arm: log-likelihood a row, above that of frequencies. Near 0: not at all."""
        return self.log_likelihood - self.frequencies

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that say what speaks against the estimates."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        if self.calibration_error > OFF:
            yield (
                f"The estimated propensities are off by {self.calibration_error:.3f} on average: the model does not fit who wrote this log. "
                "Give the features that decided what was shown."
            )
        if self.sure > 0.5:
            yield (
                f"In {100 * self.sure:.0f}% of rows the arm shown was all but certain: from those nothing can be learned of other arms, "
                "and nothing estimated."
            )
        if self.bounded > MANY * self.rows:
            yield f"{self.bounded} estimated propensities were smaller than a hundredth of uniform and were set to it."

    def to_dict(self) -> dict[str, Any]:
        """A dict of plain data, for JSON."""
        names = (
            "rows",
            "arms",
            "log_likelihood",
            "frequencies",
            "uniform",
            "calibration_error",
            "smallest",
            "low",
            "bounded",
            "sure",
        )
        bins = [each._asdict() for each in self.calibration]
        return {name: getattr(self, name) for name in names} | {"calibration": bins, "warnings": list(self.warnings)}

    def __str__(self) -> str:
        about = (
            f"propensities estimated on {self.rows:,} rows, {self.arms} arms: log-likelihood {self.log_likelihood:.4f} a row"
        )
        return "\n".join(
            [
                f"{about}; {self.frequencies:.4f} by how often arms were shown alone, {self.uniform:.4f} if uniform",
                f"predicted and seen differ by {self.calibration_error:.4f} on average:",
                "predicted " + " ".join(f"{each.predicted:.3f}" for each in self.calibration),
                "seen      " + " ".join(f"{each.seen:.3f}" for each in self.calibration),
                f"smallest propensity {self.smallest:.3g}, 1% are below {self.low:.3g}",
                *(f"Warning: {warning}" for warning in self.warnings),
            ]
        )


def calibrated(predicted: Floats, shown: Floats) -> tuple[tuple[Bin, ...], float]:
    """Bins of as many entries each, and the average gap between predicted and seen; both arguments have an entry for each arm available.

    >>> calibrated(np.array([0.2, 0.2, 0.8, 0.8]), np.array([0.0, 0.0, 1.0, 1.0]))[1].__round__(3)
    0.2
    """
    order = np.argsort(predicted, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    bins = tuple(Bin(float(predicted[part].mean()), float(shown[part].mean()), len(part)) for part in parts)
    total = max(len(order), 1)
    return bins, math.fsum(abs(each.predicted - each.seen) * each.entries for each in bins) / total
