"""Rounds in logarithms: if the available arms' probability is too close to 0 for a double, or a step is too large for the fast passes."""

import math

from . import advice, arms, graph, intervals, maths, members, one_of, tree
from . import header as h
from . import kinds as of
from .jit import inner
from .words import one_of as one_of_words
from .words import state as state_words

UNSEEN = 1e-90  # below this total the probabilities of the available arms are computed in logarithms


@inner
def mix(F, I, key, available, p):
    """Fill p with the probabilities of the available arms if their total is too close to 0 for a double."""
    _log_probabilities(F, I, key, available, p)
    _normalise(p)


@inner
def log_g(F, I, key, available, p, arm, x):
    """Compute `rounds._log_g` in logarithms."""
    _log_probabilities(F, I, key, available, p)
    return _log_kept(p, arm, x)


@inner
def weigh(F, I, key, available, step, drift):
    """Run the rest of `rounds.update` for any `step` = (arm, x, ln g); return ln of the whole mixture's ratio."""
    r = 0.0
    for k in range(I[state_words.MEMBERS] - 1, -1, -1):
        f, i, part = members.own(F, I, k, key)
        n = of.extend(f, i, part, members.count(I, k))
        r = _ratio_log(f, i, part, n, step, available)
        if i[h.PARENT] >= 0:
            F[members.offset(I, i, one_of_words.CHILD_RATIO)] = r
        of.share(f, i, n, drift)
    return r


@inner
def _ratio_log(F, I, key, n, step, available):
    """Run `kinds.ratio` in logarithms, for `step` = (arm, x, ln g)."""
    arm, x, log_g = step
    kind = I[h.KIND]
    if kind == h.DENSE or kind == h.COMPRESSED:
        return tree.ratio_log(F, I, n, arm, x, available, log_g)
    if kind == h.INTERVALS:
        return intervals.ratio_log(F, I, key, arm, x, available, log_g)
    if kind == h.GRAPH:
        return graph.ratio_log(F, I, n, arm, x, available, log_g)
    if advice.is_advisor(kind):
        return advice.log_ratio(F, I, arm, x)
    return one_of.ratio_log(F, I, arm, x, available, log_g)


@inner
def _log_visit(F, I, key, n, reach):
    """Replace the weights of the n nodes just visited by ln(reach * stop); reach is ln too. Return ln of the rest."""
    kind = I[h.KIND]
    if kind == h.DENSE or kind == h.COMPRESSED:
        return tree.log_visit(F, I, key, n, reach) - maths.log(float(I[h.ARMS]))
    if kind == h.INTERVALS:
        intervals.log_visit(F, I, key, n, reach)
    elif kind == h.GRAPH:
        graph.log_visit(F, I, n, reach)
    elif advice.is_advisor(kind):
        F[I[h.WEIGHT]] = reach
    else:
        one_of.log_visit(F, I, reach)
    return -math.inf


@inner
def _log_probabilities(F, I, key, available, p):
    """Set p[m] to ln of the probability of arm m, up to a constant, or to -inf if it is not available; after `rounds.visit`.

    Overwrites the scratch.
    """
    for k in range(I[state_words.MEMBERS]):
        f, i, part = members.own(F, I, k, key)
        n = members.count(I, k)
        reach = 0.0
        if i[h.PARENT] >= 0:
            reach = F[members.offset(I, i, one_of_words.CHILD_REACH)]
        f[h.REST] = _log_visit(f, i, part, n, reach)
        for v in range(n):
            f[i[h.WEIGHT] + v] -= arms.log_total(f, i, i[i[h.BASES] + v])
    for m in range(len(p)):
        p[m] = _log_sum(F, I, m) if arms.is_available(available, m) else -math.inf


@inner
def _log_sum(F, I, m):
    """Return ln of the sum over all nodes of weight times share, for one arm: the largest term first, then the sum relative to it."""
    high = -math.inf
    for k in range(I[state_words.MEMBERS]):
        f, i = members.arrays(F, I, k)
        high = max(high, f[h.REST])
        for v in range(members.count(I, k)):
            high = max(high, f[i[h.WEIGHT] + v] + arms.log_weight(f, i, i[i[h.BASES] + v], m))
    if high == -math.inf:
        return high
    s = 0.0
    for k in range(I[state_words.MEMBERS]):
        f, i = members.arrays(F, I, k)
        s += maths.exp(f[h.REST] - high)
        for v in range(members.count(I, k)):
            s += maths.exp(f[i[h.WEIGHT] + v] + arms.log_weight(f, i, i[i[h.BASES] + v], m) - high)
    return high + maths.log(s)


@inner
def _normalise(p):
    """Turn logarithms, up to a constant, into probabilities."""
    high = -math.inf
    for m in range(len(p)):
        high = max(high, p[m])
    s = 0.0
    for m in range(len(p)):
        p[m] = maths.exp(p[m] - high)
        s += p[m]
    for m in range(len(p)):
        p[m] /= s


@inner
def _log_kept(p, arm, x):
    """Return ln of the share of their total that the available arms keep if `arm` is multiplied by exp(-x); p is ln, up to a constant."""
    high = -math.inf
    for m in range(len(p)):
        high = max(high, p[m])
    before, top = 0.0, -math.inf
    for m in range(len(p)):
        before += maths.exp(p[m] - high)
        top = max(top, p[m] - (x if m == arm else 0.0))
    after = 0.0
    for m in range(len(p)):
        after += maths.exp(p[m] - (x if m == arm else 0.0) - top)
    return (top - high) + maths.log(after) - maths.log(before)
