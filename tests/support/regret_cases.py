"""Helpers of `tests/theory/test_regret.py`, shared with other tests."""

import math

import numpy as np

Array = np.ndarray


def above(values: Array) -> float:
    """Return the mean plus two standard errors."""
    return float(values.mean() + 2 * values.std(ddof=1) / math.sqrt(len(values)))
