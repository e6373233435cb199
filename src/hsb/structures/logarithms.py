"""Sums of weights that are kept as logarithms."""

from __future__ import annotations

import math

import numpy as np

from ..types import Floats

NEVER = -math.inf  # the logarithm of a weight of 0


def log(weight: float) -> float:
    """Natural logarithm; of 0, minus infinity."""
    return math.log(weight) if weight > 0 else NEVER


def log_sum(terms: Floats) -> Floats:
    """ln of the sum of exp over the last axis; of nothing, minus infinity."""
    if terms.shape[-1] == 0:
        return np.full(terms.shape[:-1], NEVER)
    most = terms.max(axis=-1)
    most = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(most + np.log(np.exp(terms - most[..., None]).sum(axis=-1)))
