"""Contexts of mixed features as numbers: columns for linear models (z), cells for trees, and the statistics that both are scaled by.

A raw row has one float for each *input*, NaN if it is missing. A row read when fewer inputs were known is shorter. A row of `I` and a row of
`F` describe each input (`inputs.py`). `where` lists the columns in z of all categories, input by input. `head` has the totals.

The raw value of a category is its number k, in order of registration; limit + k means that it shares the column of k; -1 means unseen.
The raw value of a tag is 1 or 0, or 2 if only other tags that share the input are present.
"""

import math

import numpy as np

from . import maths
from .inputs import (
    BITS,
    CATEGORY,
    CELLS,
    CLIP,
    COARSE,
    COLUMN,
    COUNT,
    CYCLE,
    EDGE,
    EDGES,
    FLAG,
    HIGH,
    HUGE,
    INPUTS,
    KIND,
    LIMIT,
    LOW,
    M2,
    MAX,
    MEAN,
    MIN,
    MISSING,
    NUMBER,
    OUTSIDE,
    PERIOD,
    RECENT,
    ROWS,
    SAMPLE,
    SCALE,
    SHARED,
    SHIFT,
    START,
    TAG,
    TREE,
    UNSEEN,
    WATCHED,
)
from .jit import inner, kernel
from .splitmix import STEP, mixed


@inner
def encode_row(raw, z, cells, head, I, F, where):
    """Fill z and the cell of each tree; entries beyond what is known are 0."""
    for p in range(len(z)):
        z[p] = 0.0
    z[0] = 1.0
    inputs = head[INPUTS]
    for k in range(len(cells)):
        cells[k] = 0
    for s in range(inputs):
        x = raw[s] if s < len(raw) else math.nan
        if math.isnan(x):
            if I[s, MISSING] >= 0:
                z[I[s, MISSING]] += 1.0
            continue
        kind, column, tree = I[s, KIND], I[s, COLUMN], I[s, TREE]
        if kind == NUMBER:
            cells[tree] = number_cell(x, I, F, s)
            cells[tree + 1] = leading_bits(x) >> I[s, COARSE] << I[s, COARSE]
            z[column] += scaled(x, F, s)
        elif kind == CATEGORY:
            k = category(x, I[s, LIMIT])
            cells[tree] = k + 2
            if k >= 0 and where[I[s, START] + k] >= 0:
                z[where[I[s, START] + k]] += 1.0
        elif kind == CYCLE:
            phase = x / F[s, PERIOD]
            cells[tree] = 1
            if 0.0 <= phase <= 1.0:  # true of every row that was read
                cells[tree] = 1 + min(int(phase * CELLS), CELLS - 1)
                z[column] += maths.sin_turns(phase)
                z[I[s, START]] += maths.cos_turns(phase)
        elif kind == FLAG:
            cells[tree] = CELLS if x > 0.5 else 1
            z[column] += scaled(x, F, s)
        else:
            cells[tree] = CELLS if x > 0.5 else 1
            z[column] += 1.0 if x > 0.5 else 0.0


@inner
def leading_bits(x):
    """Return a number's leading bits, arranged so that larger numbers never have smaller ones; never 0, which stands for missing."""
    bits = np.float64(x + 0.0).view(np.int64)  # 0.0 and -0.0 are the same
    if bits < 0:
        bits ^= 0x7FFFFFFFFFFFFFFF
    return (bits >> (64 - BITS)) + (1 << (BITS - 1))


@inner
def scaled(x, F, s):
    """Return a number in standard deviations from the mean, cut to CLIP."""
    if F[s, SCALE] == 0.0:
        return 0.0
    return min(max((x - F[s, SHIFT]) / F[s, SCALE], -CLIP), CLIP)


@inner
def category(x, limit):
    """Return the number of a category below `limit`; -1 if it is unseen or not a category."""
    if 0.0 <= x < limit:
        return np.int64(x)
    if limit <= x < 2 * limit:
        return np.int64(x) - limit
    return np.int64(-1)


