"""Beta variables: draws from one number u, and the probability that each of several is the least.

A loss with counts `good` and `bad` has the density Beta(bad, good). Everything is computed in the log-odds y = ln(loss / (1 - loss)). There the
density is smooth and log-concave whatever the counts, and losses close to 0 or to 1 keep their order.

Draws: splitmix64 seeded with u, Doornik's ziggurat for normals (2005), Marsaglia and Tsang for gammas (2000).
"""

import math

import numpy as np

from ... import reproducible_math
from . import maths
from .jit import kernel
from .splitmix import STEP, inside, mixed

_127 = np.uint64(127)
_LAYERS, _RIM, _AREA = 128, 3.442619855899, 9.91256303526217e-3  # of the ziggurat: Marsaglia and Tsang's constants


def _ziggurat():
    """Return the right ends of the layers, and the share of each layer that lies wholly under the curve."""
    ends = np.zeros(_LAYERS + 1)
    f = reproducible_math.exp(-0.5 * _RIM * _RIM)
    ends[0], ends[1] = _AREA / f, _RIM
    for i in range(2, _LAYERS):
        ends[i] = math.sqrt(-2.0 * reproducible_math.log(_AREA / ends[i - 1] + f))
        f = reproducible_math.exp(-0.5 * ends[i] * ends[i])
    return ends, ends[1:] / ends[:-1]


_ENDS, _SHARES = _ziggurat()


@kernel("u")
def uniform(state):
    """Return a number inside (0, 1), and the next state."""
    state += STEP
    return inside(mixed(state)), state


@kernel("u")
def normal(state):
    """Return a standard normal number, and the next state."""
    while True:
        state += STEP
        bits = mixed(state)
        layer = np.int64(bits & _127)  # the low bits choose the layer, the high ones make the number
        v = 2.0 * inside(bits) - 1.0
        if abs(v) < _SHARES[layer]:
            return v * _ENDS[layer], state
        if layer == 0:  # the tail
            while True:
                u1, state = uniform(state)
                u2, state = uniform(state)
                x = -maths.log(u1) / _RIM
                if -2.0 * maths.log(u2) >= x * x:
                    return math.copysign(_RIM + x, v), state
        x = v * _ENDS[layer]
        low = maths.exp(-0.5 * (_ENDS[layer] * _ENDS[layer] - x * x))
        high = maths.exp(-0.5 * (_ENDS[layer + 1] * _ENDS[layer + 1] - x * x))
        u1, state = uniform(state)
        if high + u1 * (low - high) < 1.0:
            return x, state


