"""A forest that grows as it learns: trees over the columns of z, each a mixture over its prunings.

For each arm a node sums the losses of its plays and one minus those losses. As in the advisor (`advisor.py`), its prior is what the rest of
its parent has seen, and Bayes evidence decides whether it stops or continues; here the tree grows. A leaf watches CUTS random cuts, each a
column and a threshold near an observed value, with the counts of both sides. After some visits it splits by the cut with the largest gain, if
that is enough:

    gain = sum over arms of (h d^2 / (mu (1 - mu)) - ln(1 + h)) / 2,    h = n0 n1 / (n0 + n1),   d the difference of the sides' means,

which is how much better two means predict than one, less the price of the second (Schwarz 1978). The children begin with the counts of the
sides. The trees' predictions are averaged.
"""

import math

import numpy as np

from . import maths
from .header import ARMS
from .jit import inner
from .splitmix import STEP, mixed
from .words.ensemble import (
    AT,
    BLOCK,
    BLOCKS,
    BLOCKS_USED,
    COLUMNS,
    COUNTS,
    CUT,
    CUTS,
    DEEPEST,
    LEFT,
    NEXT,
    NODE,
    NODES,
    NODES_USED,
    PROBABILITY,
    SEED,
    SET,
    STOP,
    THRESHOLD,
    TRACE,
    TRACED,
    TREES,
    VISITED,
    WATCH,
)

SHRINK = 1.0  # the parent's mean counts as this many plays
FIRST = 15.0  # visits after which a leaf first looks for a cut; then each time half as many more
LEAST = 2.0  # a cut must gain at least this
SETTLE = 0.3  # probability that a cut without threshold takes the current value
SUREST = 1e-9  # evidence cuts means to [SUREST, 1 - SUREST]: nested means can round to 1, and a loss below 1 then has q = 0


@inner
def draw(I):
    """Return the next of the forest's random numbers in [0, 1): a function of how many were drawn."""
    I[SEED] += 1
    return float(mixed(np.uint64(I[SEED]) * STEP) >> np.uint64(11)) / 9007199254740992.0


@inner
def _shrunk(lost, kept, expected):
    return (lost + SHRINK * expected) / (lost + kept + SHRINK)


@inner
def trace(F, I, z):
    """Write to scratch the path of z in each tree.

    That is the number of nodes that contain z, then each node's row and the posterior probability that the tree stops there.
    """
    stride, offset = 2 * I[ARMS] + COUNTS, I[TRACE]
    for k in range(TREES):
        row, reach, n = I[NODE] + k * stride, 1.0, 0
        while True:
            leaf = not F[row + LEFT] > 0.0  # NaN must not lead out of the array
            here = reach if leaf else reach * F[row + STOP]
            F[offset + 1 + 2 * n], F[offset + 2 + 2 * n] = row, here
            n += 1
            if leaf:
                break
            reach -= here
            child = int(F[row + LEFT]) + (1 if z[int(F[row + AT])] > F[row + THRESHOLD] else 0)
            row = I[NODE] + child * stride
        F[offset] = n
        offset += TRACED


@inner
def predict(F, I, arm):
    """Return an arm's predicted loss and its standard deviation, as averages over the trees; after `trace`."""
    own, offset = COUNTS + 2 * arm, I[TRACE]
    mean = width = 0.0
    for _ in range(TREES):
        expected, lost, kept = 0.5, 0.0, 0.0
        spread = 0.0
        for i in range(int(F[offset])):
            row, here = int(F[offset + 1 + 2 * i]), F[offset + 2 + 2 * i]
            l, g = F[row + own], F[row + own + 1]
            if i > 0:
                expected = _shrunk(max(lost - l, 0.0), max(kept - g, 0.0), expected)
            lost, kept = l, g
            n = l + g + SHRINK
            mu = (l + SHRINK * expected) / n
            mean += here * mu
            spread += here * (mu * (1.0 - mu) * n + 1.0) / (n * (n + 1.0))
        width += math.sqrt(spread)
        offset += TRACED
    return mean / TREES, width / TREES


@inner
def learn(F, I, z, arm, loss):
    """Learn the loss of an arm at z in every tree; after `trace`."""
    own, offset, means = COUNTS + 2 * arm, I[TRACE], I[TRACE] + TREES * TRACED
    for _ in range(TREES):
        expected, lost, kept = 0.5, 0.0, 0.0
        n = int(F[offset])
        for i in range(n):
            row = int(F[offset + 1 + 2 * i])
            l, g = F[row + own], F[row + own + 1]
            if i > 0:
                expected = _shrunk(max(lost - l, 0.0), max(kept - g, 0.0), expected)
            lost, kept = l, g
            F[means + i] = _shrunk(l, g, expected)
        below = 0.0
        for i in range(n - 1, -1, -1):
            row, mu = int(F[offset + 1 + 2 * i]), min(max(F[means + i], SUREST), 1.0 - SUREST)
            q = loss * mu + (1.0 - loss) * (1.0 - mu)
            if F[row + LEFT] > 0.0:
                stop, go = F[row + STOP] * q, (1.0 - F[row + STOP]) * below
                q = stop + go
                share = 1.0 / (F[row + VISITED] + 2.0)
                F[row + STOP] = (1.0 - share) * stop / q + share * 0.5
            below = q
            F[row + VISITED] += 1.0
            F[row + own] += loss
            F[row + own + 1] += 1.0 - loss
        leaf = int(F[offset + 2 * n - 1])
        if F[leaf + CUT] > 0.0:
            _watch(F, I, z, arm, loss, leaf, n)
        offset += TRACED


