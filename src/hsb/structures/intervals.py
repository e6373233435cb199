"""The walk over all intervals of ordered leaves, shorter ones first: the sum over their splits, or the best of them."""

from __future__ import annotations

import numpy as np

from ..types import Floats


def tables(stay: Floats, log_count: Floats, K: int, join: np.ufunc) -> list[Floats]:
    """B_1 .. B_{K-1}, each by first and last leaf, -inf where an interval is too short. O(K N^3), all intervals of a length at once.

        B(i,j) = log_count[L] + join( stay(i,j),  B_K(i,j) )
        B_1 = B,   B_k(i,j) = join over c of B(i,c) + B_{k-1}(c+1,j)

    L = j - i + 1, and `join` is np.logaddexp for the sum of weights, np.maximum for the largest. Where 1 < L < K, the sum of B over
    the single leaves stands for B_K.
    """
    N = len(stay)
    most = K if K <= N else 1  # where every interval is shorter than K, there is only the division into leaves
    B = np.full((N, N), -np.inf)
    sums = [B] + [np.full((N, N), -np.inf) for _ in range(2, most)]
    for L in range(1, N + 1):
        i = np.arange(N - L + 1)
        j = i + L - 1
        c = i[:, None] + np.arange(L - 1)  # last leaf of the first part
        split = np.full(len(i), -np.inf)
        for k in range(2, min(L, most) + 1):
            split = join.reduce(B[i[:, None], c] + sums[k - 2][c + 1, j[:, None]], axis=1)
            if k < most:
                sums[k - 1][i, j] = split
        if 1 < L < K:
            leaves = i[:, None] + np.arange(L)
            split = B[leaves, leaves].sum(axis=1)
        B[i, j] = log_count[L] + join(stay[i, j], split)
    return sums
