"""What the tests of `tests/theory/test_regret.py` share with others."""

import math

import numpy as np

Array = np.ndarray


def above(values: Array) -> float:
    """Two standard errors above the mean."""
    return float(values.mean() + 2 * values.std(ddof=1) / math.sqrt(len(values)))
