"""A node's weights over arms: one block of `F`, stored as a sum tree of fan-out 8.

A block at offset `b` holds, level after level, the M weights, the sums of eight of them each, the sums of eight of those each, up to a
level of at most eight entries (for M <= 8 the weights themselves). The total is the sum of that top level. Weights are not normalised: only
the weight of the played arm changes, in O(log M). Nothing is ever subtracted from a sum.

A weight below `ARM_TINY` is less than 1e-70 of the total. Its entry is 0, and its logarithm stands `LOGS` words behind. It becomes a plain
number again as the others fall. So no weight is ever lost, however long the run.
"""

import numpy as np

from ... import reproducible_math
from . import header as h
from . import maths
from .jit import inlined, inner, kernel

LN2 = reproducible_math.log(2.0)
U1, U2, U3, U4, U5, U6, U7 = (np.uint64(i) for i in range(1, 8))


@inlined
def total(F, b, top, size):
    """Return the sum of the weights of the block at b. O(1)."""
    s = F[b + top]
    for i in range(1, size):
        s += F[b + top + i]
    return s


@inner
def others(F, I, b, arm):
    """Return the sum of all weights but one. O(log M)."""
    s = 0.0
    size = I[h.ARMS]
    while True:
        first = arm // h.BLOCK * h.BLOCK
        for i in range(first, min(first + h.BLOCK, size)):
            if i != arm:
                s += F[b + i]
        if size <= h.BLOCK:
            return s
        b += _padded(size)
        size = _padded(size) // h.BLOCK
        arm //= h.BLOCK


@inner
def reset(F, I, b):
    """Set the block at b to its prior. O(M)."""
    t = I[h.TEMPLATE]
    for i in range(I[h.WIDTH]):
        F[b + i] = F[t + i]


@inner
def eight(F, b):
    """Return the sum of eight weights. The offset is unsigned: a signed one costs a test for counting from the end."""
    return ((F[b] + F[b + U1]) + (F[b + U2] + F[b + U3])) + ((F[b + U4] + F[b + U5]) + (F[b + U6] + F[b + U7]))


@inner
def _padded(n):
    return (n + h.BLOCK - 1) // h.BLOCK * h.BLOCK


@inner
def rebuild(F, I, b):
    """Recompute every sum of the block at b. O(M)."""
    size = I[h.ARMS]
    while size > h.BLOCK:
        wide = _padded(size)
        size = wide // h.BLOCK
        below, above = F[b : b + wide], F[b + wide : b + wide + size]
        for i in range(size):
            above[i] = eight(below, np.uint64(h.BLOCK * i))
        b += wide


@inner
def _climb(F, I, b, arm):
    size = I[h.ARMS]
    while size > h.BLOCK:
        above = b + _padded(size)
        size = _padded(size) // h.BLOCK
        arm //= h.BLOCK
        F[above + arm] = eight(F, np.uint64(b + h.BLOCK * arm))
        b = above


@inner
def log_weight(F, I, b, m):
    """Return the logarithm of one weight."""
    v = F[b + m]
    return maths.log(v) if v > 0.0 else F[b + I[h.LOGS] + m]


@inner
def _store_log(F, I, b, m, log):
    if log >= h.LOG_ARM_TINY:
        F[b + m] = maths.exp(log)
    else:
        F[b + m] = 0.0
        F[b + I[h.LOGS] + m] = log


@inner
def _scale(F, I, b, factor):
    log = maths.log(factor)
    for m in range(I[h.ARMS]):
        v = F[b + m] * factor
        if v >= h.ARM_TINY:
            F[b + m] = v
        else:
            _store_log(F, I, b, m, log_weight(F, I, b, m) + log)
    rebuild(F, I, b)


@inner
def multiply(F, I, b, m, x, f):
    """Multiply one weight by f = exp(-x), without updating the sums."""
    v = F[b + m] * f
    if v >= h.ARM_TINY:
        F[b + m] = v
    else:
        log = log_weight(F, I, b, m) - x
        F[b + m] = 0.0
        F[b + I[h.LOGS] + m] = log


@inlined
def shrink(F, I, b, arm, x, f):
    """Multiply one weight by f = exp(-x), 0 < x <= STEP; return the new total. O(log M)."""
    multiply(F, I, b, arm, x, f)
    if I[h.ARMS] > h.BLOCK:
        _climb(F, I, b, arm)
    return total(F, b, I[h.TOP], I[h.TOP_SIZE])


@inner
def keep_in_range(F, I, b, now):
    """Rescale the block at b, whose total is `now`, before it leaves the range of a double; return the total.

    O(M), once in a long while.
    """
    if now < h.ARM_LOW or now > h.ARM_HIGH:
        _scale(F, I, b, 1.0 / now)
        return total(F, b, I[h.TOP], I[h.TOP_SIZE])
    return now


@inner
def shrink_masked(F, I, b, arm, x, f, available, g):
    """Do the same for a round with only some arms available: the others are multiplied by g. O(M)."""
    log = maths.log(g)
    for m in range(I[h.ARMS]):
        if m == arm:
            multiply(F, I, b, m, x, f)
        elif available[m] == 0:
            multiply(F, I, b, m, -log, g)
    rebuild(F, I, b)
    return total(F, b, I[h.TOP], I[h.TOP_SIZE])