@kernel("d u")
def gamma(shape, state):
    """Return a gamma number of shape at least 1, and the next state."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x, state = normal(state)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u, state = uniform(state)
            square = x * x
            if u < 1.0 - 0.0331 * square * square or maths.log(u) < 0.5 * square + d * (1.0 - v + maths.log(v)):
                return d * v, state


@kernel("d d u")
def draw(good, bad, state):
    """Return the log-odds of a loss that is Beta(bad, good), and the next state. A gamma of shape s < 1 is one of s + 1 times U^(1/s)."""
    more = 0.0
    if bad < 1.0:
        u, state = uniform(state)
        more += maths.log(u) / bad
        bad += 1.0
    if good < 1.0:
        u, state = uniform(state)
        more -= maths.log(u) / good
        good += 1.0
    x, state = gamma(bad, state)
    y, state = gamma(good, state)
    return maths.log(x / y) + more, state


# -- the probability of being the least: integral of f_m times the others' survival, over panels of Gauss-Legendre nodes ----

NODES = 12
GOOD, BAD, SUM, SIDE, SHARE, MODE, HEIGHT, FIRST, BELOW, BEFORE = range(10)  # columns of an arm's scratch
DENSITY = 10  # NODES columns
SURVIVAL = DENSITY + NODES  # NODES columns
COLUMNS = SURVIVAL + NODES
MANY = 1e6  # up to this count the logarithm may be rounded before it is multiplied by the count; twice as fast
_TAIL = reproducible_math.log(1e-12)  # the mass beyond an arm's range
_STEPS = 1000  # enough to find an end, whatever the counts
MOST_PANELS = 2000
_BEND, _SLOPE = 3.0, 9.0  # the widest panel, in units of the density's curvature and of its slope: error 1e-11 with 12 nodes


def _legendre(x):
    """Return the Legendre polynomial of degree NODES at x, and its derivative."""
    before, p = 1.0, x
    for n in range(2, NODES + 1):
        before, p = p, ((2 * n - 1) * x * p - (n - 1) * before) / n
    return p, NODES * (x * p - before) / (x * x - 1.0)


def _lagrange(nodes, j, x):
    """Return the value at x of the polynomial that is 1 at node j and 0 at the others."""
    product = 1.0
    for i in range(NODES):
        if i != j:
            product *= (x - nodes[i]) / (nodes[j] - nodes[i])
    return product


def _panel():
    """Return nodes in [-1, 1], their weights, and the integrals from -1 to each node of the polynomials that are 1 at one node."""
    nodes, weights = np.empty(NODES), np.empty(NODES)
    for i in range(NODES // 2):
        x = reproducible_math.cos_turns((i + 0.75) / (2.0 * NODES + 1.0))
        for _ in range(10):  # Newton's steps
            value, slope = _legendre(x)
            x -= value / slope
        slope = _legendre(x)[1]
        nodes[i], nodes[-1 - i] = -x, x
        weights[i] = weights[-1 - i] = 2.0 / ((1.0 - x * x) * slope * slope)
    up_to = np.zeros((NODES, NODES))
    for k in range(NODES):
        half = 0.5 * (nodes[k] + 1.0)
        for j in range(NODES):
            for i in range(NODES):  # the rule itself is exact for polynomials
                up_to[k, j] += weights[i] * half * _lagrange(nodes, j, half * (nodes[i] + 1.0) - 1.0)
    return nodes, weights, up_to


_AT, _WEIGHT, _UP_TO = _panel()


@kernel
def _log_density(w, z):
    """Return ln of the density at distance z from the mode, computed from the smaller count so that no large numbers cancel."""
    z *= w[SIDE]
    share = w[SHARE]
    if z > 30.0:
        rest = maths.log(share) + maths.log1p((1.0 - share) / share * maths.exp(-z))
        return w[HEIGHT] - (1.0 - share) * w[SUM] * z - w[SUM] * rest
    if w[SUM] < MANY:
        return w[HEIGHT] + share * w[SUM] * z - w[SUM] * maths.log(1.0 - share + share * maths.exp(z))
    return w[HEIGHT] + share * w[SUM] * z - w[SUM] * maths.log1p(share * maths.expm1(z))


@kernel
def _slope(w, y):
    """Return the derivative of the log-density."""
    e = maths.exp(-abs(y))
    small, large = e / (1.0 + e), 1.0 / (1.0 + e)
    return w[BAD] * large - w[GOOD] * small if y < 0.0 else w[BAD] * small - w[GOOD] * large


@kernel
def _log_tail(w, z):
    """Return an upper bound of ln of the mass beyond z from the mode: by log-concavity it is at most density / slope."""
    return _log_density(w, z) - maths.log(abs(_slope(w, w[MODE] + z)))


@kernel
def _end(w, z):
    """Return a distance from the mode, in the direction of z, just far enough that the tail is negligible: the density may be steep there."""
    near = 0.0
    for _ in range(_STEPS):
        if not _log_tail(w, z) > _TAIL:
            break
        near = z
        z *= 1.2
    for _ in range(_STEPS):
        if not _log_tail(w, z) < 2.0 * _TAIL:
            break
        middle = 0.5 * (near + z)
        if _log_tail(w, middle) > _TAIL:
            near = middle
        else:
            z = middle
    return z


@kernel
def _prepare(w, good, bad):
    n = good + bad
    w[GOOD], w[BAD], w[SUM], w[MODE], w[BELOW] = good, bad, n, maths.log(bad / good), 0.0
    w[SIDE], w[SHARE] = (1.0, bad / n) if bad <= good else (-1.0, good / n)
    w[HEIGHT] = (
        0.5 * maths.log(good / n * bad) - 0.9189385332046727 + maths.stirling(n) - maths.stirling(good) - maths.stirling(bad)
    )
    spread = 5.0 * math.sqrt(1.0 / good + 1.0 / bad)
    w[FIRST] = w[MODE] + _end(w, -spread)
    return w[MODE] + _end(w, spread)


@kernel
def _width(w, y, width):
    """Return the width of the widest panel from y, at most `width`, over which a polynomial approximates the density."""
    for _ in range(2):
        right = y + width
        e = maths.exp(-(0.0 if y < 0.0 < right else min(abs(y), abs(right))))
        width = min(width, _BEND * (1.0 + e) / math.sqrt(w[SUM] * e))
    slope = min(abs(_slope(w, y)), abs(_slope(w, y + width)))
    return width if slope * width <= _SLOPE else _SLOPE / slope


@kernel("D1 C1 d d d D1 D2")
def add_least(counts, available, good, bad, weight, p, work):
    """Add to p[m] `weight` times the probability that arm m has the least loss of the available arms, accurate to 1e-9 of the weight.

    counts[2m] and counts[2m + 1] are added to the prior (good, bad); work has shape (arms, COLUMNS). O(M) for each of about 10 to 50 panels.
    """
    M = len(p)
    masked = len(available) > 0
    last = math.inf
    y = math.inf
    for m in range(M):
        if not masked or available[m]:
            last = min(last, _prepare(work[m], good + counts[2 * m], bad + counts[2 * m + 1]))
            y = min(y, work[m, FIRST])
    panels, least = 0, 0.0
    while y < last:
        width = min(2.0 + 0.3 * abs(y), last - y)  # ln(1 + e^y) has a pole at i pi
        for m in range(M):
            if (not masked or available[m]) and work[m, FIRST] < y + width:
                width = max(_width(work[m], y, width), min(work[m, FIRST] - y, width))
        panels += 1
        if panels == MOST_PANELS:  # never seen: 10 to 50 panels suffice for all counts; the limit bounds the time
            least = 0.01 * (last - y)
        width = max(width, least)
        _add_panel(available, y, 0.5 * width, weight, p, work)
        y = last if last - y <= width else y + width


@kernel
def _densities(w, y, half):
    """Compute the densities at the nodes of a panel, times half its width; mostly without a branch, so that the loop becomes vectors."""
    share, n, height, mode, side = w[SHARE], w[SUM], w[HEIGHT], w[MODE], w[SIDE]
    if half == 0.0:
        for k in range(NODES):
            w[DENSITY + k] = 0.0
    elif n < MANY and max(side * (y - mode), side * (y + 2.0 * half - mode)) < 30.0:
        for k in range(NODES):
            z = side * (y + half * (1.0 + _AT[k]) - mode)
            log = height + share * n * z - n * maths.log_inside(1.0 - share + share * maths.exp_inside(z))
            w[DENSITY + k] = maths.exp_inside(log) * half
    else:
        for k in range(NODES):
            w[DENSITY + k] = maths.exp(_log_density(w, y + half * (1.0 + _AT[k]) - mode)) * half


@kernel
def _add_panel(available, y, half, weight, p, work):
    M = len(p)
    masked = len(available) > 0
    for m in range(M):
        if masked and not available[m]:
            continue
        w = work[m]
        here = w[FIRST] < y + 2.0 * half
        _densities(w, y, half if here else 0.0)
        for k in range(NODES):
            s = w[BELOW]
            if here:
                for i in range(NODES):
                    s += _UP_TO[k, i] * w[DENSITY + i]
            w[SURVIVAL + k] = max(1.0 - s, 0.0)
        if here:
            for i in range(NODES):
                w[BELOW] += _WEIGHT[i] * w[DENSITY + i]
    for k in range(NODES):
        product = weight * _WEIGHT[k]
        for m in range(M):
            if not masked or available[m]:
                work[m, BEFORE] = product
                product *= work[m, SURVIVAL + k]
        product = 1.0
        for m in range(M - 1, -1, -1):
            if not masked or available[m]:
                p[m] += work[m, BEFORE] * product * work[m, DENSITY + k]
                product *= work[m, SURVIVAL + k]
