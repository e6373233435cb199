"""Prior of a mapping on the lexicographic structures: all intervals, shorter ones first."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ..types import Floats
from .logs import NEVER, log, log_sum


def intervals(mapping: NDArray[np.int64], groups: int, values: Floats) -> float:
    """ln beta of the whole interval.

    `begin[i, l]` is ln beta of the l leaves from leaf i on. `ways[k][e, l]` is the ln of the sum, over all divisions of the
    l leaves before e into k parts, of the product of their betas; so a split into k parts is a first part and k-1 more.
    An interval of fewer leaves than `groups` splits into its single leaves.
    """
    n = len(mapping)
    begin = np.full((n + 1, n + 1), NEVER)
    ways = [np.full((n + 1, n + 1), NEVER) for _ in range(groups - 1)]
    own = values[mapping]
    same = np.ones(n, dtype=np.int64)  # leaves of one symbol from here on
    for i in range(n - 2, -1, -1):
        same[i] = same[i + 1] + 1 if mapping[i] == mapping[i + 1] else 1
    for length in range(1, n + 1):
        starts, ends = slice(0, n - length + 1), slice(length, n + 1)
        first, rest = begin[starts, 1:length], slice(length - 1, 0, -1)
        stopping = np.where(same[starts] >= length, own[starts], NEVER)
        if length == 1:
            found = stopping
        elif length < groups:
            leaves = sliding_window_view(own, length).sum(axis=1)
            found = np.logaddexp(stopping, leaves) - log(2)
        else:
            splitting = log_sum(first + ways[-1][ends, rest])
            found = np.logaddexp(stopping, splitting) - log(math.comb(length - 1, groups - 1) + 1)
        begin[starts, length] = ways[0][ends, length] = found
        for fewer, more in pairwise(ways):
            more[ends, length] = log_sum(first + fewer[ends, rest])
    return float(begin[0, n])
