"""The best mapping of a table of total losses, N leaves by M arms, in at most R regions.

`learners/leaf_totals.py` has the two ends of the scale: one region, and as many as leaves.

A region is a run of neighbouring leaves, by number, with the same arm. Among mappings that lose the same, the first in the order of their
arms, leaf by leaf: ties go to the lowest arm number.
"""

from typing import Any, NamedTuple

import numpy as np

from .jit import kernel


class Work(NamedTuple):
    """Room for `best_regions`, and for a perturbed table. Empty without regions: then each leaf is a region.

    The best loss of leaves i, i+1, ... with the arm m at i and r changes left is values[r, m]; lows[r] is its least over m, first reached at
    leads[r]. after[i, r, m] is the arm of leaf i+1: m itself, or another for one change.
    """

    noisy: Any  # (N, M) floats
    values: Any  # (R, M) floats
    lows: Any  # (R,) floats
    leads: Any  # (R,) ints
    after: Any  # (N, R, M) int32
    mapping: Any  # (N,) ints


def workspace(leaves: int, arms: int, regions: int) -> Work:
    """Return room for tables of that shape; empty for 0 regions.

    >>> workspace(4, 3, 2).after.shape, workspace(4, 3, 0).after.size
    ((4, 2, 3), 0)
    """
    n = leaves if regions else 0
    return Work(
        np.zeros((n, arms)),
        np.zeros((regions, arms)),
        np.zeros(regions),
        np.zeros(regions, dtype=np.int64),
        np.zeros((n, regions, arms), dtype=np.int32),
        np.zeros(n, dtype=np.int64),
    )


@kernel("D1 C1", "D1 L1")
def best_available(row, available):
    """Return the first available arm with the least loss; `available` is empty if every arm is available."""
    best = -1
    for m in range(len(row)):
        if (len(available) == 0 or available[m]) and (best < 0 or row[m] < row[best]):
            best = m
    return best


@kernel("D2 Work(D2 D2 D1 L1 I3 L1) L1")
def best_regions(table, work, mapping):
    """Write the best mapping with at most R regions to `mapping`, and return its loss. O(N M R) time.

    The pass runs from the last leaf to the first. Then the arms can be read off in the order of the leaves, the lowest first. With the least
    over all arms stored, a change of arm costs one comparison instead of M.
    """
    values, lows, leads, after = work.values, work.lows, work.leads, work.after
    N, M = table.shape
    R = len(lows)
    for i in range(N - 1, -1, -1):
        for r in range(R - 1, -1, -1):  # so that lows[r - 1] still is the next leaf's
            lead, low = 0, np.inf
            for m in range(M):
                rest = values[r, m] if i < N - 1 else 0.0
                if i < N - 1:
                    after[i, r, m] = m
                    if r > 0 and (lows[r - 1] < rest or (lows[r - 1] == rest and leads[r - 1] < m)):
                        rest = lows[r - 1]
                        after[i, r, m] = leads[r - 1]
                values[r, m] = table[i, m] + rest
                if values[r, m] < low:
                    lead, low = m, values[r, m]
            lows[r] = low
            leads[r] = lead
    r = R - 1
    loss = lows[r]
    mapping[0] = leads[r]
    for i in range(N - 1):
        mapping[i + 1] = after[i, r, mapping[i]]
        if mapping[i + 1] != mapping[i]:
            r -= 1
    return loss
