"""Fitting an ensemble's models to rows that are known whole, not round by round (`engine/state/fit.py` has the order of the steps).

`Z` has a row for each column of z and a column for each row of the log, so that a cut reads one line of memory. `z` is scratch for one row of
the log. Sums are taken in the order of the rows, on every machine.
"""

import math

import numpy as np

from . import ensemble, forest, ridge
from .header import ARMS
from .jit import inner, kernel
from .splitmix import STEP, mixed
from .words.ensemble import (
    AT,
    BLOCK,
    BLOCKS,
    BLOCKS_USED,
    COSINES,
    COUNTS,
    COVARIANCE,
    CUT,
    CUTS,
    DEEPEST,
    INPUTS,
    LEFT,
    LINEAR,
    LOST,
    NEXT,
    NODE,
    NODES,
    NODES_USED,
    RIDGE,
    ROOM,
    ROUNDS,
    SCRATCH,
    SET,
    STACK,
    STOP,
    STRIDE,
    THRESHOLD,
    TREES,
    VISITED,
    WATCH,
    WEIGHTS,
)

TRIES = 60  # random cuts that a node compares
FEWEST = 15  # a node with fewer rows is not cut
GAIN = 1.0  # a cut must gain at least this
SUREST = 0.999  # the most that x' P x counts


@inner
def _read(Z, t, z):
    """Copy row t of the log into z."""
    for i in range(len(Z)):
        z[i] = Z[i, t]


@kernel("D1 L1 D2 L1 D1 D1 D3 D2 b")
def add_rows(F, I, Z, arm, loss, z, A, b, curved):
    """Add x x' and x (loss - 1/2) of every row to A and b, by arm: x is z, or if `curved` a constant and cosines of z.

    O(rows * columns^2), without the columns that are 0.
    """
    d, offset = (I[COSINES] + 1 if curved else len(Z)), ensemble.phi_at(I)
    for t in range(len(arm)):
        _read(Z, t, z)
        if curved:
            ensemble.cosines(F, I, z)
        x = F[offset : offset + d] if curved else z[:d]
        m, y = arm[t], loss[t] - 0.5
        for i in range(d):
            a = x[i]
            if a != 0.0:
                b[m, i] += a * y
                for j in range(i + 1):
                    A[m, i, j] += a * x[j]
    for m in range(len(A)):
        for i in range(d):
            for j in range(i):
                A[m, j, i] = A[m, i, j]


@kernel("D1 L1 D2 L1 D1 D1 D1 b")
def left_out(F, I, Z, arm, loss, z, out, curved):
    """Write to `out` each row's leave-one-out prediction less 1/2, by the linear models, or if `curved` by the cosines.

    A ridge regression without a row errs by its error over 1 - x' P x, where P is the covariance with the row. O(rows * columns^2).
    """
    offset, n, stack = I[SCRATCH], I[COSINES] + 1, I[STACK]
    phi, d = ensemble.phi_at(I), (n if curved else len(Z))
    v = F[offset + 8 + I[ROOM] + n : offset + 8 + I[ROOM] + n + max(I[ROOM], n)]
    average = (F[stack + LOST] + 1.0) / (F[stack + ROUNDS] + 2.0)
    precision = F[I[RIDGE] + I[ROOM]] if curved else F[I[RIDGE]]
    stride = I[STRIDE] if curved else I[ROOM]
    for t in range(len(arm)):
        _read(Z, t, z)
        if curved:
            ensemble.cosines(F, I, z)
        x = F[phi : phi + d] if curved else z[:d]
        m = arm[t]
        weights, P = ensemble.cosine_at(I, m) if curved else (I[LINEAR] + m * I[ROOM], ensemble.covariance_at(F, I, m))
        sd, s = ridge.width(F, P, stride, x, v, d), 0.0
        for i in range(d):
            s += F[P + i] * x[i]
        error = loss[t] - 0.5 - ridge.predict(F, weights, x, d) - (average - 0.5) * precision * s
        out[t] = min(max(loss[t] - error / (1.0 - min(sd * sd, SUREST)), 0.0), 1.0) - 0.5


