"""Probabilities in logarithms: for rounds that offer only arms whose probability a double cannot tell from 0."""

import math

from . import arms, graph, intervals, one_of, tree
from .header import ARMS, BASES, CHILD_REACH, COMPRESSED, DENSE, GRAPH, INTERVALS, KIND, OPTION, PARENT, REST, WEIGHT
from .jit import kernel


@kernel
def log_probabilities(Fs, Is, Ks, t, counts, offered, p):
    """After `visit`: p[m] = ln of the probability of arm m, up to a constant; -inf where it is not offered. Uses up the scratch."""
    for k in range(len(Fs)):
        F, I, n = Fs[k], Is[k], counts[k]
        reach = 0.0
        if I[PARENT] >= 0:
            reach = Fs[I[PARENT]][Is[I[PARENT]][CHILD_REACH] + I[OPTION]]
        kind = I[KIND]
        F[REST] = -math.inf
        if kind == DENSE or kind == COMPRESSED:
            F[REST] = tree.log_visit(F, I, Ks[k][t], n, reach) - math.log(I[ARMS])
        elif kind == INTERVALS:
            intervals.log_visit(F, I, Ks[k][t], n, reach)
            F[REST] = -math.inf
        elif kind == GRAPH:
            graph.log_visit(F, I, n, reach)
        else:
            one_of.log_visit(F, I, reach)
        for i in range(n):
            F[I[WEIGHT] + i] -= arms.log_total(F, I, I[I[BASES] + i])
    for m in range(len(p)):
        p[m] = -math.inf if offered[m] == 0 else _log_sum(Fs, Is, counts, m)


@kernel
def _log_sum(Fs, Is, counts, m):
    """ln of the sum over all nodes of weight times share, for one arm: the largest term first, then the sum relative to it."""
    high = -math.inf
    for k in range(len(Fs)):
        F, I = Fs[k], Is[k]
        high = max(high, F[REST])
        for i in range(counts[k]):
            high = max(high, F[I[WEIGHT] + i] + arms.log_weight(F, I, I[I[BASES] + i], m))
    if high == -math.inf:
        return high
    s = 0.0
    for k in range(len(Fs)):
        F, I = Fs[k], Is[k]
        s += math.exp(F[REST] - high)
        for i in range(counts[k]):
            s += math.exp(F[I[WEIGHT] + i] + arms.log_weight(F, I, I[I[BASES] + i], m) - high)
    return high + math.log(s)


@kernel
def normalise(p):
    """From logarithms, up to a constant, to probabilities."""
    high = -math.inf
    for m in range(len(p)):
        high = max(high, p[m])
    s = 0.0
    for m in range(len(p)):
        p[m] = math.exp(p[m] - high)
        s += p[m]
    for m in range(len(p)):
        p[m] /= s


@kernel
def log_kept(p, arm, x):
    """ln of what the offered arms keep of their total when `arm` is multiplied by exp(-x); p in logarithms, up to a constant."""
    high = -math.inf
    for m in range(len(p)):
        high = max(high, p[m])
    before, top = 0.0, -math.inf
    for m in range(len(p)):
        before += math.exp(p[m] - high)
        top = max(top, p[m] - (x if m == arm else 0.0))
    after = 0.0
    for m in range(len(p)):
        after += math.exp(p[m] - (x if m == arm else 0.0) - top)
    return (top - high) + math.log(after) - math.log(before)
