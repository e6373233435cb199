"""The commonest case by itself: whole tables on a dense binary tree with at most four arms, all of them offered.

The same sums in the same order as `tree.visit`, `rounds.draw` and `tree.ratio`, so the results are equal bit for bit; what differs is
that everything stays in registers.
"""

import math

from numba import njit

from . import arms, tree
from .header import ARM_LOW, ARM_TINY, ARMS, DEPTH, PER_WORD, ROW0, STEP, STRIDE


@njit(cache=True, error_model="numpy")
def play(F, I, keys, losses, us, rates, played, chances, suffered, t):
    """Play rounds t, t+1, ...; return the first that needs the general way: a leaf never visited, or a huge step."""
    depth, stride, row0, M = I[DEPTH], I[STRIDE], I[ROW0], I[ARMS]
    shift = I[PER_WORD] - depth
    while t < len(us):
        leaf = (keys[t, 0] >> shift) + (1 << depth)
        if F[row0 + (leaf - 1) * stride + 2] == 0.0:
            return t
        p0 = p1 = p2 = p3 = 0.0
        reach = 1.0
        for up in range(depth, -1, -1):
            row = row0 + ((leaf >> up) - 1) * stride
            here = reach * max(F[row], 0.0) * F[row + 2]
            p0 += here * max(F[row + 4], 0.0)
            p1 += here * max(F[row + 5], 0.0)
            p2 += here * max(F[row + 6], 0.0)
            p3 += here * max(F[row + 7], 0.0)
            reach *= max(F[row + 1], 0.0)
        arm, chance = _draw(p0, p1, p2, p3, us[t])
        loss = losses[t, arm]
        x = rates[t] * loss / chance
        if x > STEP:
            return t
        if x > 0.0:
            f = math.exp(-x)
            below = 1.0
            for up in range(depth + 1):
                row = row0 + ((leaf >> up) - 1) * stride
                b = row + 4
                v = F[b + arm]
                w = v * f
                if w < ARM_TINY:
                    w = math.log(v) - x if v > 0.0 else v - x
                F[b + arm] = w
                now = max(F[b], 0.0)
                for m in range(1, M):
                    now += max(F[b + m], 0.0)
                r = now * F[row + 2]
                if now < ARM_LOW:
                    now = arms.keep_in_range(F, I, b, now)
                F[row + 2] = 1.0 / now
                below = tree.turn(F, row, r, below) if up > 0 else r
        played[t] = arm
        chances[t] = chance
        suffered[t] = loss
        t += 1
    return t


@njit(cache=True, error_model="numpy")
def _draw(p0, p1, p2, p3, u):
    """`rounds.draw` for four numbers, of which the last may be 0."""
    left = (((p0 + p1) + p2) + p3) * u
    arm, p = -1, 0.0
    if p0 > 0.0:
        arm, p = 0, p0
        if left < p0:
            return arm, min(p, 1.0)
        left -= p0
    if p1 > 0.0:
        arm, p = 1, p1
        if left < p1:
            return arm, min(p, 1.0)
        left -= p1
    if p2 > 0.0:
        arm, p = 2, p2
        if left < p2:
            return arm, min(p, 1.0)
        left -= p2
    if p3 > 0.0:
        arm, p = 3, p3
    return arm, min(p, 1.0)
