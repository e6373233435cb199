"""The best cut, by trying every one."""

from itertools import combinations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def gini(y: npt.NDArray[np.int64], w: Array, left: npt.NDArray[np.bool_]) -> float:
    """Return the objective of best_cut, for one division in two."""
    total = 0.0
    for side in (left, ~left):
        weight = w[side].sum()
        total += sum(w[side & (y == arm)].sum() ** 2 for arm in np.unique(y)) / weight
    return float(total)


def best_threshold(X: Array, y: npt.NDArray[np.int64], w: Array) -> float:
    """Return the best objective of a threshold in any column."""
    ways = [(X[:, j] < value) for j in range(X.shape[1]) for value in np.unique(X[:, j])[1:]]
    return max(gini(y, w, left) for left in ways)


def best_subset(codes: Array, y: npt.NDArray[np.int64], w: Array) -> float:
    """Return the best objective of a set of categories."""
    here = np.unique(codes)
    ways = [np.isin(codes, some) for size in range(1, len(here)) for some in combinations(here, size)]
    return max(gini(y, w, left) for left in ways)
