"""Whole rounds: reach down, an arm, ratio up. `engine/state/state.py` calls them.

A state is two arrays with the layout of `header.py`. `key` is one row of words, a part for each member. `available` has one
byte per arm, and is empty if every arm is available.
"""

import math
from typing import NamedTuple

import numpy as np

from ... import reproducible_math
from . import advice, advisor, arms, ensemble, hard, maths, members
from . import header as h
from . import kinds as of
from .jit import inner, kernel
from .words import one_of as one_of_words
from .words import state as state_words
from .words import tree as tree_words

LEAST = reproducible_math.exp(-h.STEP)  # the least ratio that the fast passes allow
NOW = -1.0  # `advice_share` of a round that is learned at once
NONE = -1  # `decided` of such a round
MOST_LATE = 1e17  # rounds
MOST_GAIN = 1e280
MOST = 1e15  # larger steps count as this: their logarithm is not known to one part in ten


@inner
def visit(F, I, key, available):
    """Run the reach pass over all members."""
    for k in range(I[state_words.MEMBERS]):
        f, i, part = members.own(F, I, k, key)
        reach = 1.0
        if i[h.PARENT] >= 0:
            reach = F[members.offset(I, i, one_of_words.CHILD_REACH)]
        I[state_words.DIRECTORY + k * state_words.ENTRY + state_words.COUNT] = of.visit(f, i, part, available, reach)


@inner
def propensity(F, I, arm):
    """Return the probability of one arm under the nodes just visited, with every arm available. O(nodes)."""
    p = 0.0
    for k in range(I[state_words.MEMBERS]):
        f, i = members.arrays(F, I, k)
        w, bases = i[h.WEIGHT], i[h.BASES]
        s = 0.0
        for v in range(members.count(I, k)):
            s += f[w + v] * f[i[bases + v] + arm]
        share = 1.0 / i[h.ARMS]
        p += s + f[h.REST] * share
    return p


@inner
def add_all(F, I, p):
    """Add to p each arm's probability under the nodes just visited: node by node, in the order of `propensity`."""
    M = len(p)
    if M <= h.SMALL:
        _add_few(F, I, p)
        return
    for k in range(I[state_words.MEMBERS]):
        f, i = members.arrays(F, I, k)
        w, bases = i[h.WEIGHT], i[h.BASES]
        for v in range(members.count(I, k)):
            weight, b = f[w + v], i[bases + v]
            if weight > 0.0:
                share = f[b : b + M]
                for m in range(M):
                    p[m] += weight * share[m]
        rest = f[h.REST] * (1.0 / M)
        for m in range(M):
            p[m] += rest


@inner
def _add_few(F, I, p):
    """Do `add_all` for up to four arms, with sums in registers: with fewer arms the last one is read again, and its copies are not used."""
    M = len(p)
    one, two, three = min(1, M - 1), min(2, M - 1), min(3, M - 1)
    p0, p1, p2, p3 = p[0], p[one], p[two], p[three]
    for k in range(I[state_words.MEMBERS]):
        f, i = members.arrays(F, I, k)
        w, bases = i[h.WEIGHT], i[h.BASES]
        for v in range(members.count(I, k)):
            weight, b = f[w + v], i[bases + v]
            if weight > 0.0:
                p0 += weight * f[b]
                p1 += weight * f[b + one]
                p2 += weight * f[b + two]
                p3 += weight * f[b + three]
        rest = f[h.REST] * (1.0 / M)
        p0, p1, p2, p3 = p0 + rest, p1 + rest, p2 + rest, p3 + rest
    p[three], p[two], p[one], p[0] = p3, p2, p1, p0


@inner
def mix(F, I, key, available, p):
    """Fill p with the probabilities of the available arms, which add to 1; the others get 0. Return their share of all weight.

    O(nodes * arms). The result is not >= 0 if the probabilities are not numbers.
    """
    for m in range(len(p)):
        p[m] = 0.0
    add_all(F, I, p)
    total = 0.0
    for m in range(len(p)):
        p[m] = min(p[m], 1.0) if arms.is_available(available, m) else 0.0
        total += p[m]
    if not arms.is_masked(available):
        return 1.0 if total > 0.0 else -1.0
    if total < hard.UNSEEN:
        hard.mix(F, I, key, available, p)
        return total
    for m in range(len(p)):
        p[m] /= total
    return total


