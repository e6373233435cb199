"""One round on any hierarchy whose nodes and child groups can be listed: `Hierarchy`, `PositionSplits`, `ArbitrarySplits`.

`locate.py` lists the nodes that contain the leaf, parents first. For each of their groups it gives the index in that list of the
one child that contains the leaf. The rest is the odds form of the algorithm: reach down, ratio up.

Row of a node in F: its options (`options.py`), then its arm block.
"""

import math

from . import arms, maths, options
from .header import BASES, REST, TOP, TOP_SIZE, VISITS, WEIGHT
from .jit import inner
from .locate import locate
from .words.graph import EDGE, LIST, NODE0, RATIO, REACH, START


@inner
def _node(I, i):
    """Return the offset of the i-th node's row, its number of options, and the index in EDGE of its first group's child."""
    start = I[START] + i
    return I[I[NODE0] + I[I[LIST] + i]], I[start + 1] - I[start] + 1, I[EDGE] + I[start]


@inner
def visit(F, I, key, reach):
    """Run the reach pass. O(nodes that contain the leaf + their groups)."""
    n = locate(I, key[0])
    R = I[REACH]
    for i in range(n):
        F[R + i] = 0.0
    F[R] = reach
    for i in range(n):
        row, k, edge = _node(I, i)
        reach = F[R + i]
        b = row + 1 + 2 * k
        inv = 1.0 / arms.total(F, b, I[TOP], I[TOP_SIZE])
        F[I[WEIGHT] + i] = reach * options.weight(F, row, k, 0) * inv
        F[I[WEIGHT] + I[VISITS] + i] = inv
        I[I[BASES] + i] = b
        for o in range(1, k):
            F[R + I[edge + o - 1]] += reach * options.weight(F, row, k, o)
    F[REST] = 0.0
    return n


@inner
def log_visit(F, I, n, reach):
    """Replace the weights of the n nodes just visited by ln(reach * stop); reach is ln too."""
    R = I[REACH]
    for i in range(n):
        F[R + i] = -math.inf
    F[R] = reach
    for i in range(n):
        row, k, edge = _node(I, i)
        F[I[WEIGHT] + i] = F[R + i] + options.log_weight(F, row, k, 0)
        for o in range(1, k):
            c = R + I[edge + o - 1]
            a, b = F[c], F[R + i] + options.log_weight(F, row, k, o)
            high = max(a, b)
            if high > -math.inf:
                F[c] = high + maths.log(maths.exp(a - high) + maths.exp(b - high))


@inner
def ratio(F, I, n, arm, x, f, available, g):
    """Run the ratio pass over the n nodes just visited; return the root's ratio. x <= STEP."""
    R = I[RATIO]
    for i in range(n - 1, -1, -1):
        row, k, edge = _node(I, i)
        b = row + 1 + 2 * k
        now = arms.update(F, I, b, arm, x, f, available, g)
        F[row + 1] *= now * F[I[WEIGHT] + I[VISITS] + i]
        arms.keep_in_range(F, I, b, now)
        for o in range(1, k):
            F[row + 1 + o] *= F[R + I[edge + o - 1]]
        F[R + i] = options.settle(F, row, k)
    return F[R]


@inner
def ratio_log(F, I, n, arm, x, available, log_g):
    """Run the ratio pass in logarithms, for any x; return ln of the root's ratio."""
    R = I[RATIO]
    for i in range(n - 1, -1, -1):
        row, k, edge = _node(I, i)
        options.multiply_log(F, row, k, 0, arms.shrink_log(F, I, row + 1 + 2 * k, arm, x, available, log_g))
        for o in range(1, k):
            options.multiply_log(F, row, k, o, F[R + I[edge + o - 1]])
        F[R + i] = options.settle_log(F, row, k)
    return F[R]