@inner
def number_cell(x, I, F, s):
    """Return the cell of a number, 1 .. CELLS: the count of edges not above x; fewer edges are spread over all cells."""
    low, high = 0, I[s, EDGES]
    while low < high:
        middle = (low + high) // 2
        if F[s, EDGE + middle] <= x:
            low = middle + 1
        else:
            high = middle
    return spread(low, I[s, EDGES])


@inner
def spread(k, edges):
    """Return the cell of the numbers above k of all edges."""
    return 1 + (2 * k * (CELLS - 1) + edges) // (2 * edges) if edges > 0 else 1


@kernel("D1 D1")
def edges(values, cut):
    """Write the edges of a number's cells to `cut`, at most CELLS - 1, ascending; return how many. `values`: a sample, ascending, without NaN.

    Each of few different values has a separate cell, cut half way. Otherwise cells are filled from the left, each up to an equal share of
    the remaining values: a very common value fills one cell and takes nothing from the rest.
    """
    different = min(len(values), 1)
    for i in range(1, len(values)):
        different += values[i] != values[i - 1]
    n, left, inside, start = 0, float(len(values)), 0.0, 0
    for i in range(1, len(values) + 1):
        if i < len(values) and values[i] == values[start]:
            continue
        if different <= CELLS:
            if i < len(values):
                middle = 0.5 * values[start] + 0.5 * values[i]
                cut[n] = middle if values[start] < middle <= values[i] else values[i]
                n += 1
        else:
            share = left / (CELLS - n)
            if inside > 0.0 and inside + (i - start) / 2 > share and n < CELLS - 1:
                cut[n] = values[start]
                n += 1
                left -= inside
                inside = 0.0
            inside += i - start
        start = i
    return n


@kernel("D1 D1 L1 L1 L2 D2 L1")
def encode(raw, z, cells, head, I, F, where):
    encode_row(raw, z, cells, head, I, F, where)


@kernel("D2 D2 L2 L1 L2 D2 L1", free=True)
def encode_rows(raw, z, cells, head, I, F, where):
    """Do `encode` for every row of a table."""
    for t in range(len(raw)):
        encode_row(raw[t], z[t], cells[t], head, I, F, where)


@inner
def observe_row(raw, head, I, F, reservoir, recent):
    """Count a raw row: moments of finite numbers, unseen and shared categories, a reservoir of rows, and the last rows, one column each."""
    n = head[ROWS]
    j = n
    if n >= SAMPLE:
        j = np.int64(mixed(np.uint64(n) * STEP) % np.uint64(n + 1))
    head[ROWS] = n + 1
    watched = max(WATCHED, n // WATCHED)
    for s in range(head[INPUTS]):
        x = raw[s] if s < len(raw) else math.nan
        if j < SAMPLE:
            reservoir[s, j] = x
        recent[s, n % RECENT] = x
        kind = I[s, KIND]
        if kind == CATEGORY:
            if x < 0.0:
                head[UNSEEN] += 1
            elif x >= I[s, LIMIT]:
                head[SHARED] += 1
        elif kind == TAG:
            if x > 1.0:
                head[SHARED] += 1
        elif math.isfinite(x):
            x = min(max(x, -HUGE), HUGE)
            first = F[s, MIN] > F[s, MAX]
            F[s, MIN] = x if first else min(F[s, MIN], x)
            F[s, MAX] = x if first else max(F[s, MAX], x)
            if F[s, LOW] <= F[s, HIGH]:
                outside = 0.0 if F[s, LOW] <= x <= F[s, HIGH] else 1.0
                F[s, OUTSIDE] += (outside - F[s, OUTSIDE]) / watched
            F[s, COUNT] += 1.0
            delta = x - F[s, MEAN]
            F[s, MEAN] += delta / F[s, COUNT]
            F[s, M2] += delta * (x - F[s, MEAN])


@kernel("D1 L1 L2 D2 D2 D2")
def observe(raw, head, I, F, reservoir, recent):
    observe_row(raw, head, I, F, reservoir, recent)


@kernel("D2 L1 L2 D2 D2 D2", free=True)
def observe_rows(raw, head, I, F, reservoir, recent):
    """Do `observe` for every row of a table."""
    for t in range(len(raw)):
        observe_row(raw[t], head, I, F, reservoir, recent)
