"""Intervals of ordered leaves: the w-form, since these structures store w instead of options (`engine/kernels/intervals.py`).

`tables` gives B, with stay(i,j) = ln sigma(i,j) + max_m ln arm[m] and count = 1 / (groups + 1); V(root) = B(root) - ln w(root).
"""

import math

import numpy as np

from ..engine.state import Member
from ..engine.state.views import IntervalsView
from ..structures import Structure
from ..structures.grouped_lexicographic import tables
from ..structures.walk import log_of
from ..types import Floats
from .pieces import Best, best_arms, first_best, highest, piece


def solve(structure: Structure, member: Member) -> Best:
    """Return the most probable mapping of the intervals. O(K N^3) additions, O(K N^2) memory."""
    from ..engine.kernels.intervals import LOG_SIGMA_BASE  # loads Numba: on first use

    own, arms = IntervalsView(member), member.arms
    N, K = own.leaves, own.groups
    best = best_arms(member, member.kind.blocks(member))
    stay = (log_of(own.sigma) - own.sigma_e * LOG_SIGMA_BASE).reshape(N, N)
    first, last = np.triu_indices(N)  # the order of the arm blocks
    stay[first, last] += best.log_total + best.log_share
    log_count = log_of(own.counts)
    begin, ways = tables(stay, log_count, K, highest)

    pieces = []
    todo = [(0, N)]
    while todo:
        i, e = node = todo.pop()
        block = i * N - i * (i - 1) // 2 + e - 1 - i
        parts = _split(begin, ways, i, e, K) if e - i > 1 else []
        stays = not parts or first_best([stay[i, e - 1], sum(begin[a, b - a] for a, b in parts)]) == 0
        if stays or not best.seen[block]:
            pieces.append(piece(structure.boxes(node), best, block, arms))
        else:
            todo += parts
    return Best(float(begin[0, N] - math.log(own.whole)), pieces, structure)


def _split(begin: Floats, ways: list[Floats], i: int, e: int, K: int) -> list[tuple[int, int]]:
    """Return the best group of an interval; ties: the one with the earliest cuts."""
    if e - i < K:
        return [(leaf, leaf + 1) for leaf in range(i, e)]
    parts = []
    for table in reversed(ways):
        cut = i + 1 + first_best(begin[i, 1 : e - i] + table[e, e - i - 1 : 0 : -1])
        parts.append((i, cut))
        i = cut
    return [*parts, (i, e)]
