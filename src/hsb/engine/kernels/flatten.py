"""When the rate falls by the factor r, every mapping's weight P becomes prior^(1-r) P^r, renormalised (`docs/proofs.md`).

The result is as if all losses so far had been learned at the new rate: weights are prior * exp(-rate * loss) again. In a tree it takes one
pass, children first. With H the sum over the mappings below a node of prior^(1-r) P^r, and A the same over its arms,

    H = stop_prior^(1-r) stop^r A + go_prior^(1-r) go^r (product of H over the children),

and the two terms, divided by H, are the new odds. H = 1 for a node never visited. A chain of links is one node here, exactly: all its links
have the same arms.
"""

import math

from . import arms, maths, rows
from .jit import inner, kernel
from .rows import ARMS_AT
from .words.tree import CAPACITY, DEPTH, FANOUT, GO, LINK_STRIDE, LINKS, ROOTS, ROW0, STAY, STRIDE


@kernel("D1 L1 L1 d D1")
def blocks(F, I, offsets, r, logs):
    """Flatten the arm blocks at `offsets`; write ln A of each to `logs`. O(blocks * M)."""
    for i in range(len(offsets)):
        logs[i] = arms.flatten(F, I, offsets[i], r)


@inner
def _row(F, I, row, links, r, below):
    """Flatten one row of a tree, which stands for `links` links; return ln H."""
    stop, go, e = rows.odds(F, I, row)
    stop, go = rows.logs(stop, go, e)
    A = arms.flatten(F, I, row + ARMS_AT, r)
    if go == -math.inf:  # a leaf, or a chain that ends in one: it can only stop
        return rows.store_logs(F, I, row, r * stop + A, go)
    stay = F[I[STAY] + links]
    log_stop = (1.0 - r) * maths.log(stay) + r * stop + A if stay > 0.0 else -math.inf
    return rows.store_logs(F, I, row, log_stop, (1.0 - r) * maths.log(F[I[GO] + links]) + r * go + below)


@kernel("D1 L1 d D1")
def dense(F, I, r, H):
    """Flatten a DENSE tree. `H` has a zero for every node, and receives ln H of each. Return ln H of all roots. O(nodes in use)."""
    k, nodes = I[FANOUT], I[CAPACITY]
    total = 0.0
    for node in range(nodes - 1, -1, -1):
        row = I[ROW0] + node * I[STRIDE]
        if F[row] + F[row + 1] != 0.0:
            below = 0.0
            if I[DEPTH] > 0:
                for child in range(node * k + 1, min(node * k + k + 1, nodes)):
                    below += H[child]
            H[node] = _row(F, I, row, 1, r, below)
        if node == 0 or I[ROOTS] > 0:
            total += H[node]
    return total


@kernel("D1 L1 d L1 D1")
def compressed(F, I, r, order, H):
    """Flatten a COMPRESSED tree, whose rows come children first in `order`."""
    k = I[FANOUT]
    total = 0.0
    for number in order:
        link = I[LINKS] + number * I[LINK_STRIDE]
        below = 0.0
        for c in range(k):
            if I[link + 1 + c] >= 0:
                below += H[I[link + 1 + c]]
        H[number] = total = _row(F, I, I[ROW0] + number * I[STRIDE], (I[link] & 4095) - (I[link] >> 12) + 1, r, below)
    return total
