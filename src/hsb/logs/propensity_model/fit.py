"""The fit of a model of the logging policy: calibration, likelihood, warnings."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...types import Floats

BINS = 10
OFF = 0.03  # average gap between predicted and seen above which a warning is given
MANY = 0.001  # share of clipped propensities above which a warning is given
SURE = 0.99  # an arm of at least this propensity was all but certain


class Bin(NamedTuple):
    """Available arms of about the same probability: the average `predicted` probability, the share that was shown (`seen`), their number."""

    predicted: float
    seen: float
    entries: int


@dataclass(frozen=True)
class LoggerFit:
    """The fit of the model behind `hsb.logs.open(..., propensity="estimate")`: how well it predicts the arm shown.

    Cross-fitted: every number is measured on rows that the model was not fitted on.

    >>> fit = LoggerFit(1000, 2, -0.5, -0.6, -0.69, (Bin(0.3, 0.31, 1000), Bin(0.7, 0.69, 1000)), 0.01, 0.05, 0.1, 0, 0.0)
    >>> print(fit)
    propensities estimated on 1,000 rows, 2 arms: log-likelihood -0.5000 a row; -0.6000 by the frequencies of arms alone, -0.6900 if uniform
    predicted and seen differ by 0.0100 on average:
    predicted 0.300 0.700
    seen      0.310 0.690
    smallest propensity 0.05, 1% are below 0.1
    """

    rows: int
    """Rows in the fit, in five folds: the propensity of each row comes from the other four."""
    arms: int
    """The number of arms."""
    log_likelihood: float
    """The average log-likelihood of the arm shown under the model."""
    frequencies: float
    """The same if propensities are the frequencies of the available arms, whatever the context."""
    uniform: float
    """The same if all available arms are equally probable."""
    calibration: tuple[Bin, ...]
    """Ten bins with equal numbers of available arms, from the smallest probabilities to the largest."""
    calibration_error: float
    """The average gap between predicted and seen over the bins."""
    smallest: float
    """The smallest propensity."""
    low: float
    """The 1% quantile of the propensities."""
    bounded: int
    """The number of propensities clipped: below a hundredth of the uniform probability, they were set to it."""
    sure: float
    """The share of rows whose arm was all but certain (0.99 or more), so that they hold no information on other arms."""

    @property
    def gain(self) -> float:
        """The gain in log-likelihood a row over frequencies: how much contexts help to predict the arm. Near 0: not at all."""
        return self.log_likelihood - self.frequencies

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the estimates, as sentences."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        if self.calibration_error > OFF:
            yield (
                f"The estimated propensities are off by {self.calibration_error:.3f} on average: the model does not fit this log. "
                "Give the features that decided which arm was shown."
            )
        if self.sure > 0.5:
            yield (
                f"In {100 * self.sure:.0f}% of rows the arm shown was all but certain: those rows hold no information on other arms."
            )
        if self.bounded > MANY * self.rows:
            yield f"{self.bounded} estimated propensities were below a hundredth of the uniform probability and were set to it."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
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
        bins = [part._asdict() for part in self.calibration]
        return {name: getattr(self, name) for name in names} | {"calibration": bins, "warnings": list(self.warnings)}

    def __str__(self) -> str:
        about = (
            f"propensities estimated on {self.rows:,} rows, {self.arms} arms: log-likelihood {self.log_likelihood:.4f} a row"
        )
        return "\n".join(
            [
                f"{about}; {self.frequencies:.4f} by the frequencies of arms alone, {self.uniform:.4f} if uniform",
                f"predicted and seen differ by {self.calibration_error:.4f} on average:",
                "predicted " + " ".join(f"{part.predicted:.3f}" for part in self.calibration),
                "seen      " + " ".join(f"{part.seen:.3f}" for part in self.calibration),
                f"smallest propensity {self.smallest:.3g}, 1% are below {self.low:.3g}",
                *(f"Warning: {warning}" for warning in self.warnings),
            ]
        )


def calibration_bins(predicted: Floats, shown: Floats) -> tuple[tuple[Bin, ...], float]:
    """Return bins of equal size and the average gap between predicted and seen; both arguments have an entry for each available arm.

    >>> calibration_bins(np.array([0.2, 0.2, 0.8, 0.8]), np.array([0.0, 0.0, 1.0, 1.0]))[1].__round__(3)
    0.2
    """
    order = np.argsort(predicted, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    bins = tuple(Bin(float(predicted[part].mean()), float(shown[part].mean()), len(part)) for part in parts)
    total = max(len(order), 1)
    return bins, math.fsum(abs(part.predicted - part.seen) * part.entries for part in bins) / total
