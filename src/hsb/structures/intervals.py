"""The walk over all intervals of ordered leaves, shorter ones first: the sum over their splits, or the best of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..types import Floats


def tables(stay: Floats, log_count: Floats, K: int, total: Callable[[Floats], Floats]) -> tuple[Floats, list[Floats]]:
    """`begin[i, L]`, V of the L leaves from i on, and `ways[k-1][e, L]`, the total over all divisions of the L leaves before e into k parts.

        V(i, L) = log_count[L] + total( stay(i, i+L-1),  a first part and K-1 more, cut anywhere )

    `total` is `log_sum` or the maximum, over the last axis. An interval of fewer leaves than K splits into its single leaves. O(K N^3).
    """
    N = len(stay)
    begin = np.full((N + 1, N + 1), -np.inf)
    ways = [np.full((N + 1, N + 1), -np.inf) for _ in range(K - 1 if K <= N else 1)]
    for L in range(1, N + 1):
        starts, ends = slice(0, N - L + 1), slice(L, N + 1)
        first, rest = begin[starts, 1:L], slice(L - 1, 0, -1)
        value = np.diagonal(stay, L - 1)
        if L > 1:
            split = sliding_window_view(np.diagonal(stay), L).sum(axis=1) if L < K else total(first + ways[-1][ends, rest])
            value = total(np.stack([value, split], axis=-1))
        begin[starts, L] = ways[0][ends, L] = log_count[L] + value
        if L > 1:
            for fewer, more in pairwise(ways):
                more[ends, L] = total(first + fewer[ends, rest])
    return begin, ways
