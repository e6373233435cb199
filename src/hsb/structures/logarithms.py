"""Weights that are kept as logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..types import Floats


def log_sum(terms: Floats) -> Floats:
    """ln of the sum of exp over the last axis, which is not empty."""
    most = terms.max(axis=-1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0.0)
    return np.asarray(most[..., 0] + log_of(np.exp(terms - most).sum(axis=-1)))


def log_of(values: ArrayLike) -> Floats:
    """ln, with ln 0 = -inf."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values), dtype=np.float64)