@inner
def _watch(F, I, z, arm, loss, row, level):
    """Count the round on both sides of the cuts that a leaf watches; split the leaf if a cut gains enough."""
    M = I[ARMS]
    width = WATCH + 4 * M
    block = I[BLOCK] + (int(F[row + CUT]) - 1) * CUTS * width
    for c in range(CUTS):
        cut = block + c * width
        column = int(F[cut])
        if F[cut + SET] == 0.0:
            if draw(I) >= SETTLE:
                continue
            F[cut + SET] = 1.0
            F[cut + 1] = z[column] - 1e-9 if draw(I) < 0.5 else z[column] + 1e-9
        side = cut + WATCH + 2 * arm + (2 * M if z[column] > F[cut + 1] else 0)
        F[side] += loss
        F[side + 1] += 1.0 - loss
    if F[row + VISITED] < F[row + NEXT] or level >= DEEPEST:
        return
    F[row + NEXT] = math.ceil(1.5 * F[row + VISITED])
    if I[NODES_USED] + 2 > I[NODES]:
        return
    best, most = -1, LEAST
    for c in range(CUTS):
        gain = gain_of(F, block + c * width, M)
        if gain > most:
            best, most = c, gain
    if best >= 0:
        _split(F, I, row, block, block + best * width)


@inner
def gain_of(F, cut, M):
    """Return how much better two means an arm predict than one."""
    if F[cut + SET] == 0.0:
        return 0.0
    gain = 0.0
    for m in range(M):
        a = cut + WATCH + 2 * m
        b = a + 2 * M
        n0, n1 = F[a] + F[a + 1], F[b] + F[b + 1]
        if n0 > 0.0 and n1 > 0.0:
            mu = (F[a] + F[b] + 0.5) / (n0 + n1 + 1.0)
            h = n0 * n1 / (n0 + n1)
            d = F[a] / n0 - F[b] / n1
            gain += 0.5 * (h * d * d / (mu * (1.0 - mu)) - maths.log(1.0 + h))
    return gain


@inner
def _split(F, I, row, block, cut):
    """Turn a leaf into a node. Its left child watches cuts in its block, its right child in a new block if there is room."""
    M = I[ARMS]
    stride = 2 * M + COUNTS
    left = I[NODES_USED]
    I[NODES_USED] += 2
    F[row + AT], F[row + THRESHOLD], F[row + LEFT], F[row + STOP] = F[cut], F[cut + 1], left, 0.5
    for side in range(2):
        child = I[NODE] + (left + side) * stride
        for i in range(COUNTS):
            F[child + i] = 0.0
        F[child + STOP], F[child + NEXT] = 0.5, FIRST
        for i in range(2 * M):
            F[child + COUNTS + i] = F[cut + WATCH + side * 2 * M + i]
    left_child = I[NODE] + left * stride
    F[left_child + CUT] = F[row + CUT]
    F[row + CUT] = 0.0
    watch_anew(F, I, block)
    if I[BLOCKS_USED] < I[BLOCKS]:
        I[BLOCKS_USED] += 1
        F[left_child + stride + CUT] = I[BLOCKS_USED]
        watch_anew(F, I, I[BLOCK] + (I[BLOCKS_USED] - 1) * CUTS * (WATCH + 4 * M))


@inner
def watch_anew(F, I, block):
    """Draw random columns to cut at, by `PROBABILITY`; thresholds come with the next values."""
    width = WATCH + 4 * I[ARMS]
    for c in range(CUTS):
        cut = block + c * width
        for i in range(width):
            F[cut + i] = 0.0
        F[cut] = draw_column(F, I)


@inner
def draw_column(F, I):
    """Draw a column with the probabilities whose cumulative sums are in `PROBABILITY`."""
    u = draw(I)
    low, high = 0, I[COLUMNS] - 1
    while low < high:
        middle = (low + high) // 2
        if F[I[PROBABILITY] + middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@inner
def look_again(F, I):
    """Redraw the cuts of trees that are leaves."""
    for k in range(TREES):
        watch_anew(F, I, I[BLOCK] + k * CUTS * (WATCH + 4 * I[ARMS]))


@inner
def start(F, I):
    """Reset every tree to a leaf."""
    M = I[ARMS]
    stride = 2 * M + COUNTS
    I[NODES_USED], I[BLOCKS_USED] = TREES, TREES
    for k in range(TREES):
        row = I[NODE] + k * stride
        for i in range(stride):
            F[row + i] = 0.0
        F[row + STOP], F[row + NEXT], F[row + CUT] = 0.5, FIRST, k + 1
        watch_anew(F, I, I[BLOCK] + k * CUTS * (WATCH + 4 * M))
