"""The cost of the most expensive mapping: the largest ln(1/beta) of all mappings whose arm changes in few places."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from .. import reproducible_math

FAR = 700.0  # exp of it is near the largest double


class Level(NamedTuple):
    """Equal nodes of a tree: the number of their children, and the ln of the weights of stopping and splitting."""

    children: int
    log_stop: float
    log_go: float


@lru_cache(maxsize=4096)
def dearest_in_tree(levels: tuple[Level, ...], log_arm: float, changes: int) -> float:
    """Return the exact largest ln(1/beta) of a tree's mappings whose arm changes at most `changes` times along the leaves.

    `levels` come from the bottom up, the root last; every leaf is below all of them. `log_arm` is the ln of an arm's weight, ln(1/M).

    With F_d the ln of what a constant mapping weighs d levels up, and f_d(c) that of the dearest with at most c changes:
    F_d = ln(stop e^log_arm + go e^(K F_{d-1})), f_d(0) = F_d, and for c >= 1, as changes between children cost nothing,
    f_d(c) = ln go + min over c_1 + ... + c_K <= c of the sum of f_{d-1}(c_i). F_d exceeds ln go + K F_{d-1}, by delta_d.

    So f_d is convex in c, by induction: what one more change takes off is, sorted, what it takes off in each of the K children, the largest
    of all being delta_d more. From the root, one change takes delta_1 + ... + delta_D, K - 1 more take a delta_D less each, K (K - 1) more a
    delta_{D-1} less too, and so on. O(levels), whatever the changes.

    >>> half = -math.log(2.0)
    >>> round(dearest_in_tree((Level(2, half, half),) * 5, -math.log(3.0), 2), 2)
    20.32
    """
    constant, taken, gains = log_arm, 0.0, []
    for level in levels:
        split = level.log_go + level.children * constant
        more = 0.0
        if level.log_stop > -math.inf:
            x = level.log_stop + log_arm - split
            more = x + reproducible_math.log1p(reproducible_math.exp(-x)) if x > 0.0 else _log1p_exp(x)
        constant, taken = split + more, taken + more
        gains.append(taken)
    cost, left, nodes, above = -constant, changes, 1, 0
    for level, gain in zip(reversed(levels), reversed(gains), strict=True):
        count = min(left, nodes - above)
        cost, left, above = cost + count * gain, left - count, nodes
        if left <= 0:
            break
        nodes *= level.children
    return cost


def _log1p_exp(x: float) -> float:
    return reproducible_math.log1p(reproducible_math.exp(x)) if x > -FAR else 0.0
