"""A node's weights over its options: "stop here" and each of its child groups.

A row at `r` with n options holds a flag (are there any counts?), n weights, and n counts e; weight i is `F[r+1+i] * BASE**-F[r+1+n+i]`.
Weights with e = 0 add to 1; the others are below `OPTION_TINY`. An option whose prior is 0 stays 0.
"""

import math

from . import maths
from .header import BASE, LOG_BASE, OPTION_TINY
from .jit import inner


@inner
def weight(F, r, n, i):
    """Return the weight of option i as far as a sum can see it."""
    return F[r + 1 + i] if F[r + 1 + n + i] == 0.0 else 0.0


@inner
def log_weight(F, r, n, i):
    """Return the logarithm of the weight of option i (-inf if the prior is 0)."""
    v = F[r + 1 + i]
    return maths.log(v) - F[r + 1 + n + i] * LOG_BASE if v > 0.0 else -math.inf


@inner
def settle(F, r, n):
    """Divide the weights of the row at r by their sum; return the sum. Every weight was just multiplied by its ratio."""
    s = 0.0
    low = 1.0
    for i in range(n):
        v = F[r + 1 + i]
        if F[r] != 0.0 and F[r + 1 + n + i] != 0.0:
            continue
        s += v
        low = min(low, v)
    inv = 1.0 / s
    for i in range(n):
        F[r + 1 + i] *= inv
    if F[r] != 0.0 or low * inv < OPTION_TINY:
        _recount(F, r, n)
    return s


@inner
def _recount(F, r, n):
    F[r] = 0.0
    for i in range(n):
        v = F[r + 1 + i]
        e = F[r + 1 + n + i]
        if v <= 0.0:
            continue
        if v < OPTION_TINY:
            v *= BASE
            e += 1.0
        elif e > 0.0 and v > 1.0:
            v /= BASE
            e -= 1.0
        F[r + 1 + i] = v
        F[r + 1 + n + i] = e
        if e > 0.0:
            F[r] = 1.0


@inner
def store_log(F, r, n, i, log):
    """Set option i to exp(log), log <= 0."""
    if log == -math.inf:
        F[r + 1 + i] = 0.0
        F[r + 1 + n + i] = 0.0
        return
    e = 0.0
    if log < maths.log(OPTION_TINY):
        e = math.ceil(-log / LOG_BASE)
        F[r] = 1.0
    F[r + 1 + i] = maths.exp(log + e * LOG_BASE)
    F[r + 1 + n + i] = e


@inner
def multiply_log(F, r, n, i, log):
    """Replace the weight of option i by ln(weight i) + log: the first half of the slow pass."""
    F[r + 1 + i] = log_weight(F, r, n, i) + log


@inner
def settle_log(F, r, n):
    """Turn the logarithms back into weights that add to 1; return ln of their sum: the second half of the slow pass."""
    high = -math.inf
    for i in range(n):
        high = max(high, F[r + 1 + i])
    s = 0.0
    for i in range(n):
        s += maths.exp(F[r + 1 + i] - high)
    s = maths.log(s)
    F[r] = 0.0
    for i in range(n):
        store_log(F, r, n, i, F[r + 1 + i] - high - s)  # in this order: `high` may be large
    return high + s
