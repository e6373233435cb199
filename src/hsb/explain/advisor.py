"""The mapping of an advisor (`engine/kernels/advisor.py`): from the root down, a node splits if that is more probable than stopping."""

import math

import numpy as np

from ..engine.kernels.words.advisor import BORN, CHANGED, COUNTS, GO, STOP, VISITS
from ..engine.state import Member
from ..engine.state.views import AdvisorView
from ..structures import Structure
from ..structures.boxes import tree_box
from ..types import Floats
from .pieces import Best, Piece, unseen

DRAWS = 2000  # samples of each arm's posterior, from a fixed seed


def solve(structure: Structure, member: Member) -> Best:
    """Return the mapping with ln of its posterior and, in each part, the arm with the least mean loss. O(nodes)."""
    from ..engine.kernels.advisor import SHRINK  # loads Numba: on first use

    advisor, arms = AdvisorView(member), member.arms
    depth, rows = advisor.depth, advisor.rows
    changed = rows[:, CHANGED].copy()
    for i in range(2, len(rows)):  # a change resets the whole subtree
        changed[i] = max(changed[i], changed[i // 2])
    fresh = (rows[:, VISITS] == 0.0) | (rows[:, BORN] < changed)
    value = 0.0
    pieces = []
    nothing = np.zeros(arms)
    todo = [(1, nothing, nothing, nothing + 0.5)]
    while todo:
        i, lost, kept, expected = todo.pop()  # the last three: the parent's
        level = i.bit_length() - 1
        boxes = (tree_box(i - (1 << level), level, 2, len(structure.features)),)
        if fresh[i] and level == 0:
            pieces.append(unseen(boxes, arms))
            continue
        own = (nothing, nothing) if fresh[i] else (rows[i, COUNTS::4], rows[i, COUNTS + 1 :: 4])
        if level > 0:
            rest = np.maximum(lost - own[0], 0.0), np.maximum(kept - own[1], 0.0)
            expected = (rest[0] + SHRINK * expected) / (rest[0] + rest[1] + SHRINK)
        n = own[0] + own[1] + SHRINK
        if level < depth and not fresh[i]:
            stop, go = rows[i, STOP], rows[i, GO]
            value += math.log(max(stop, go))
            if go > stop:
                todo += [(2 * i, *own, expected), (2 * i + 1, *own, expected)]
                continue
        mu = (own[0] + SHRINK * expected) / n
        arm = int(np.argmin(mu))
        pieces.append(Piece(boxes, arm, _probability_of_best(arm, mu, n), not fresh[i]))
    return Best(value, pieces, structure)


def _probability_of_best(arm: int, mu: Floats, n: Floats) -> float:
    """Estimate the posterior probability that the arm's mean is the least, from `DRAWS` samples."""
    if len(mu) == 1:
        return 1.0
    width = np.sqrt((mu * (1.0 - mu) + 1.0 / n) / (n + 1.0))
    draws = np.random.default_rng(0).normal(size=(DRAWS, len(mu))) * width + mu
    return max(float(np.mean(np.argmin(draws, axis=1) == arm)), math.ulp(1.0))