@inner
def _walk(F, I, u):
    """Draw a node by its mass, then an arm of it; return the arm and its probability. O(nodes + log M)."""
    arm = _walked(F, I, u)
    return arm, min(propensity(F, I, arm), 1.0)


@inner
def _walked(F, I, u):
    left = u
    last_k, last = 0, -1
    for k in range(I[state_words.MEMBERS]):
        f, i = members.arrays(F, I, k)
        for n in range(members.count(I, k)):
            v = f[i[h.WEIGHT] + n] * arms.total(f, i[i[h.BASES] + n], i[h.TOP], i[h.TOP_SIZE])
            if v > 0.0:
                if left < v:
                    return arms.pick(f, i, i[i[h.BASES] + n], left / v)
                last_k, last = k, n
                left -= v
        rest = f[h.REST]
        if rest > 0.0:
            M = i[h.ARMS]
            if left < rest:
                return min(int(left / rest * M), M - 1)
            last_k, last = k, -1
            left -= rest
    if last < 0:
        return I[state_words.ALL_ARMS] - 1
    f, i = members.arrays(F, I, last_k)
    return arms.pick(f, i, i[i[h.BASES] + last], 0.5)


@inner
def draw(F, I, key, available, u):
    """Return the arm that the number u in [0, 1) selects, and its probability, after `visit`; -1 if there are no probabilities.

    A pure function of state, key and u.
    """
    M = I[state_words.ALL_ARMS]
    if M > h.FEW and not arms.is_masked(available):
        arm, probability = _walk(F, I, u)
        if probability > 0.0:  # always, unless rounding went past the end
            return arm, probability
    p = F[I[state_words.P] : I[state_words.P] + M]
    if not mix(F, I, key, available, p) >= 0.0:
        return -1, 0.0
    arm, probability = pick(p, u)
    return (arm, probability) if probability > 0.0 else (-1, 0.0)  # an arm of probability 0 may be unavailable


@inner
def pick(p, u):
    """Return the arm that u selects from a distribution, and its probability."""
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


@kernel("D1 L1 L1 C1 d")
def decide(F, I, key, available, u):
    """Decide one round. Changes nothing but scratch."""
    visit(F, I, key, available)
    return draw(F, I, key, available, u)


@kernel("D1 L1 L1 C1 D1")
def fill(F, I, key, available, p):
    """Fill p with the distribution over arms; return False if its probabilities are not numbers. Changes nothing but scratch."""
    visit(F, I, key, available)
    return mix(F, I, key, available, p) >= 0.0


@inner
def _is_short(I):
    """Return whether a tree lacks room for the rows that one more key may need."""
    for k in range(I[state_words.MEMBERS]):
        i = I[state_words.DIRECTORY + k * state_words.ENTRY + state_words.I0]
        if I[i + h.KIND] == h.COMPRESSED and I[i + tree_words.ROWS] + 2 > I[i + tree_words.CAPACITY]:
            return True
    return False


@inner
def _others_remain(F, I, arm):
    """Return whether every node just visited would keep a visible share of its weight without this arm: then the fast pass takes any step."""
    for k in range(I[state_words.MEMBERS]):
        f, i = members.arrays(F, I, k)
        if advice.is_advisor(i[h.KIND]):
            continue
        for n in range(members.count(I, k)):
            b = i[i[h.BASES] + n]
            if arms.others(f, i, b, arm) < LEAST * arms.total(f, b, i[h.TOP], i[h.TOP_SIZE]):
                return False
    return True


