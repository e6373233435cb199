"""Whole rounds: what the policy calls. A state is two tuples of arrays, `Fs` and `Is`, one entry per member, parents first.

`offered` is empty where every arm is offered, else one byte per arm. `Ks` holds one row of key words per context and member.
"""

import math

from . import arms, graph, intervals, one_of, rows, small, tree, unseen
from .header import (
    ARMS,
    BASES,
    CHILD_RATIO,
    CHILD_REACH,
    COMPRESSED,
    DENSE,
    FANOUT,
    GRAPH,
    INTERVALS,
    KIND,
    OPTION,
    PARENT,
    PATH,
    REST,
    STEP,
    TOP,
    TOP_SIZE,
    WEIGHT,
)
from .jit import kernel

FEW = 16  # up to so many arms, or with some arms not offered, a decision computes every arm's probability; beyond, it walks
LEAST = math.exp(-STEP)  # the smallest ratio that the fast passes allow
UNSEEN = 1e-90  # below this total the probabilities of the offered arms are computed in logarithms
MOST = 1e15  # a step beyond this counts as this: its logarithm is no longer known to one part in ten


@kernel
def _is_tree(I):
    return I[KIND] == DENSE or I[KIND] == COMPRESSED


@kernel
def _visit(F, I, key, reach):
    kind = I[KIND]
    if _is_tree(I):
        return tree.visit(F, I, key, reach)
    if kind == INTERVALS:
        return intervals.visit(F, I, key, reach)
    if kind == GRAPH:
        return graph.visit(F, I, key, reach)
    return one_of.visit(F, I, reach)


@kernel
def visit(Fs, Is, Ks, t, counts):
    """Reach pass over all members."""
    for k in range(len(Fs)):
        parent = Is[k][PARENT]
        reach = 1.0
        if parent >= 0:
            reach = Fs[parent][Is[parent][CHILD_REACH] + Is[k][OPTION]]
        counts[k] = _visit(Fs[k], Is[k], Ks[k][t], reach)


@kernel
def _one(F, I, n, arm):
    """Probability of one arm within what was just visited. O(nodes)."""
    w, bases = I[WEIGHT], I[BASES]
    s = 0.0
    for i in range(n):
        s += F[w + i] * F[I[bases + i] + arm]
    share = 1.0 / I[ARMS]
    return s + F[REST] * share


@kernel
def propensity(Fs, Is, counts, arm):
    """Probability of one arm, every arm being offered."""
    s = 0.0
    for k in range(len(Fs)):
        s += _one(Fs[k], Is[k], counts[k], arm)
    return s


@kernel
def _add(F, I, n, p):
    """Add to p what a member just visited gives each arm: node by node, in the order of `_one`."""
    w, bases, M = I[WEIGHT], I[BASES], len(p)
    for i in range(n):
        v, b = F[w + i], I[bases + i]
        if v > 0.0:
            share = F[b : b + M]
            for m in range(M):
                p[m] += v * share[m]
    rest = F[REST] * (1.0 / M)
    for m in range(M):
        p[m] += rest


@kernel
def mix(Fs, Is, Ks, t, counts, offered, p):
    """Fill p with the probabilities of the offered arms, which add to 1; the others get 0. Return their share of all weight.

    O(nodes * arms).
    """
    for m in range(len(p)):
        p[m] = 0.0
    for k in range(len(Fs)):
        _add(Fs[k], Is[k], counts[k], p)
    total = 0.0
    masked = len(offered) > 0
    for m in range(len(p)):
        p[m] = 0.0 if masked and offered[m] == 0 else min(p[m], 1.0)
        total += p[m]
    if not masked:
        return 1.0
    if total < UNSEEN:
        unseen.log_probabilities(Fs, Is, Ks, t, counts, offered, p)
        unseen.normalise(p)
        return total
    for m in range(len(p)):
        p[m] /= total
    return total


