"""Student t intervals for averages of a few independent repetitions, without tables and without SciPy."""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import is_number, whole
from ..errors import InputError, quoted
from ..structures.spaces import numbers

SUMMED = 300  # degrees of freedom up to which the distribution is summed exactly; beyond, expanded in their inverse


class Interval(NamedTuple):
    """A mean and its confidence interval.

    >>> print(Interval(mean=0.25, low=0.2, high=0.3))
    0.2500 (0.2000 to 0.3000)
    """

    mean: float
    """The mean of the repetitions."""
    low: float
    """The lower end of the interval."""
    high: float
    """The upper end."""

    def __str__(self) -> str:
        return f"{self.mean:.4f} ({self.low:.4f} to {self.high:.4f})"


def mean_interval(values: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Return the mean of `values`, one for each independent repetition, and its Student t interval; for a single value an infinite one.

    `confidence`, between 0 and 1, is the coverage of the interval.

    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
    2.5000 (0.4457 to 4.5543)
    """
    sample = numbers("values", values)
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        raise InputError(f"An interval needs a list of finite numbers, one for each repetition; given {quoted(values)}.")
    if not is_number(confidence) or not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must lie between 0 and 1, e.g. 0.95; given {quoted(confidence)}.")
    mean = float(sample.mean())
    if len(sample) == 1:
        return Interval(mean, -math.inf, math.inf)
    half = student_quantile(0.5 + confidence / 2, len(sample) - 1) * float(sample.std(ddof=1)) / math.sqrt(len(sample))
    return Interval(mean, mean - half, mean + half)


def paired_interval(differences: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Return the mean of `differences` and its interval: one difference for each repetition, of two policies on the same data.

    `confidence` as in `mean_interval`.

    >>> paired_interval([0.02, 0.03, 0.025]).low > 0
    True
    """
    return mean_interval(differences, confidence=confidence)


def zero_p(differences: ArrayLike) -> float:
    """Return the two-sided p value of Student's t test that the mean is 0.

    It is below 0.05 if and only if the 95% interval excludes 0. It is 1 for a single repetition, and 0 for equal repetitions other than 0.

    >>> round(zero_p([1.0, 2.0, 3.0, 4.0]), 6), zero_p([0.5]), zero_p([0.2, 0.2])
    (0.030466, 1.0, 0.0)
    """
    mean, low, _ = mean_interval(differences, confidence=0.5)
    values = numbers("differences", differences)
    if len(values) == 1 or mean == 0.0:
        return 1.0
    if mean == low:
        return 0.0
    freedom = len(values) - 1
    spread = float(values.std(ddof=1)) / math.sqrt(len(values))
    return max(0.0, 2.0 * (1.0 - _below(math.atan(abs(mean) / spread / math.sqrt(freedom)), freedom)))


def student_quantile(p: float, freedom: int) -> float:
    """Return the `p` quantile, 0 < p < 1, of Student's t distribution with `freedom` degrees of freedom.

    >>> round(student_quantile(0.975, 9), 6)
    2.262157
    """
    if not is_number(p) or not 0.0 < p < 1.0:
        raise InputError(f"p must lie between 0 and 1; given {quoted(p)}.")
    return _quantile(float(p), whole("freedom", freedom, 1))


@lru_cache(maxsize=256)
def _quantile(p: float, freedom: int) -> float:
    if p < 0.5:
        return -_quantile(1.0 - p, freedom)
    if freedom > SUMMED:
        return _expand_quantile(NormalDist().inv_cdf(p), freedom)
    low, high = 0.0, math.pi / 2  # the angle atan(t / sqrt(freedom)): all of t in a bounded range
    middle = math.pi / 4
    while low < middle < high:
        low, high = (middle, high) if _below(middle, freedom) < p else (low, middle)
        middle = (low + high) / 2
    return math.sqrt(freedom) * math.tan(middle)


def _below(angle: float, freedom: int) -> float:
    """Return P(t <= sqrt(freedom) tan(angle)), a finite sum (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    cosine = math.cos(angle)
    odd = freedom % 2
    term, total = cosine if odd else 1.0, 0.0
    for k in range(freedom // 2):
        total += term
        top = 2 * k + 1 + odd
        term *= cosine * cosine * top / (top + 1)
    total *= math.sin(angle)
    both_sides = 2.0 / math.pi * (angle + total) if odd else total
    return 0.5 + both_sides / 2


def _expand_quantile(z: float, freedom: int) -> float:
    """Expand the quantile around the normal quantile `z` in powers of 1/freedom (Abramowitz and Stegun 26.7.5)."""
    series = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(g / freedom**k for k, g in enumerate(series))
