"""The most common case on a fast path: whole tables on a dense binary tree with at most four arms, all of them available.

The sums and their order are those of `tree.visit`, `rounds.draw` and `tree.ratio`, so the results are equal bit for bit. The difference is
that everything stays in registers. Offsets in F are unsigned: a signed one costs a test for counting from the end.
"""

import numpy as np

from . import arms, maths, rows
from .header import ARM_LOW, ARM_TINY, ARMS, OPTION_TINY, STEP, WEIGHT
from .jit import inner
from .rounds import count
from .words.state import DRIFT, GAMMA, RATE
from .words.tree import DEPTH, PER_WORD, ROW0, STRIDE

U0, U1, U2, U3, U4, U5 = (np.uint64(i) for i in range(6))


@inner
def play(F, I, words, table, out, start, end):
    """Play rounds start .. end - 1; return the first that needs the general kernels: a loss in a new leaf, or a huge step.

    `words` are the state's.
    """
    keys, losses, us = table.keys, table.losses, table.us
    rate, gamma, drift = words[RATE], words[GAMMA], words[DRIFT]
    masked = start > end  # never
    M = I[ARMS]
    depth, stride = np.uint64(I[DEPTH]), np.uint64(I[STRIDE])
    before = np.uint64(I[ROW0]) - stride  # rows are counted from 1, the root
    shift = I[PER_WORD] - I[DEPTH]
    leaves = 1 << I[DEPTH]
    last = np.uint64(M - 1)
    scratch = np.uint64(I[WEIGHT])
    t = np.uint64(start)
    n = np.uint64(end)
    while t < n:
        leaf = np.uint64((keys[t, U0] >> shift) + leaves)
        bottom = lowest(F, before, stride, leaf, depth)
        p0, p1, p2, p3, reach = _mix(F, before, stride, leaf, depth, bottom)
        new = bottom > U0
        if new:  # the rest lies on nodes at their prior
            rest = reach * (1.0 / M)
            p0 += rest
            p1 += rest if M > 1 else 0.0
            p2 += rest if M > 2 else 0.0
            p3 += rest if M > 3 else 0.0
        arm, probability = _draw(F, scratch, p0, p1, p2, p3, us[t], last)
        loss = losses[t, arm]
        if loss > 0.0:
            x = rate * loss / (probability + gamma)
            if new or not x <= STEP:  # also true if x is not a number
                break
            f = maths.exp(-x)
            f0 = f if arm == U0 else 1.0
            f1 = f if arm == U1 else 1.0
            f2 = f if arm == U2 else 1.0
            f3 = f if arm == U3 else 1.0
            below = 0.0
            up = U0
            while up <= depth:
                row = before + (leaf >> up) * stride
                b = row + U2
                now = ((F[b] * f0 + F[b + U1] * f1) + F[b + U2] * f2) + F[b + U3] * f3
                shrink(F, I, b, arm, x, f)
                below = turn(F, I, row, now, below, up)
                up += U1
            if drift > 0.0:
                share(F, I, before, stride, leaf, drift)
            count(words, loss, 0.0, maths.log(below), masked)
        out.arms[t] = arm
        out.probabilities[t] = probability
        out.losses[t] = loss
        t += U1
    return np.int64(t)


@inner
def shrink(F, I, b, arm, x, f):
    """Do `arms.multiply` with unsigned offsets."""
    w = F[b + arm] * f
    if w >= ARM_TINY:
        F[b + arm] = w
    else:
        arms.multiply(F, I, np.int64(b), np.int64(arm), x, f)


@inner
def turn(F, I, row, now, below, up):
    """Do `rows.turn` with unsigned offsets, for the node `up` levels above the leaf."""
    rate = F[row]
    stop, go = rate * now, F[row + U1] * below
    s = stop + go
    if now >= ARM_LOW and (min(stop, go) >= OPTION_TINY * s or up == U0):
        inv = 1.0 / s
        F[row] = rate * inv
        F[row + U1] = go * inv
    else:
        rows.rare_turn(F, I, np.int64(row), now, below, s)
    return s


@inner
def lowest(F, before, stride, leaf, depth):
    """Return how many levels above the leaf the lowest node visited before is."""
    up = U0
    while up <= depth and F[before + (leaf >> up) * stride] + F[before + (leaf >> up) * stride + U1] == 0.0:
        up += U1
    return up


@inner
def share(F, I, before, stride, leaf, drift):
    """Apply fixed share in every node of the path."""
    for up in range(I[DEPTH] + 1):
        arms.share(F, I, np.int64(before + (leaf >> np.uint64(up)) * stride) + 2, drift)


@inner
def _mix(F, before, stride, leaf, depth, bottom):
    """Return the probabilities of four arms over the path from the root to `bottom` levels above the leaf, and the mass below."""
    p0 = p1 = p2 = p3 = 0.0
    reach = 1.0
    up = depth + U1
    while up > bottom:
        up -= U1
        row = before + (leaf >> up) * stride
        here = reach * F[row]
        p0 += here * F[row + U2]
        p1 += here * F[row + U3]
        p2 += here * F[row + U4]
        p3 += here * F[row + U5]
        reach *= F[row + U1]
    return p0, p1, p2, p3, reach


@inner
def _draw(F, scratch, p0, p1, p2, p3, u, last):
    """Do `rounds.draw` for four numbers, of which those after `last` are 0; no branch that the processor could mispredict."""
    c1 = p0 + p1
    c2 = c1 + p2
    target = u * (c2 + p3)
    F[scratch] = p0
    F[scratch + U1] = p1
    F[scratch + U2] = p2
    F[scratch + U3] = p3
    arm = min(np.uint64(p0 <= target) + np.uint64(c1 <= target) + np.uint64(c2 <= target), last)
    p = F[scratch + arm]
    if p == 0.0:  # u so close to 1 that rounding went past the last arm that has any probability
        arm = U0
        for m in range(np.uint64(1), last + U1):
            if F[scratch + m] > F[scratch + arm]:
                arm = m
        p = F[scratch + arm]
    return arm, min(p, 1.0)