@inner
def _log_g(F, I, key, available, arm, x):
    """Return ln of the factor g, by which the available arms' total changes, in a round with some arms not available."""
    p = F[I[state_words.P] : I[state_words.P] + I[state_words.ALL_ARMS]]
    total = 0.0
    for m in range(len(p)):
        p[m] = 0.0 if available[m] == 0 else propensity(F, I, m)
        total += p[m]
    kept = 0.0
    for m in range(len(p)):
        kept += 0.0 if m == arm else p[m]
    if kept >= hard.UNSEEN:
        return maths.log((kept + p[arm] * maths.exp(-x)) / total)
    return hard.log_g(F, I, key, available, p, arm, x)


@inner
def is_sole(available):
    """Return whether only one arm is available."""
    n = 0
    for m in range(len(available)):
        n += available[m] != 0
    return n == 1


@kernel("D1 L1 L1 C1 l d d b l d b b")
def update(F, I, key, available, arm, loss, probability, visited, decided, advice_share, recalled, plain):
    """Learn that `arm`, played with probability `probability`, had this loss. Return a status; only with DONE and DUE did anything change.

    The round learns loss - SHIFT, which may be negative; then probability >= RATE * SHIFT, so that no weight grows by more than e. With
    `plain` it learns the loss itself. `decided` is the number of rounds learned when the arm was decided, -1 for now. If rounds were learned
    since, the rate falls faster and `advice_share` counts; it also counts with `recalled`.

    `visited` means that `visit` was the last call, for the same key. Sleeping experts: if some arms are not available, those are multiplied by
    g, so that the available arms keep their total. Every node updated then shares `DRIFT` of its weights. `advice_share`, if not below 0, is
    the share of the advice that was on the arm when it was decided; the advisor's current advice is then ignored.
    """
    shift = 0.0 if plain else F[state_words.SHIFT]
    late = 0.0
    if F[state_words.SEEN] > decided >= 0:
        late = 2.0 * (F[state_words.SEEN] - decided) / I[state_words.ALL_ARMS]
    elif not recalled:
        advice_share = NOW
    visited = visited and advice_share < 0.0  # else the visited advice is ignored
    x = min(F[state_words.RATE] * (loss - shift) / (probability + F[state_words.GAMMA]), MOST)
    drift = F[state_words.DRIFT], F[state_words.HEAD_DRIFT]
    log_z = 0.0
    masked = arms.is_masked(available)
    weighs = x != 0.0 and I[state_words.ALL_ARMS] > 1 and not (masked and is_sole(available))  # else there is nothing to weigh
    if weighs:
        if _is_short(I):
            return h.SHORT
        if not visited or masked:
            visit(F, I, key, available)
            visited = True
            _recall(F, I, available, arm, advice_share)
    if not _prepare(F, I, key, arm, visited):
        return h.BROKEN
    if weighs:
        log_g = _log_g(F, I, key, available, arm, x) if masked else 0.0
        if log_g == math.inf:
            return h.BROKEN
        if (x <= h.STEP and log_g >= -h.STEP) or (not masked and _others_remain(F, I, arm)):
            step = arm, x, maths.exp(-x), maths.exp(log_g)
            r = 1.0
            for k in range(I[state_words.MEMBERS] - 1, -1, -1):
                f, i, part = members.own(F, I, k, key)
                n = of.extend(f, i, part, members.count(I, k))
                r = of.ratio(f, i, part, n, step, available)
                if i[h.PARENT] >= 0:
                    F[members.offset(I, i, one_of_words.CHILD_RATIO)] = r
                of.share(f, i, n, drift)
            log_z = log_g if masked else maths.log(r)
        else:
            log_z = hard.weigh(F, I, key, available, (arm, x, log_g), drift)
            log_z = log_g if masked else log_z
        count(F, loss, shift, log_z, masked)
    else:
        F[state_words.LOST] += loss
        F[state_words.EXCESS] += loss - shift if x == 0.0 else 0.0  # every awake mapping plays a sole arm
        F[state_words.MASKED] += 1.0 if masked and loss > 0.0 else 0.0
    _teach(F, I, key, arm, loss)
    F[state_words.SEEN] += 1.0
    F[state_words.LATE] = min(F[state_words.LATE] + late, MOST_LATE)
    return settle(F, I, weighs)


