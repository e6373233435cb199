"""A node of a tree: its row in F.

A row holds rate, go, then the arm block (at `ARMS_AT`). The node stops with probability rate * (total of its arms) and continues to
its child with probability go; the two add to 1. So the probability that the node plays arm m is rate * weight[m], and a round
divides once a node: with `now` the new total and `below` the child's ratio, the node's ratio is s = rate * now + go * below, and
then rate /= s, go *= below / s. A leaf has go = 0. A row of zeros was never visited.

One of rate and go may be too small to be visible beside the other. It is then 0, and `LOGS` words behind the row stand v and e: the
true value is v * BASE**-e (e = inf: the prior forbids stopping; e = 0: nothing is hidden). Then come the arms' logarithms.
"""

import math

from . import arms, maths
from .header import ARM_HIGH, ARM_LOW, BASE, LOG_BASE, LOGS, OPTION_TINY, TOP, TOP_SIZE
from .jit import inlined, inner

ARMS_AT = 2  # where a row's arm block begins


@inner
def balanced(stop, go, e):
    """Normalise a pair of odds that changed, hiding the smaller one from the sum or showing it again.

    A pair is (stop, go, e): e > 0 hides stop, the true value being stop * BASE**-e; e < 0 hides go likewise.
    """
    if e == math.inf:
        return 1.0, 1.0, e
    if e > 0.0:
        stop, e = _recounted(stop / go, e)
        return stop, 1.0, e
    if e < 0.0:
        go, e = _recounted(go / stop, -e)
        return 1.0, go, -e
    s = stop + go
    stop /= s
    go /= s
    if stop < OPTION_TINY:
        return stop * BASE, 1.0, 1.0
    if 0.0 < go < OPTION_TINY:
        return 1.0, go * BASE, -1.0
    return stop, go, 0.0


@inner
def _recounted(v, e):
    if v > 1.0:
        return v / BASE, e - 1.0
    if v < OPTION_TINY:
        return v * BASE, e + 1.0
    return v, e


@inner
def odds(F, I, row):
    """Return the pair of odds of a row."""
    total = arms.total(F, row + ARMS_AT, I[TOP], I[TOP_SIZE])
    v, e = F[row + I[LOGS]], F[row + I[LOGS] + 1]
    if e == 0.0:
        return F[row] * total, F[row + 1], 0.0
    if F[row] == 0.0:
        return v * total, F[row + 1], e
    return F[row] * total, v, -e


@inner
def store(F, I, row, stop, go, e):
    """Write a pair of odds to a row whose arms are in place."""
    rate = stop / arms.total(F, row + ARMS_AT, I[TOP], I[TOP_SIZE])
    F[row] = rate if e <= 0.0 else 0.0
    F[row + 1] = go if e >= 0.0 else 0.0
    F[row + I[LOGS]] = rate if e > 0.0 else go
    F[row + I[LOGS] + 1] = abs(e)


@inner
def logs(stop, go, e):
    """Return the logarithms of a pair of odds."""
    log_stop = -math.inf if e == math.inf else maths.log(stop) - (e * LOG_BASE if e > 0.0 else 0.0)
    log_go = -math.inf if go == 0.0 else maths.log(go) + (e * LOG_BASE if e < 0.0 else 0.0)
    return log_stop, log_go


@inner
def store_logs(F, I, row, stop, go):
    """Write a pair of odds, given as logarithms of any sum, to a row whose arms are in place; return ln of that sum."""
    high = max(stop, go)
    small = maths.log(maths.exp(stop - high) + maths.exp(go - high))
    stop = stop - high - small  # in this order: `high` may be large
    go = go - high - small
    limit = maths.log(OPTION_TINY)
    if stop == -math.inf:
        store(F, I, row, 1.0, 1.0, math.inf)
    elif stop < limit:
        e = math.ceil(-stop / LOG_BASE)
        store(F, I, row, maths.exp(stop + e * LOG_BASE), 1.0, e)
    elif -math.inf < go < limit:
        e = math.ceil(-go / LOG_BASE)
        store(F, I, row, 1.0, maths.exp(go + e * LOG_BASE), -e)
    else:
        store(F, I, row, maths.exp(stop), maths.exp(go), 0.0)
    return high + small


@inlined
def turn(F, I, row, now, below):
    """Set the odds of a node whose arms have the new total `now` and whose child has the ratio `below`; return its ratio."""
    rate = F[row]
    stop, go = rate * now, F[row + 1] * below
    s = stop + go
    if ARM_LOW <= now <= ARM_HIGH and min(stop, go) >= OPTION_TINY * s:
        inv = 1.0 / s
        F[row] = rate * inv
        F[row + 1] = go * inv
    else:
        rare_turn(F, I, row, now, below, s)
    return s


@inner
def rare_turn(F, I, row, now, below, s):
    """Do `turn` for a leaf, for a node with something hidden or about to be, and for arms that need rescaling."""
    hidden = row + I[LOGS]
    v, e = F[hidden], F[hidden + 1]
    rate, go = F[row], F[row + 1] * below
    if e == 0.0:
        stop = rate * now
        usual = go == 0.0
    elif rate == 0.0:
        stop = v * now
        usual = OPTION_TINY * s <= stop <= s or e == math.inf
    else:
        stop, go, v, e = rate * now, v * below, v * below, -e
        usual = OPTION_TINY * s <= go <= s
    if usual and ARM_LOW <= now <= ARM_HIGH:  # what is hidden stays hidden
        inv = 1.0 / s
        F[row] = rate * inv
        F[row + 1] = F[row + 1] * below * inv
        if e != math.inf:
            F[hidden] = v * inv
        return
    stop, go, e = balanced(stop, go, e)
    arms.keep_in_range(F, I, row + ARMS_AT, now)
    store(F, I, row, stop, go, e)