@inlined
def update(F, I, b, arm, x, f, available, g):
    """Call `shrink`, or `shrink_masked` if some arms are not available."""
    if len(available) > 0:
        return shrink_masked(F, I, b, arm, x, f, available, g)
    return shrink(F, I, b, arm, x, f)


@inner
def is_masked(available):
    """Return whether some arms are not available."""
    return len(available) > 0


@inner
def is_available(available, m):
    """Return whether arm m is available."""
    return len(available) == 0 or available[m] != 0


@inlined
def share(F, I, b, drift):
    """Apply fixed share: every arm gives the part `drift` of its weight, and all arms share the sum equally. The total stays. O(M).

    Afterwards no weight is stored as a logarithm: each is at least drift/M of the total.
    """
    M = I[h.ARMS]
    gift = drift * total(F, b, I[h.TOP], I[h.TOP_SIZE]) / M
    keep = 1.0 - drift
    weights = F[b : b + M]  # a slice lets the compiler use vectors
    for m in range(M):
        weights[m] = weights[m] * keep + gift
    rebuild(F, I, b)


@inner
def flatten(F, I, b, r):
    """Raise every weight to the power r; return ln of the sum over arms of prior^(1-r) share^r. Arms never played stay. O(M)."""
    before = log_total(F, I, b)
    for m in range(I[h.ARMS]):
        v = F[b + m]
        if v != 1.0:
            _store_log(F, I, b, m, r * log_weight(F, I, b, m))
    rebuild(F, I, b)
    return log_total(F, I, b) - r * before - (1.0 - r) * maths.log(float(I[h.ARMS]))


@inner
def log_total(F, I, b):
    """Return the logarithm of the sum of the weights, correct at any scale. O(M)."""
    top = log_weight(F, I, b, 0)
    for m in range(1, I[h.ARMS]):
        top = max(top, log_weight(F, I, b, m))
    s = 0.0
    for m in range(I[h.ARMS]):
        s += maths.exp(log_weight(F, I, b, m) - top)
    return top + maths.log(s)


@inner
def shrink_log(F, I, b, arm, x, available, log_g):
    """Do the same as `shrink` and `shrink_masked` in logarithms, for any x >= 0; return ln(new total / old total), and rescale. O(M)."""
    before = log_total(F, I, b)
    for m in range(I[h.ARMS]):
        log = log_weight(F, I, b, m) - before
        if m == arm:
            log -= x
        elif not is_available(available, m):
            log += log_g
        F[b + m] = 0.0  # for the moment all weights are logarithms
        F[b + I[h.LOGS] + m] = log
    after = log_total(F, I, b)
    top = log_weight(F, I, b, 0)
    for m in range(1, I[h.ARMS]):
        top = max(top, log_weight(F, I, b, m))
    for m in range(I[h.ARMS]):
        _store_log(F, I, b, m, F[b + I[h.LOGS] + m] - top - LN2)  # the largest becomes 1/2: 1 marks a weight never touched
    rebuild(F, I, b)
    return after


@kernel("D1 L1 D1 L1 L1 L1 L1 L1 l")
def widen(F, I, wide_F, wide_I, old, new, ahead, rates, kept):
    """Copy blocks at `old` to blocks with one more arm at `new`, with the `ahead[i]` words before them and `kept` before the logarithms.

    The new arm weighs the mean of the others. A rate per unit of weight (its offset in `rates`, or -1) shrinks as the total grows.
    """
    M = I[h.ARMS]
    for i in range(len(old)):
        a, b = old[i], new[i]
        for j in range(1, ahead[i] + 1):
            wide_F[b - j] = F[a - j]
        for j in range(-kept, M):
            wide_F[b + wide_I[h.LOGS] + j] = F[a + I[h.LOGS] + j]
        s = 0.0
        for m in range(M):
            wide_F[b + m] = F[a + m]
            s += F[a + m]
        wide_F[b + M] = s / M
        rebuild(wide_F, wide_I, b)
        if rates[i] >= 0:
            wide_F[rates[i]] *= s / total(wide_F, b, wide_I[h.TOP], wide_I[h.TOP_SIZE])


@inner
def pick(F, I, b, u):
    """Return the arm at share u, 0 <= u < 1, of the block's total: a walk down the sum tree. Always a valid arm. O(log M)."""
    n = I[h.TOP_SIZE]
    offset = I[h.TOP]
    first = 0
    left = u * total(F, b, offset, n)
    while True:
        last = first
        for i in range(first, first + n):
            v = F[b + offset + i]
            if v > 0.0:
                last = i
                if left < v:
                    break
                left -= v
        if offset == 0:
            return min(last, I[h.ARMS] - 1)
        # One level down: entry i of a level is the sum of entries 8i .. 8i+7 of the level below.
        size = I[h.ARMS]
        below = 0
        while below + _padded(size) < offset:
            below += _padded(size)
            size = _padded(size) // h.BLOCK
        offset = below
        first = last * h.BLOCK
        n = h.BLOCK
