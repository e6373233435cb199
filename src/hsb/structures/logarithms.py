"""Weights that are kept as logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..types import Floats


def log_of(values: ArrayLike) -> Floats:
    """ln, with ln 0 = -inf."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values), dtype=np.float64)
