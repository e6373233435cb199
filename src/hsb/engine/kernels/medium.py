"""`small.py` for five to sixteen arms: the same rounds, with loops of six, eight or sixteen over arms instead of registers.

Measured with the native engine, `hsb.simulate` of a tree of depth 10 with a horizon, against the general kernels: 1.8 to 2.2 times as fast with
five arms, 1.7 to 2.1 with eight, 1.4 with twelve and with sixteen.

A block may be shorter than what a loop reads. The words behind it belong to other nodes and are never used.
"""

import numpy as np

from . import arms, maths
from .header import ARMS, BLOCK, STEP
from .jit import inner
from .rounds import count, pick
from .small import lowest, share, shrink, turn
from .words.state import DRIFT, GAMMA, RATE
from .words.tree import DEPTH, PER_WORD, ROW0, STRIDE

U0, U1, U2, U6, U8, U16 = (np.uint64(i) for i in (0, 1, 2, 6, 8, 16))


@inner
def play(F, I, words, table, out, p, span):
    """Play rounds from span[0] on, before span[1]; return the first that needs the general kernels: a loss in a new leaf, or a huge step.

    `p` has room for eight or sixteen numbers.
    """
    M, rate, gamma, drift = I[ARMS], words[RATE], words[GAMMA], words[DRIFT]
    masked = span[0] > span[1]  # never
    depth, stride = np.uint64(I[DEPTH]), np.uint64(I[STRIDE])
    before = np.uint64(I[ROW0]) - stride  # rows are counted from 1, the root
    shift, leaves = I[PER_WORD] - I[DEPTH], 1 << I[DEPTH]
    t, end = np.uint64(span[0]), np.uint64(span[1])
    while t < end:
        leaf = np.uint64((table.keys[t, U0] >> shift) + leaves)
        bottom = lowest(F, before, stride, leaf, depth)
        _mix(F, p, M, before, stride, leaf, depth, bottom)
        arm, probability = pick(p[:M], table.us[t])
        loss = table.losses[t, arm]
        if loss > 0.0:
            x = rate * loss / (probability + gamma)
            if bottom > U0 or not x <= STEP:  # also true if x is not a number
                break
            below = _learn(F, I, before, stride, leaf, np.uint64(arm), x)
            if drift > 0.0:
                share(F, I, before, stride, leaf, drift)
            count(words, loss, 0.0, maths.log(below), masked)
        out.arms[t] = arm
        out.probabilities[t] = probability
        out.losses[t] = loss
        t += U1
    return np.int64(t)


@inner
def _mix(F, p, M, before, stride, leaf, depth, bottom):
    """Compute the arms' probabilities over the path from the root down to `bottom` levels above the leaf; nodes below are at their prior."""
    for j in range(len(p)):
        p[j] = 0.0
    reach = 1.0
    up = depth + U1
    while up > bottom:
        up -= U1
        row = before + (leaf >> up) * stride
        here = reach * F[row]
        if M > BLOCK:
            for j in range(U16):
                p[j] += here * F[row + U2 + j]
        elif M <= 6:  # a row is one cache line
            for j in range(U6):
                p[j] += here * F[row + U2 + j]
        else:
            for j in range(U8):
                p[j] += here * F[row + U2 + j]
        reach *= F[row + U1]
    rest = reach * (1.0 / M) if bottom > U0 else 0.0
    for j in range(M):
        p[j] = min(p[j] + rest, 1.0)


@inner
def _learn(F, I, before, stride, leaf, arm, x):
    """Run the ratio pass up the path, all of which was visited before; return the root's ratio."""
    f, M, depth = maths.exp(-x), np.uint64(I[ARMS]), np.uint64(I[DEPTH])
    eight = arm // U8 * U8
    below = 0.0
    up = U0
    while up <= depth:
        row = before + (leaf >> up) * stride
        b = row + U2
        shrink(F, I, b, arm, x, f)
        if M > U8:
            offset = b + U16 + arm // U8
            F[offset] = arms.eight(F, b + eight)
            now = F[b + U16] + F[b + U16 + U1]
        else:
            now = F[b]
            for j in range(U1, M):
                now += F[b + j]
        below = turn(F, I, row, now, below, up)
        up += U1
    return below