class Update(NamedTuple):
    """The arguments of `update` after `available`."""

    arm: int
    loss: float
    probability: float
    visited: bool
    decided: int
    advice_share: float
    recalled: bool
    plain: bool


@kernel("D1 L1 L1 C1 Update(l d d b l d b b) L1 D1")
def update_also(F, I, key, available, own, others, other_losses):
    """Do `update`, and then let the advisors learn the losses of other arms, which only they use."""
    arm, loss, probability, visited, decided, advice_share, recalled, plain = own
    status = update(F, I, key, available, arm, loss, probability, visited, decided, advice_share, recalled, plain)
    if status <= h.DUE:
        for n in range(len(others)):
            if _prepare(F, I, key, others[n], False):
                _teach(F, I, key, others[n], other_losses[n])
    return status


@inner
def settle(F, I, grew):
    """Return whether anything is due after rounds were learned, as a status. `grew`: trees may have new rows."""
    if F[state_words.SEEN] + F[state_words.LATE] >= F[state_words.UNTIL] > 0.0:
        F[state_words.DUE] = 1.0
    if F[state_words.EXCESS] - F[state_words.SHARED] > F[state_words.EXCESS_LIMIT] > 0.0:
        F[state_words.DUE] = 1.0
    if grew and is_full(I):
        F[state_words.DUE] = 1.0
    return h.DUE if F[state_words.DUE] > 0.0 else h.DONE


@inner
def is_full(I):
    """Return whether a tree with a limit on its rows has no room below it for one more key."""
    for k in range(I[state_words.MEMBERS]):
        i = I[state_words.DIRECTORY + k * state_words.ENTRY + state_words.I0]
        if I[i + h.KIND] == h.COMPRESSED and I[i + tree_words.ROWS] + 2 > I[i + tree_words.MOST_ROWS] > 0:
            return True
    return False


@inner
def _recall(F, I, available, arm, advice_share):
    """Restore the advice that a late round was decided with."""
    if advice_share >= 0.0:
        for k in range(I[state_words.MEMBERS]):
            f, i = members.arrays(F, I, k)
            if advice.is_advisor(i[h.KIND]):
                advice.recall(f, i, available, arm, advice_share)


@inner
def count(F, loss, shift, log_z, masked):
    """Add a round with a loss to the sums of the certificate; with some arms not available, mappings may have slept through it.

    The amount that one round takes off the bound is cut at MOST_GAIN, so that the sum stays finite: larger than necessary, and still a bound.
    """
    gain = max(loss - shift + log_z / F[state_words.RATE], -MOST_GAIN)
    F[state_words.LOST] += loss
    F[state_words.EXCESS] += (max(gain, 0.0) if masked else gain) + F[state_words.PRICE]
    F[state_words.SHARED] += F[state_words.PRICE]
    if masked:
        F[state_words.MASKED] += 1.0


@inner
def _prepare(F, I, key, arm, visited):
    """Return whether ensembles predict a number for the arm, before anything is learned.

    If not, the state is broken and must stay as it is.
    """
    for k in range(I[state_words.MEMBERS]):
        if members.kind(I, k) == h.ENSEMBLE:
            f, i, part = members.own(F, I, k, key)
            if not ensemble.prepare(f, i, part.view(np.float64), arm, visited):
                return False
    return True


@inner
def _teach(F, I, key, arm, loss):
    """Let advisors learn the round, whether or not it had a loss."""
    for k in range(I[state_words.MEMBERS]):
        kind = members.kind(I, k)
        if kind == h.ADVISOR:
            f, i, part = members.own(F, I, k, key)
            advisor.learn(f, i, part[0], arm, loss)
        elif kind == h.ENSEMBLE:
            f, i, part = members.own(F, I, k, key)
            ensemble.learn(f, i, part.view(np.float64), arm, loss)
