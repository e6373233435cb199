"""Prior of a mapping on a K-ary tree: level by level, from the leaves up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..types import Floats
from .logs import NEVER, log


def tree(mapping: NDArray[np.int64], k: int, depth: int, values: Floats, stop: float) -> float:
    """ln beta at the root; `one[i]` is the symbol of node i where it is constant, -1 elsewhere."""
    one = mapping
    weight = values[mapping]
    for _ in range(depth):
        children = one.reshape(-1, k)
        one = np.where((children == children[:, :1]).all(axis=1), children[:, 0], -1)
        here = np.where(one >= 0, log(stop) + values[one], NEVER)
        weight = np.logaddexp(here, log(1.0 - stop) + weight.reshape(-1, k).sum(axis=1))
    return float(weight[0])