@kernel
def walk(Fs, Is, counts, u):
    """Draw an arm: first a node, by its mass, then an arm of it. O(nodes + log M)."""
    left = u
    last_k, last_i = 0, -1
    for k in range(len(Fs)):
        F, I = Fs[k], Is[k]
        for i in range(counts[k]):
            v = F[I[WEIGHT] + i] * arms.total(F, I[I[BASES] + i], I[TOP], I[TOP_SIZE])
            if v > 0.0:
                if left < v:
                    return arms.pick(F, I, I[I[BASES] + i], left / v)
                last_k, last_i = k, i
                left -= v
        rest = F[REST]
        if rest > 0.0:
            M = I[ARMS]
            if left < rest:
                return min(int(left / rest * M), M - 1)
            last_k, last_i = k, -1
            left -= rest
    if last_i < 0:
        return Is[last_k][ARMS] - 1
    F, I = Fs[last_k], Is[last_k]
    return arms.pick(F, I, I[I[BASES] + last_i], 0.5)


@kernel
def draw(Fs, Is, Ks, t, counts, offered, p, u):
    """The arm that the number u in [0, 1) selects, and its probability, after `visit`. A pure function of state, key and u."""
    M = len(p)
    if M > FEW and len(offered) == 0:
        arm = walk(Fs, Is, counts, u)
        return arm, min(propensity(Fs, Is, counts, arm), 1.0)
    mix(Fs, Is, Ks, t, counts, offered, p)
    return pick(p, u)


@kernel
def pick(p, u):
    """The arm that u selects from a distribution, and its probability."""
    M = len(p)
    total = 0.0
    for m in range(M):
        total += p[m]
    arm = 0
    cumulative = 0.0
    for m in range(M - 1):
        cumulative += p[m]
        if cumulative <= u * total:
            arm = m + 1
    if p[arm] == 0.0:  # u so close to 1 that rounding went past the last arm that has any probability
        arm = 0
        for m in range(1, M):
            if p[m] > p[arm]:
                arm = m
    return arm, min(p[arm], 1.0)


@kernel
def decide(Fs, Is, Ks, counts, offered, p, u):
    """One decision. Changes nothing but scratch."""
    visit(Fs, Is, Ks, 0, counts)
    return draw(Fs, Is, Ks, 0, counts, offered, p, u)


@kernel
def probabilities(Fs, Is, Ks, counts, offered, p):
    """The distribution over arms into p. Changes nothing but scratch."""
    visit(Fs, Is, Ks, 0, counts)
    mix(Fs, Is, Ks, 0, counts, offered, p)


@kernel
def _others_remain(Fs, Is, counts, arm):
    """Would every node just visited keep a visible share of its weight without this arm? Then no step is too large for the fast pass."""
    for k in range(len(Fs)):
        F, I = Fs[k], Is[k]
        for i in range(counts[k]):
            b = I[I[BASES] + i]
            if arms.others(F, I, b, arm) < LEAST * arms.total(F, b, I[TOP], I[TOP_SIZE]):
                return False
    return True


@kernel
def sole(offered):
    n = 0
    for m in range(len(offered)):
        n += offered[m] != 0
    return n == 1


@kernel
def _log_g(Fs, Is, Ks, t, counts, offered, p, arm, x, here, beside, same):
    """ln of the factor g, which is what the offered arms keep of their total.

    This mixture weighs `here`; `beside` it stands one arm with its own weight, the played one if `same`.
    """
    total = 0.0
    for m in range(len(p)):
        p[m] = 0.0 if offered[m] == 0 else propensity(Fs, Is, counts, m)
        total += p[m]
    kept = 0.0
    for m in range(len(p)):
        kept += 0.0 if m == arm else p[m]
    f = math.exp(-x)
    if beside > 0.0:
        return math.log((here * (kept + p[arm] * f) + beside * (f if same else 1.0)) / (here * total + beside))
    if kept >= UNSEEN:
        return math.log((kept + p[arm] * f) / total)
    unseen.log_probabilities(Fs, Is, Ks, t, counts, offered, p)
    return unseen.log_kept(p, arm, x)


@kernel
def update(Fs, Is, Ks, t, counts, offered, p, arm, x, drift, visited):
    """Learn that `arm` had estimated loss x (rate * loss / propensity). False, and nothing changed, where a tree is short of rows.

    `visited` says that `visit` was the last thing done, for the same key. Sleeping experts: with some arms not offered, those
    are multiplied by g, so that the offered arms keep their total. Every node learned from then shares `drift` of its arms' weights.
    """
    return not math.isnan(update_beside(Fs, Is, Ks, t, counts, offered, p, arm, x, drift, visited, 1.0, 0.0, False))


