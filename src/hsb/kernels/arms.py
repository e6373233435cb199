"""A node's weights over arms: one block of `F`, kept as a sum tree of fan-out 8.

A block at `b` holds, level after level, the M weights, the sums of each eight of them, the sums of each eight of those, up to
a level of at most eight entries (for M <= 8 the weights themselves). The total is the sum of that top level. Weights are not
normalised: only the arm that was played changes, in O(log M). Nothing is ever subtracted from a sum.

A weight below `ARM_TINY` is kept as its logarithm, a negative number, and counts as 0 in sums, where it is less than 1e-70 of
the total. It returns as the others fall. So no weight is ever lost, however long the run.
"""

import math

from numba import njit

from .header import (
    ARM_LOW,
    ARM_TINY,
    ARMS,
    BLOCK,
    LOG_ARM_TINY,
    TEMPLATE,
    TOP,
    TOP_SIZE,
    WIDTH,
)


@njit(cache=True, error_model="numpy")
def seen(v):
    """A weight as far as a sum can see it: 0 where only its logarithm is kept."""
    return v if v > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def total(F, b, top, size):
    """Sum of the weights of the block at b. O(1)."""
    s = seen(F[b + top])
    for i in range(1, size):
        s += seen(F[b + top + i])
    return s


@njit(cache=True, error_model="numpy")
def reset(F, I, b):
    """Put the block at b at its prior. O(M)."""
    t = I[TEMPLATE]
    for i in range(I[WIDTH]):
        F[b + i] = F[t + i]


@njit(cache=True, error_model="numpy")
def _eight(F, b):
    return ((seen(F[b]) + seen(F[b + 1])) + (seen(F[b + 2]) + seen(F[b + 3]))) + (
        (seen(F[b + 4]) + seen(F[b + 5])) + (seen(F[b + 6]) + seen(F[b + 7]))
    )


@njit(cache=True, error_model="numpy")
def _padded(n):
    return (n + BLOCK - 1) // BLOCK * BLOCK


@njit(cache=True, error_model="numpy")
def rebuild(F, I, b):
    """Recompute every sum of the block at b. O(M)."""
    size = I[ARMS]
    while size > BLOCK:
        above = b + _padded(size)
        size = _padded(size) // BLOCK
        for i in range(size):
            F[above + i] = _eight(F, b + BLOCK * i)
        b = above


@njit(cache=True, error_model="numpy")
def _climb(F, I, b, arm):
    size = I[ARMS]
    while size > BLOCK:
        above = b + _padded(size)
        size = _padded(size) // BLOCK
        arm //= BLOCK
        F[above + arm] = _eight(F, b + BLOCK * arm)
        b = above


@njit(cache=True, error_model="numpy")
def _scale(F, I, b, factor):
    log = math.log(factor)
    for m in range(I[ARMS]):
        v = F[b + m]
        if v > 0.0:
            v = v * factor if v * factor >= ARM_TINY else math.log(v) + log
        else:
            v += log
            if v >= LOG_ARM_TINY:
                v = math.exp(v)
        F[b + m] = v
    rebuild(F, I, b)


@njit(cache=True, error_model="numpy")
def shrink(F, I, b, arm, x, f):
    """Multiply one weight by f = exp(-x), 0 < x <= STEP; return the new total. O(log M)."""
    v = F[b + arm]
    w = v * f
    if w < ARM_TINY:  # becomes, or is already, a logarithm
        w = math.log(v) - x if v > 0.0 else v - x
    F[b + arm] = w
    if I[ARMS] > BLOCK:
        _climb(F, I, b, arm)
    return total(F, b, I[TOP], I[TOP_SIZE])


@njit(cache=True, error_model="numpy")
def keep_in_range(F, I, b, now):
    """Rescale the block at b, whose total is `now`, before it leaves the range of a double; return the total.

    O(M), once in a long while.
    """
    if now < ARM_LOW:
        _scale(F, I, b, 1.0 / now)
        return total(F, b, I[TOP], I[TOP_SIZE])
    return now


@njit(cache=True, error_model="numpy")
def shrink_masked(F, I, b, arm, x, f, offered, g):
    """The same for a round that offered some arms: the arms not offered are multiplied by g. O(M)."""
    log = math.log(g)
    for m in range(I[ARMS]):
        if m == arm:
            y, e = x, f
        elif offered[m] == 0:
            y, e = -log, g
        else:
            continue
        v = F[b + m]
        w = v * e
        if w < ARM_TINY:
            w = math.log(v) - y if v > 0.0 else v - y
        F[b + m] = w
    rebuild(F, I, b)
    return total(F, b, I[TOP], I[TOP_SIZE])


@njit(cache=True, error_model="numpy")
def _log(v):
    return math.log(v) if v > 0.0 else v


@njit(cache=True, error_model="numpy")
def log_total(F, I, b):
    """Logarithm of the sum of the weights, right at any scale. O(M)."""
    top = _log(F[b])
    for m in range(1, I[ARMS]):
        top = max(top, _log(F[b + m]))
    s = 0.0
    for m in range(I[ARMS]):
        s += math.exp(_log(F[b + m]) - top)
    return top + math.log(s)


@njit(cache=True, error_model="numpy")
def log_weight(F, b, arm):
    """Logarithm of one weight."""
    return _log(F[b + arm])


@njit(cache=True, error_model="numpy")
def shrink_log(F, I, b, arm, x, offered, log_g):
    """`shrink` and `shrink_masked` for any x >= 0, in logarithms: return ln(new total / old total), and rescale. O(M)."""
    before = log_total(F, I, b)
    masked = len(offered) > 0
    for m in range(I[ARMS]):
        v = _log(F[b + m]) - before
        if m == arm:
            v -= x
        elif masked and offered[m] == 0:
            v += log_g
        F[b + m] = min(v, -1e-300)  # all weights as logarithms for the moment; -0.0 would read as a weight
    after = log_total(F, I, b)
    for m in range(I[ARMS]):
        v = F[b + m] - after
        F[b + m] = math.exp(v) if v >= LOG_ARM_TINY else v
    rebuild(F, I, b)
    return after


@njit(cache=True, error_model="numpy")
def pick(F, I, b, u):
    """The arm at share u, 0 <= u < 1, of the block's total: a walk down the sum tree. O(log M)."""
    n = I[TOP_SIZE]
    offset = I[TOP]
    at = 0
    left = u * total(F, b, offset, n)
    while True:
        last = at
        for i in range(at, at + n):
            v = seen(F[b + offset + i])
            if v > 0.0:
                last = i
                if left < v:
                    break
                left -= v
        if offset == 0:
            return last
        # One level down: entry i of a level is the sum of entries 8i .. 8i+7 of the level below.
        size = I[ARMS]
        below = 0
        while below + _padded(size) < offset:
            below += _padded(size)
            size = _padded(size) // BLOCK
        offset = below
        at = last * BLOCK
        n = BLOCK
