"""The commonest case by itself: whole tables on a dense binary tree with at most four arms, all of them offered.

The same sums in the same order as `tree.visit`, `rounds.draw` and `tree.ratio`, so the results are equal bit for bit; what differs is
that everything stays in registers. Places in F are unsigned: a signed one costs a test for counting from the end.
"""

import math

import numpy as np
from numba import njit

from . import arms, tree
from .arms import seen
from .header import ARM_LOW, ARM_TINY, ARMS, DEPTH, OPTION_TINY, PER_WORD, ROW0, STEP, STRIDE

U0, U1, U2, U3, U4, U5, U6 = (np.uint64(i) for i in range(7))


@njit(cache=True, error_model="numpy")
def play(F, I, keys, losses, us, rates, played, chances, suffered, start):
    """Play rounds start, start+1, ...; return the first that needs the general way: a loss in a new leaf, or a huge step."""
    M = I[ARMS]
    depth, stride = np.uint64(I[DEPTH]), np.uint64(I[STRIDE])
    before = np.uint64(I[ROW0]) - stride  # rows are counted from 1, the root
    shift = I[PER_WORD] - I[DEPTH]
    leaves = 1 << I[DEPTH]
    last = np.uint64(M - 1)
    t = np.uint64(start)
    n = np.uint64(len(us))
    while t < n:
        leaf = np.uint64((keys[t, U0] >> shift) + leaves)
        new = F[before + leaf * stride] == 0.0
        p0 = p1 = p2 = p3 = 0.0
        reach = 1.0
        up = depth + U1
        while up > U0:
            up -= U1
            row = before + (leaf >> up) * stride
            here = reach * seen(F[row])
            p0 += here * seen(F[row + U3])
            p1 += here * seen(F[row + U4])
            p2 += here * seen(F[row + U5])
            p3 += here * seen(F[row + U6])
            if new and F[row] == 0.0:
                break
            reach *= seen(F[row + U1])
        if new:  # the rest lies on nodes at their prior
            rest = reach * (1.0 / M)
            p0 += rest
            p1 += rest if M > 1 else 0.0
            p2 += rest if M > 2 else 0.0
            p3 += rest if M > 3 else 0.0
        arm, chance = _draw(p0, p1, p2, p3, us[t], last)
        loss = losses[t, arm]
        if loss > 0.0:
            x = rates[t] * loss / chance
            if new or x > STEP:
                break
            f = math.exp(-x)
            below = 0.0
            up = U0
            while up <= depth:
                row = before + (leaf >> up) * stride
                b = row + U3
                v = F[b + arm]
                w = v * f
                if w < ARM_TINY:
                    w = math.log(v) - x if v > 0.0 else v - x
                F[b + arm] = w
                now = ((seen(F[b]) + seen(F[b + U1])) + seen(F[b + U2])) + seen(F[b + U3])
                rate = F[row]
                stop, go = rate * now, F[row + U1] * below
                s = seen(stop) + seen(go)
                least = OPTION_TINY * s
                if now < ARM_LOW or (
                    (abs(stop) < least or abs(go) < least or max(-stop, -go) > s) and up > U0
                ):
                    tree.turn(F, I, np.int64(row), now, below)
                else:
                    inv = 1.0 / s
                    F[row] = rate * inv
                    F[row + U1] = go * inv
                below = s
                up += U1
        played[t] = arm
        chances[t] = chance
        suffered[t] = loss
        t += U1
    return np.int64(t)


@njit(cache=True, error_model="numpy")
def _draw(p0, p1, p2, p3, u, last):
    """`rounds.draw` for four numbers, of which those after `last` are 0; no branches to be mispredicted."""
    c1 = p0 + p1
    c2 = c1 + p2
    c3 = c2 + p3
    target = u * c3
    arm = np.uint64(p0 <= target and last >= U1) + np.uint64(c1 <= target and last >= U2)
    arm += np.uint64(c2 <= target and last > U2)
    p = p0 if arm == U0 else p1
    p = p2 if arm == U2 else p
    p = p3 if arm > U2 else p
    if p == 0.0:  # u so close to 1 that rounding went past the last arm that has any probability
        arm, p = U0, p0
        if p1 > p:
            arm, p = U1, p1
        if p2 > p:
            arm, p = U2, p2
        if p3 > p:
            arm, p = U3, p3
    return arm, min(p, 1.0)