@kernel("D1 L1 D2 L1 D1 L1 L1 L1 L2 D1")
def grow(F, I, Z, arm, loss, rows, order, other, spans, sides):
    """Grow every tree again from these rows of the log. A node takes the best of TRIES random cuts at values of its rows.

    Nodes have no counts yet (`count`). Scratch: `order` and `other`, as long as `rows`; `spans`, three words for each node; `sides`, one cut
    that a leaf watches. O(trees * rows * TRIES * depth).
    """
    forest.start(F, I)
    M = I[ARMS]
    stride = 2 * M + COUNTS
    for k in range(TREES):
        most = (
            TREES + (k + 1) * ((I[NODES] - TREES) // (4 * TREES)) * 2
        )  # half of the room, shared evenly; the rest is for later
        for t in range(len(rows)):
            order[t] = rows[t]
        first, node = I[NODES_USED], k
        spans[k, 0], spans[k, 1], spans[k, 2] = 0, len(rows), 1
        while True:
            low, high, level = spans[node, 0], spans[node, 1], spans[node, 2]
            row = I[NODE] + node * stride
            F[row + CUT] = 0.0
            if high - low >= FEWEST and level < DEEPEST and I[NODES_USED] + 2 <= most:
                column, threshold = _best(F, I, Z, arm, loss, order[low:high], sides)
                if column >= 0:
                    middle = low + _part(Z, column, threshold, order[low:high], other)
                    left = I[NODES_USED]
                    I[NODES_USED] += 2
                    F[row + AT], F[row + THRESHOLD], F[row + LEFT] = column, threshold, left
                    for side in range(2):
                        child = I[NODE] + (left + side) * stride
                        for i in range(stride):
                            F[child + i] = 0.0
                        F[child + STOP] = 0.5
                        spans[left + side, 0] = middle if side == 1 else low
                        spans[left + side, 1] = high if side == 1 else middle
                        spans[left + side, 2] = level + 1
            node = first if node == k else node + 1
            if node >= I[NODES_USED]:
                break


@inner
def _best(F, I, Z, arm, loss, rows, sides):
    """Return the column and the threshold of the best of TRIES cuts; column -1 if no cut gains enough."""
    best, cut, most, M, n = -1, 0.0, GAIN, I[ARMS], len(rows)
    for _ in range(TRIES):
        column = forest.draw_column(F, I)
        threshold = Z[column, rows[min(int(forest.draw(I) * n), n - 1)]]
        threshold += -1e-9 if forest.draw(I) < 0.5 else 1e-9
        for i in range(WATCH + 4 * M):
            sides[i] = 0.0
        sides[SET] = 1.0
        for q in range(n):
            t = rows[q]
            side = WATCH + 2 * arm[t] + (2 * M if Z[column, t] > threshold else 0)
            sides[side] += loss[t]
            sides[side + 1] += 1.0 - loss[t]
        gain = forest.gain_of(sides, 0, M)
        if gain > most:
            best, cut, most = column, threshold, gain
    return best, cut


@inner
def _part(Z, column, threshold, rows, other):
    """Move rows on the left of a cut to the front; each side keeps its order. Return the number of rows on the left."""
    left = right = 0
    for q in range(len(rows)):
        t = rows[q]
        if Z[column, t] > threshold:
            other[right] = t
            right += 1
        else:
            rows[left] = t
            left += 1
    for q in range(right):
        rows[left + q] = other[q]
    return left


@kernel("D1 L1 D2 L1 D1 L1 D1")
def count(F, I, Z, arm, loss, rows, z):
    """Let grown trees learn these rows of the log, without further cuts. O(rows * trees * depth)."""
    for q in range(len(rows)):
        t = rows[q]
        _read(Z, t, z)
        forest.trace(F, I, z)
        forest.learn(F, I, z, arm[t], loss[t])


@kernel("D1 L1 D2 L1 L1 D1 D1")
def predict(F, I, Z, arm, rows, z, out):
    """Write to `out` the forest's predictions for these rows of the log, less 1/2."""
    for q in range(len(rows)):
        t = rows[q]
        _read(Z, t, z)
        forest.trace(F, I, z)
        out[t] = forest.predict(F, I, arm[t])[0] - 0.5


@kernel("D1 L1")
def watch(F, I):
    """Let leaves watch cuts, as far as there is room, and look at them after half as many visits again."""
    M = I[ARMS]
    stride = 2 * M + COUNTS
    I[BLOCKS_USED] = 0
    for node in range(I[NODES_USED]):
        row = I[NODE] + node * stride
        F[row + NEXT] = max(forest.FIRST, math.ceil(1.5 * F[row + VISITED]))
        if F[row + LEFT] == 0.0 and I[BLOCKS_USED] < I[BLOCKS]:
            I[BLOCKS_USED] += 1
            F[row + CUT] = I[BLOCKS_USED]
            forest.watch_anew(F, I, I[BLOCK] + (I[BLOCKS_USED] - 1) * CUTS * (WATCH + 4 * M))


@kernel("D1 L1 D2 D1 D1 D1")
def weigh(F, I, forecasts, loss, x, v):
    """Refit the stacking weights to the models' predictions of each row, less 1/2, one column each; x and v are scratch."""
    ensemble.weigh_anew(F, I)
    for t in range(len(loss)):
        for j in range(INPUTS - 1):
            x[j] = forecasts[j, t]
        x[INPUTS - 1] = 1.0
        offset = I[STACK]
        ridge.learn(F, offset + WEIGHTS, offset + COVARIANCE, INPUTS, x, loss[t] - 0.5, v, INPUTS, ensemble.ALWAYS)


@kernel("L1 l")
def deal(fold, count):
    """Write to `fold` which of `count` folds each row of a log belongs to, pseudo-random by the row's number."""
    for t in range(len(fold)):
        fold[t] = int(mixed(np.uint64(t) * STEP) >> np.uint64(40)) % count
