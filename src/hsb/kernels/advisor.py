"""The advisor: a Bayes context tree that names one arm for each context. It has no guarantee; the mixture that it stands in has.

A full binary tree over 2^DEPTH cells, rows in heap order from 1. A node sums, for each arm, the losses of its plays and what they fell
short of 1; its mean loss shrinks towards its parent's, mu = (lost + SHRINK mu_parent) / (plays + SHRINK), and nu = 1 - mu likewise, never by
subtraction. As in HSB a node stops or goes on, here by Bayes evidence: the
probability that its means gave to each loss seen. The advice is the arm with the least mean - WIDTHS standard deviations, both mixed
over the path by the posterior of stopping there.

A node also keeps means that remember about 50 plays. Where these have foretold its losses so much better than its whole subtree that it
cannot be chance, the world has changed there: the node and all below it start anew. The evidence must exceed visits^1.5 + 10000.
"""

import math

from .header import ARMS, DEPTH, ROW0, STRIDE
from .jit import kernel

SHRINK = 4.0  # how many plays the parent's mean is worth
WIDTHS = 1.5  # standard deviations of optimism
MEMORY = 0.98  # of the short means, for each play of the arm
SURE = 1e4  # evidence that a change needs at least

# Words of F before the rows.
HERE, BESIDE, CLOCK = 0, 1, 2  # weight of HSB, weight of the advisor, rounds learned from
HEAD = 8  # then scratch by arm: mu and nu of the level above, mean, width; then by level: mu and nu of the played arm

# Words of a row; an arm has four: the sum of its losses, of 1 - loss, and the same with a short memory.
STOP, GO, VISITS, EVIDENCE, BORN, CHANGED, COUNTS = 0, 1, 2, 3, 4, 5, 6


@kernel
def _is_fresh(F, row, changed):
    """Is the node at its prior: never visited, or not since its region changed?"""
    return F[row + VISITS] == 0.0 or F[row + BORN] < changed


@kernel
def advise(F, I, cell, offered):
    """The advice for a cell among the offered arms (empty: all). Changes nothing but scratch. O(depth * arms)."""
    M, depth, row0, stride = I[ARMS], I[DEPTH], I[ROW0], I[STRIDE]
    up, down, mean, width = HEAD, HEAD + M, HEAD + 2 * M, HEAD + 3 * M
    for m in range(M):
        F[up + m] = F[down + m] = 0.5
        F[mean + m] = 0.0
        F[width + m] = 0.0
    reach = 1.0
    changed = -1.0
    for level in range(depth + 1):
        row = row0 + ((1 << level) + (cell >> (depth - level))) * stride
        changed = max(changed, F[row + CHANGED] if F[row + VISITS] > 0.0 else -1.0)
        if _is_fresh(F, row, changed):
            break
        here = reach
        if level < depth:
            here = reach * F[row + STOP]
            reach *= F[row + GO]
        else:
            reach = 0.0
        for m in range(M):
            at = row + COUNTS + 4 * m
            n = F[at] + F[at + 1] + SHRINK
            mu = (F[at] + SHRINK * F[up + m]) / n
            nu = (F[at + 1] + SHRINK * F[down + m]) / n
            F[up + m] = mu
            F[down + m] = nu
            F[mean + m] += here * mu
            F[width + m] += here * math.sqrt(mu * nu / (n + 1.0))
    best = -1
    least = math.inf
    for m in range(M):
        if len(offered) > 0 and offered[m] == 0:
            continue
        index = F[mean + m] + reach * F[up + m]
        index -= WIDTHS * (F[width + m] + reach * math.sqrt(F[up + m] * F[down + m] / (SHRINK + 1.0)))
        if index < least:
            best, least = m, index
    return best


@kernel
def learn(F, I, cell, arm, loss):
    """Learn the loss of an arm in a cell. O(depth), and O(arms) for a node that starts anew."""
    M, depth, row0, stride = I[ARMS], I[DEPTH], I[ROW0], I[STRIDE]
    means = HEAD + 4 * M
    clock = F[CLOCK]
    mu = nu = 0.5
    changed = -1.0
    for level in range(depth + 1):
        row = row0 + ((1 << level) + (cell >> (depth - level))) * stride
        changed = max(changed, F[row + CHANGED] if F[row + VISITS] > 0.0 else -1.0)
        if _is_fresh(F, row, changed):
            for i in range(stride):
                F[row + i] = 0.0
            F[row + STOP] = F[row + GO] = 0.5
            F[row + EVIDENCE] = 1.0
            F[row + BORN] = clock
            F[row + CHANGED] = -1.0
        at = row + COUNTS + 4 * arm
        n = F[at] + F[at + 1] + SHRINK
        mu = (F[at] + SHRINK * mu) / n
        nu = (F[at + 1] + SHRINK * nu) / n
        F[means + 2 * level] = mu
        F[means + 2 * level + 1] = nu
    below = 0.0
    for level in range(depth, -1, -1):
        row = row0 + ((1 << level) + (cell >> (depth - level))) * stride
        mu, nu = F[means + 2 * level], F[means + 2 * level + 1]
        q = loss * mu + (1.0 - loss) * nu
        visits = F[row + VISITS]
        if level < depth:
            stop, go = F[row + STOP] * q, F[row + GO] * below
            q = stop + go
            share = 1.0 / (visits + 2.0)
            F[row + STOP] = (1.0 - share) * stop / q + share * 0.5
            F[row + GO] = (1.0 - share) * go / q + share * 0.5
        below = q
        _watch(F, row, arm, loss, mu, nu, q, visits + 1.0)
    F[CLOCK] = clock + 1.0


@kernel
def _watch(F, row, arm, loss, mu, nu, q, visits):
    """Count the loss; then compare what the short memory foretold with what the subtree did (q)."""
    at = row + COUNTS + 4 * arm
    short = (loss * (F[at + 2] + mu) + (1.0 - loss) * (F[at + 3] + nu)) / (F[at + 2] + F[at + 3] + 1.0)
    evidence = max(1.0, F[row + EVIDENCE] * short / q)
    F[at] += loss
    F[at + 1] += 1.0 - loss
    F[at + 2] = MEMORY * F[at + 2] + loss
    F[at + 3] = MEMORY * F[at + 3] + (1.0 - loss)
    F[row + VISITS] = visits
    if evidence > visits * math.sqrt(visits) + SURE:
        F[row + CHANGED] = F[CLOCK] + 0.5
        evidence = 1.0
    F[row + EVIDENCE] = evidence
