"""One round on a binary or K-ary tree: the nodes that contain a context are a path.

DENSE trees have a row (`rows.py`) for every node, in heap order. COMPRESSED trees keep one row for a chain of nodes (`chains.py`).
"""

import math

from . import arms, chains, rows
from . import header as h
from .jit import inner
from .rows import ARMS_AT
from .words import tree as tree_words


@inner
def visit(F, I, key, reach):
    """Run the reach pass of a COMPRESSED tree: write the weight and arm block of every visited node that contains the key; return how many.

    F[REST] is left with the mass on nodes at their prior. O(log rounds).
    """
    F[h.REST] = reach
    I[tree_words.WHOLE] = 0
    if I[tree_words.ROWS] == 0:
        return 0
    links, link_stride, row0, stride = I[tree_words.LINKS], I[tree_words.LINK_STRIDE], I[tree_words.ROW0], I[tree_words.STRIDE]
    path, weight, bases, depth = I[tree_words.PATH], I[h.WEIGHT], I[h.BASES], I[tree_words.DEPTH]
    n = 0
    number = 0
    while True:
        link = links + number * link_stride
        row = row0 + number * stride
        bottom = I[link] & 4095
        rate, go = F[row], F[row + 1]
        leaves = not chains.agree(I, link, key, bottom)
        if leaves:
            top = I[link] >> 12
            parts = chains.split_odds(F, I, row, bottom - top + 1, chains.leaves_at(I, link, key) - top + 1)
            rate = parts[0] / arms.total(F, row + ARMS_AT, I[h.TOP], I[h.TOP_SIZE]) if parts[2] <= 0.0 else 0.0
            go = parts[1] if parts[2] >= 0.0 else 0.0
        F[weight + n] = reach * rate
        I[path + n] = row
        I[bases + n] = row + ARMS_AT
        reach *= go
        n += 1
        if leaves:
            break
        if bottom == depth:
            I[tree_words.WHOLE] = 1
            break
        number = I[link + 1 + chains.digit(I, key, bottom)]
        if number < 0:
            break
    F[h.REST] = reach
    return n


@inner
def visit_dense(F, I, key, reach):
    """Run the reach pass of a DENSE tree. O(depth)."""
    heap = key[0] if I[tree_words.ROOTS] > 0 else 0
    k = I[tree_words.FANOUT]
    depth, stride, row0 = I[tree_words.DEPTH], I[tree_words.STRIDE], I[tree_words.ROW0]
    path, weight, bases = I[tree_words.PATH], I[h.WEIGHT], I[h.BASES]
    for level in range(depth + 1):
        row = row0 + heap * stride
        if F[row] + F[row + 1] == 0.0:
            F[h.REST] = reach
            I[tree_words.WHOLE] = 0
            return level
        F[weight + level] = reach * F[row]
        I[path + level] = row
        I[bases + level] = row + ARMS_AT
        reach *= F[row + 1]
        if level < depth:
            heap = heap * k + 1 + chains.digit(I, key, level)
    F[h.REST] = 0.0
    I[tree_words.WHOLE] = 1
    return depth + 1


@inner
def log_visit(F, I, key, n, reach):
    """Replace the weights of the n nodes just visited by ln(reach * stop); reach is ln too. Return ln of the rest."""
    for d in range(n):
        row = I[I[tree_words.PATH] + d]
        stop, go, e = rows.odds(F, I, row)
        if I[h.KIND] == h.COMPRESSED:
            link = I[tree_words.LINKS] + (row - I[tree_words.ROW0]) // I[tree_words.STRIDE] * I[tree_words.LINK_STRIDE]
            bottom, top = I[link] & 4095, I[link] >> 12
            if not chains.agree(I, link, key, bottom):
                parts = chains.split_odds(F, I, row, bottom - top + 1, chains.leaves_at(I, link, key) - top + 1)
                stop, go, e = parts[0], parts[1], parts[2]
        log_stop, log_go = rows.logs(stop, go, e)
        F[I[h.WEIGHT] + d] = reach + log_stop
        reach += log_go
    return reach


@inner
def extend(F, I, key, n):
    """Give the other nodes that contain the key rows too, after a visit of n nodes; return how many there are on the path now."""
    if I[tree_words.WHOLE] == 1:
        return n
    low = chains.grow(F, I, key, n)
    if low >= 0:
        row, low_row = I[I[tree_words.PATH] + n - 1], I[tree_words.ROW0] + low * I[tree_words.STRIDE]
        above = chains.length(I, row)
        parts = chains.split_odds(F, I, row, above + chains.length(I, low_row), above)
        rows.store(F, I, low_row, parts[3], parts[4], parts[5])
        rows.store(F, I, row, parts[0], parts[1], parts[2])
    leaf = I[I[tree_words.PATH] + n]
    arms.reset(F, I, leaf + ARMS_AT)
    rows.store(F, I, leaf, 1.0, 0.0, 0.0)
    return n + 1


@inner
def extend_dense(F, I, key, n):
    """Do the same in a DENSE tree."""
    if I[tree_words.WHOLE] == 1:
        return n
    depth = I[tree_words.DEPTH]
    stay, go = F[I[tree_words.STAY] + 1], F[I[tree_words.GO] + 1]
    heap = key[0] if I[tree_words.ROOTS] > 0 else 0
    for level in range(depth + 1):
        if level >= n:
            row = I[tree_words.ROW0] + heap * I[tree_words.STRIDE]
            I[I[tree_words.PATH] + level] = row
            I[tree_words.ROWS] += 1
            arms.reset(F, I, row + ARMS_AT)
            if level == depth:
                rows.store(F, I, row, 1.0, 0.0, 0.0)
            elif stay == 0.0:
                rows.store(F, I, row, 1.0, 1.0, math.inf)
            else:
                rows.store(F, I, row, stay, go, 0.0)
        if level < depth:
            heap = heap * I[tree_words.FANOUT] + 1 + chains.digit(I, key, level)
    return depth + 1


@inner
def ratio(F, I, n, arm, x, f, available, g):
    """Run the ratio pass over the n nodes just visited, all of which have rows; return the root's ratio. x <= STEP."""
    path = I[tree_words.PATH]
    below = 0.0
    for d in range(n - 1, -1, -1):
        row = I[path + d]
        now = arms.update(F, I, row + ARMS_AT, arm, x, f, available, g)
        below = rows.turn(F, I, row, now, below)
    return below


@inner
def ratio_log(F, I, n, arm, x, available, log_g):
    """Run the ratio pass in logarithms, for any x; return ln of the root's ratio."""
    below = 0.0
    for d in range(n - 1, -1, -1):
        row = I[I[tree_words.PATH] + d]
        b = row + ARMS_AT
        stop, go, e = rows.odds(F, I, row)
        stop, go = rows.logs(stop, go, e)
        stop += arms.shrink_log(F, I, b, arm, x, available, log_g)
        below = rows.store_logs(F, I, row, stop, go + below)
    return below
