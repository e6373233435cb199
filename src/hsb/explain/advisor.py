"""What an advisor has learned (`kernels/advisor.py`): from the root down, a node splits where that is more probable than stopping."""

from __future__ import annotations

import math

import numpy as np

from ..kernels import header as h
from ..members import Floats, Member
from ..structures.base import tree_box
from .pieces import Piece, unseen

DRAWS = 2000  # from each arm's posterior, to see how often it is the best; the same numbers every time


def solve(member: Member, features: int) -> tuple[float, list[Piece]]:
    """ln of the posterior of this way of splitting, and its parts with the arm of least mean in each. O(nodes)."""
    from ..kernels import advisor as a  # loads Numba: on first use

    F, I = member
    depth, arms = int(I[h.DEPTH]), int(I[h.ARMS])
    rows = F[I[h.ROW0] :].reshape(-1, int(I[h.STRIDE]))
    changed = np.where(rows[:, a.VISITS] > 0.0, rows[:, a.CHANGED], -1.0)
    for i in range(2, len(rows)):  # a change holds for all that lies below
        changed[i] = max(changed[i], changed[i // 2])
    fresh = (rows[:, a.VISITS] == 0.0) | (rows[:, a.BORN] < changed)
    value = 0.0
    pieces = []
    todo = [(1, 0.5 * np.ones(arms), 0.5 * np.ones(arms))]
    while todo:
        i, mu, nu = todo.pop()
        level = i.bit_length() - 1
        boxes = (tree_box(i - (1 << level), level, 2, features),)
        if fresh[i] and level == 0:
            pieces.append(unseen(boxes, arms))
            continue
        lost, kept = (0.0, 0.0) if fresh[i] else (rows[i, a.COUNTS :: 4], rows[i, a.COUNTS + 1 :: 4])
        n = lost + kept + a.SHRINK
        mu, nu = (lost + a.SHRINK * mu) / n, (kept + a.SHRINK * nu) / n
        if level < depth and not fresh[i]:
            stop, go = rows[i, a.STOP], rows[i, a.GO]
            value += math.log(max(stop, go))
            if go > stop:
                todo += [(2 * i, mu, nu), (2 * i + 1, mu, nu)]
                continue
        arm = int(np.argmin(mu))
        pieces.append(Piece(boxes, arm, _sure(arm, mu, nu, n + np.zeros(arms)), not fresh[i]))
    return value, pieces


def _sure(arm: int, mu: Floats, nu: Floats, n: Floats) -> float:
    """How often the arm's mean is the least, if each arm's is drawn from its posterior."""
    if len(mu) == 1:
        return 1.0
    width = np.sqrt(mu * nu / (n + 1.0))
    draws = np.random.default_rng(0).normal(size=(DRAWS, len(mu))) * width + mu
    return max(float(np.mean(np.argmin(draws, axis=1) == arm)), math.ulp(1.0))
