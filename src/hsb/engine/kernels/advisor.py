"""The advisor: a Bayes context tree that recommends one arm for each context. It has no guarantee; the mixture that contains it has one.

In the mixture the advisor is one node. All its weight is on the recommended arm, or spread evenly over arms that tie, as before the first
loss (`advice.py`). This module computes the recommendation.

The tree is a full binary tree over 2^DEPTH cells, with rows in heap order from 1. For each arm a node sums the losses of its plays (`lost`)
and one minus those losses (`kept`). Before its first plays a node predicts what the rest of its parent has seen,

    nu_i = (lost by parent but not i + SHRINK nu_parent) / (plays of parent but not i + SHRINK),    nu_root = 1/2,
    mu_i = (lost by i + SHRINK nu_i) / (plays of i + SHRINK),

so no play counts twice. As in HSB, a node stops or continues to its child. Here Bayes evidence decides: the probability that the node's
means gave to each observed loss. The advice is the arm with the least mean - WIDTHS standard deviations, both averaged over the path with
the posterior probabilities of stopping. With more than FEW arms each node stores nu, mu and the deviation of every arm, and recomputes only
those of arms played since.

A node also keeps means with a memory of about 50 plays. If these have predicted the losses better than the node's whole subtree, by more
than can be chance, the environment has changed in that region. The node and all below it then restart. The evidence needed is
visits^1.5 + 10000.
"""

import math

import numpy as np

from .advice import put
from .arms import is_available
from .header import ARMS, BASES, FEW, WIDTH
from .jit import inner, kernel
from .words.advisor import (
    ADVICE,
    BORN,
    CHANGED,
    CLOCK,
    COUNTS,
    DEPTH,
    EVIDENCE,
    EXPECTED,
    GO,
    NEXT,
    ROW0,
    SCRATCH,
    STOP,
    STRIDE,
    VISITS,
)

SHRINK = 4.0  # the parent's mean counts as this many plays
WIDTHS = 1.25  # standard deviations of optimism
MEMORY = 0.98  # factor of the short means, at each play of the arm
SURE = 1e4  # the least evidence of a change


@inner
def _is_fresh(F, row, changed):
    """Return whether the node is at its prior: never visited, or not since its region changed."""
    return F[row + VISITS] == 0.0 or F[row + BORN] < changed


@inner
def _shrunk(lost, kept, expected):
    """Return the mean after losses `lost` and complements `kept`, given the prior mean `expected`."""
    return (lost + SHRINK * expected) / (lost + kept + SHRINK)


@inner
def _width(mu, n):
    """Return the standard deviation of the mean `mu` after n plays. The term 1/(n + SHRINK) covers means that are 0 or 1 by luck."""
    return math.sqrt((mu * (1.0 - mu) + 1.0 / (n + SHRINK)) / (n + SHRINK + 1.0))


@inner
def visit(F, I, cell, available, reach):
    """Run the reach pass: one node, whose arm block has the shares of the recommended arms and 0 for the others."""
    I[ADVICE] = advise(F, I, cell, available)
    return put(F, I, SCRATCH + 3 * I[ARMS], reach)


@kernel("D1 L1 l C1")
def advise(F, I, cell, available):
    """Return the recommended arm of a cell among the available arms, the first if several tie. Each arm's index replaces its mean in scratch.

    Changes nothing but scratch. O(depth * arms), of which little is expensive if a row of memory is nearly up to date.
    """
    M, depth, row0, stride = I[ARMS], I[DEPTH], I[ROW0], I[STRIDE]
    mean, width = F[SCRATCH + 3 * M : SCRATCH + 4 * M], F[SCRATCH + 4 * M : SCRATCH + 5 * M]
    for m in range(M):
        mean[m] = width[m] = 0.0
    reach = 1.0
    changed = 0.0
    above = offset = row = -1
    for level in range(depth + 1):
        node = (1 << level) + (cell >> (depth - level))
        below = row0 + node * stride
        changed = max(changed, F[below + CHANGED])
        if _is_fresh(F, below, changed):
            break
        parent, above, row = row, offset, below
        offset = _memory(I, node if M > FEW else level)
        _remember(F, I, parent, row, above, offset)
        here = reach
        if level < depth:
            here = reach * F[row + STOP]
            reach *= F[row + GO]
        else:
            reach = 0.0
        means, widths = (
            F[offset + EXPECTED + M : offset + EXPECTED + 2 * M],
            F[offset + EXPECTED + 2 * M : offset + EXPECTED + 3 * M],
        )
        for m in range(M):
            mean[m] += here * means[m]
            width[m] += here * widths[m]
    if reach > 0.0:  # the mass on nodes never visited
        for m in range(M):
            mu = 0.5
            if row >= 0:
                mu = _shrunk(F[row + COUNTS + 4 * m], F[row + COUNTS + 4 * m + 1], F[offset + EXPECTED + m])
            mean[m] += reach * mu
            width[m] += reach * _width(mu, 0.0)
    best = -1
    least = math.inf
    for m in range(M):
        index = mean[m] - WIDTHS * width[m] if is_available(available, m) else math.inf
        mean[m] = index
        if (
            index < least or (best < 0 and is_available(available, m)) or index != index
        ):  # NaN is recommended, and ends the round
            best, least = m, index
    return best