@kernel
def _share(F, I, n, drift):
    """Fixed share in the n nodes just learned from."""
    for i in range(n):
        b = I[I[PATH] + i] + rows.ARMS_AT if _is_tree(I) else I[I[BASES] + i]
        arms.share(F, I, b, drift)


@kernel
def update_beside(Fs, Is, Ks, t, counts, offered, p, arm, x, drift, visited, here, beside, same):
    """`update` for a mixture that has only the weight `here`, `beside` an arm that has the rest (`_log_g`).

    Return by what the whole mixture's weight was multiplied; NaN where a tree is short of rows.
    """
    if x <= 0.0 or len(p) == 1:
        return 1.0
    x = min(x, MOST)
    for k in range(len(Fs)):
        if _is_tree(Is[k]) and tree.is_full(Is[k]):
            return math.nan
    if not visited or len(offered) > 0:
        visit(Fs, Is, Ks, t, counts)
    log_g = 0.0
    if len(offered) > 0:
        if sole(offered):
            return 1.0  # nothing else was offered: nothing to learn
        log_g = _log_g(Fs, Is, Ks, t, counts, offered, p, arm, x, here, beside, same)
    fast = (x <= STEP and log_g >= -STEP) or (len(offered) == 0 and _others_remain(Fs, Is, counts, arm))
    for k in range(len(Fs)):
        if _is_tree(Is[k]):
            counts[k] = tree.extend(Fs[k], Is[k], Ks[k][t], counts[k])
    f, g = math.exp(-x), math.exp(log_g)
    r = 1.0
    for k in range(len(Fs) - 1, -1, -1):
        F, I, n, key = Fs[k], Is[k], counts[k], Ks[k][t]
        kind = I[KIND]
        if _is_tree(I):
            r = tree.ratio(F, I, n, arm, x, f, offered, g) if fast else tree.ratio_log(F, I, n, arm, x, offered, log_g)
        elif kind == INTERVALS:
            if fast:
                r = intervals.ratio(F, I, key, arm, x, f, offered, g)
            else:
                r = intervals.ratio_log(F, I, key, arm, x, offered, log_g)
        elif kind == GRAPH:
            r = graph.ratio(F, I, n, arm, x, f, offered, g) if fast else graph.ratio_log(F, I, n, arm, x, offered, log_g)
        elif fast:
            r = one_of.ratio(F, I, arm, x, f, offered, g)
        else:
            r = one_of.ratio_log(F, I, arm, x, offered, log_g)
        parent = I[PARENT]
        if parent >= 0:
            Fs[parent][Is[parent][CHILD_RATIO] + I[OPTION]] = r
        if drift > 0.0:
            _share(F, I, n, drift)
    return r if fast else math.exp(r)


@kernel
def full(mask):
    for m in range(len(mask)):
        if mask[m] == 0:
            return False
    return True


@kernel
def simulate(Fs, Is, Ks, counts, masks, p, losses, us, rates, drift, played, chances, suffered, start):
    """Play rounds start, start+1, ... of a table; return the first round not played (a tree may be short of rows)."""
    none = masks[0][:0]
    masked = masks.shape[1] > 0
    I = Is[0]
    is_small = I[KIND] == DENSE and I[FANOUT] == 2 and I[ARMS] <= 4 and not masked
    t = start
    while t < len(us):
        if is_small:
            t = small.play(Fs[0], I, Ks[0], losses, us, rates, drift, played, chances, suffered, t)
            if t == len(us):
                break
        offered = masks[t] if masked and not full(masks[t]) else none
        visit(Fs, Is, Ks, t, counts)
        arm, chance = draw(Fs, Is, Ks, t, counts, offered, p, us[t])
        loss = losses[t, arm]
        if not update(Fs, Is, Ks, t, counts, offered, p, arm, rates[t] * loss / chance, drift, True):
            return t
        played[t] = arm
        chances[t] = chance
        suffered[t] = loss
        t += 1
    return t


@kernel
def add_all(sums, rates, losses, chances, falling):
    """Add rounds, one after the other, to what a certificate needs: rate loss^2 / (2 chance); for a falling rate also that times the
    rate, and the rates themselves."""
    for t in range(len(rates)):
        x = rates[t] * losses[t] / chances[t]
        if losses[t] > 0.0:
            sums[2] += x * losses[t] / 2.0
        if falling:
            sums[0] += rates[t]
            sums[1] += rates[t] * x * losses[t] / 2.0