@inner
def _remember(F, I, parent, row, above, offset):
    """Bring a node's row of memory up to date: only arms played since can be stale. `parent` is -1 at the root."""
    M, now, due = I[ARMS], F[CLOCK], F[offset + NEXT]
    if M > FEW and 0.0 < due <= now + 1.0 and now + 1.0 - due < M:
        for t in range(np.int64(due) - 1, np.int64(now)):
            _remember_arm(F, parent, row, above, offset, M, np.int64(F[_recent(I, t)]))
    else:
        for m in range(M):
            _remember_arm(F, parent, row, above, offset, M, m)
    F[offset + NEXT] = now + 1.0


@inner
def _memory(I, node):
    """Return the offset in F of a row of memory."""
    return I[I[BASES]] + I[WIDTH] + I[ARMS] + node * (EXPECTED + 3 * I[ARMS])


@inner
def _recent(I, t):
    """Return the offset in F of the arm of round t, one of the last M; with more than FEW arms."""
    return _memory(I, 2 << I[DEPTH]) + t % I[ARMS]


@inner
def _remember_arm(F, parent, row, above, offset, M, m):
    """Compute an arm's expected mean, its mean and its width in a node."""
    l, k = F[row + COUNTS + 4 * m], F[row + COUNTS + 4 * m + 1]
    expected = 0.5
    if parent >= 0:
        lost, kept = F[parent + COUNTS + 4 * m], F[parent + COUNTS + 4 * m + 1]
        expected = _shrunk(max(lost - l, 0.0), max(kept - k, 0.0), F[above + EXPECTED + m])
    mu = _shrunk(l, k, expected)
    F[offset + EXPECTED + m] = expected
    F[offset + EXPECTED + M + m] = mu
    F[offset + EXPECTED + 2 * M + m] = _width(mu, l + k)


@inner
def learn(F, I, cell, arm, loss):
    """Learn the loss of an arm in a cell. O(depth), and O(arms) for a node that restarts."""
    M, depth, row0, stride = I[ARMS], I[DEPTH], I[ROW0], I[STRIDE]
    means = SCRATCH + 5 * M
    clock = F[CLOCK]
    lost = kept = 0.0
    expected, unexpected = 0.5, 0.5  # the second is 1 - mean, computed directly and not by subtraction
    changed = 0.0
    for level in range(depth + 1):
        row = row0 + ((1 << level) + (cell >> (depth - level))) * stride
        changed = max(changed, F[row + CHANGED])
        if _is_fresh(F, row, changed):
            F[row + STOP] = F[row + GO] = 0.5
            F[row + VISITS] = 0.0
            F[row + EVIDENCE] = 1.0
            F[row + BORN] = clock  # CHANGED stays, for nodes below that were not visited since
            for i in range(COUNTS, stride):
                F[row + i] = 0.0
            if M > FEW:
                F[_memory(I, (1 << level) + (cell >> (depth - level))) + NEXT] = 0.0
        offset = row + COUNTS + 4 * arm
        l, k = F[offset], F[offset + 1]
        if level > 0:
            l0, k0 = max(lost - l, 0.0), max(kept - k, 0.0)
            expected, unexpected = _shrunk(l0, k0, expected), _shrunk(k0, l0, unexpected)
        lost, kept = l, k
        offset = means + 4 * level
        F[offset] = _shrunk(l, k, expected)
        F[offset + 1] = _shrunk(k, l, unexpected)
        F[offset + 2] = expected
        F[offset + 3] = unexpected
    below = 0.0
    for level in range(depth, -1, -1):
        row = row0 + ((1 << level) + (cell >> (depth - level))) * stride
        offset = means + 4 * level
        q = loss * F[offset] + (1.0 - loss) * F[offset + 1]
        visits = F[row + VISITS]
        if level < depth:
            stop, go = F[row + STOP] * q, F[row + GO] * below
            q = stop + go
            share = 1.0 / (visits + 2.0)
            F[row + STOP] = (1.0 - share) * stop / q + share * 0.5
            F[row + GO] = (1.0 - share) * go / q + share * 0.5
        below = q
        _watch(F, row, arm, loss, F[offset + 2], F[offset + 3], q, visits + 1.0)
    if M > FEW:
        F[_recent(I, np.int64(clock))] = arm
    F[CLOCK] = clock + 1.0


@inner
def _watch(F, row, arm, loss, expected, unexpected, q, visits):
    """Count the loss; then compare the prediction of the short memory with the subtree's, q.

    Without forgetting, the short mean would equal the node's: faster learning alone yields no evidence.
    """
    offset = row + COUNTS + 4 * arm
    l, k = F[offset + 2], F[offset + 3]
    short = loss * _shrunk(l, k, expected) + (1.0 - loss) * _shrunk(k, l, unexpected)
    evidence = max(1.0, F[row + EVIDENCE] * short / q)
    F[offset] += loss
    F[offset + 1] += 1.0 - loss
    F[offset + 2] = MEMORY * F[offset + 2] + loss
    F[offset + 3] = MEMORY * F[offset + 3] + (1.0 - loss)
    F[row + VISITS] = visits
    if evidence > visits * math.sqrt(visits) + SURE:
        F[row + CHANGED] = F[CLOCK] + 0.5
        evidence = 1.0
    F[row + EVIDENCE] = evidence
