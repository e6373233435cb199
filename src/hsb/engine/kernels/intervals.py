"""One round on the interval structures: every interval of the N leaves is a node.

An interval of length L splits into K consecutive parts in every way, or, if 1 < L < K, into its single leaves. An option per way would take
O(N^K) memory. So these structures store the paper's w itself, divided by the product of the leaves' weights:

    F_1 = w,   F_k(i,j) = sum over c of F_{k-1}(i,c) w(c+1,j),   w(i,j) = [sigma(i,j) + F_K(i,j)] / (groups + 1)

with sigma the arm mass (1/M) sum alpha on the same scale (UNIT per leaf, to centre the range). The state stores sigma's rate, sigma over the
total of the interval's arms, as a number and a count, so nothing is lost (SIGMA, SIGMA_E). w is recomputed over the intervals that
contain the leaf: O(K N^3) in the worst case, but as dot products over contiguous rows, since each table is stored with its transpose.

The reach pass is the derivative of w(root), pass by pass in reverse. Only intervals that contain the leaf change.
"""

import math

import numpy as np

from ... import reproducible_math
from . import arms, maths
from . import header as h
from .jit import inner, kernel
from .words import intervals as interval_words

U0, U1, U2, U3, U4 = (np.uint64(i) for i in range(5))

SIGMA_TINY = 2.0**-728
SIGMA_BASE = 2.0**728
LOG_SIGMA_BASE = reproducible_math.log(SIGMA_BASE)


@inner
def _dot(F, a, b, n):
    """Return the sum of n products from offsets a and b, as four running sums so that additions overlap. Unsigned offsets: see `small.py`."""
    x, y, left = np.uint64(a), np.uint64(b), np.uint64(n)
    s0 = s1 = s2 = s3 = 0.0
    while left >= U4:
        s0 += F[x] * F[y]
        s1 += F[x + U1] * F[y + U1]
        s2 += F[x + U2] * F[y + U2]
        s3 += F[x + U3] * F[y + U3]
        x += U4
        y += U4
        left -= U4
    while left > U0:
        s0 += F[x] * F[y]
        x += U1
        y += U1
        left -= U1
    return (s0 + s1) + (s2 + s3)


@inner
def _block(I, i, j):
    return I[interval_words.ARM0] + (i * I[interval_words.LEAVES] + j) * (I[h.WIDTH] + I[h.ARMS])


@inner
def visit(F, I, key, reach):
    """Run the reach pass: the derivative of w(root) with respect to each sigma, times its rate. At most O(K N^3)."""
    leaf = key[0]
    N = I[interval_words.LEAVES]
    F[h.REST] = 0.0
    if I[interval_words.GROUPS] == 2:
        _derivatives_of_pairs(F, I, leaf, reach)
    else:
        _derivatives(F, I, leaf, reach)
    weight, visits, bases, q = (
        I[h.WEIGHT],
        I[h.VISITS],
        I[h.BASES],
        I[interval_words.ADJOINT] + 2 * N * N * (I[interval_words.GROUPS] - 1),
    )
    sigma, sigma_e, arm0, size = (
        I[interval_words.SIGMA],
        I[interval_words.SIGMA_E],
        I[interval_words.ARM0],
        I[h.WIDTH] + I[h.ARMS],
    )
    n = 0
    for i in range(leaf + 1):
        for j in range(N - 1, leaf - 1, -1):
            index = i * N + j
            F[weight + n] = F[q + index] * F[sigma + index] if F[sigma_e + index] == 0.0 else 0.0
            F[weight + visits + n] = F[q + index]
            I[bases + n] = arm0 + index * size
            n += 1
    return n


@inner
def _derivatives_of_pairs(F, I, leaf, reach):
    """Compute q(i, j) for two parts, as sums of whole rows. q stands behind the other derivatives."""
    N = I[interval_words.LEAVES]
    w, wt, q, counts = (
        I[interval_words.TABLE],
        I[interval_words.TABLE] + N * N,
        I[interval_words.ADJOINT] + 2 * N * N,
        I[interval_words.COUNTS],
    )
    for i in range(leaf + 1):
        row = q + i * N
        for j in range(leaf, N):
            F[row + j] = 0.0
        if i == 0:
            F[row + N - 1] = reach / F[w + N - 1]
        for a in range(i):  # as the last part of w(a, j): after w(a, i-1)
            _add_row(F, row + leaf, q + a * N + leaf, F[w + a * N + i - 1], N - leaf)
        for j in range(N - 1, leaf - 1, -1):
            v = F[row + j] * F[counts + j - i + 1]
            F[row + j] = v
            # As the first part of w(i, j): (i, h) with h < j, before w(h+1, j).
            _add_row(F, row + leaf, wt + j * N + leaf + 1, v, j - leaf)


@inner
def _derivatives(F, I, leaf, reach):
    """Compute the derivatives with respect to F_2, F_3, ..., F_K and their transposes, then q, for any number of parts."""
    N, K = I[interval_words.LEAVES], I[interval_words.GROUPS]
    NN = N * N
    w, wt = I[interval_words.TABLE], I[interval_words.TABLE] + NN
    d, dt, counts = I[interval_words.ADJOINT], I[interval_words.ADJOINT] + NN, I[interval_words.COUNTS]
    last = d + 2 * NN * (K - 2)
    short = 0.0  # the mass that reaches the leaf from intervals too short to split into K parts
    for i in range(leaf + 1):
        for j in range(N - 1, leaf - 1, -1):
            L = j - i + 1
            if L == N:
                q = reach / F[w + j]
            else:
                q = short if L == 1 else 0.0
                # As the last part of F_k(h, j) = F_{k-1}(h, i-1) w(i, j), and as the first of F_2(i, h) = w(i, j) w(j+1, h).
                for k in range(2, K + 1):
                    q += _dot(F, dt + 2 * NN * (k - 2) + j * N, wt + 2 * NN * (k - 2) + (i - 1) * N, i)
                q += _dot(F, d + i * N + j + 1, w + (j + 1) * N + j + 1, N - 1 - j)
            q *= F[counts + L]
            F[last + i * N + j] = F[last + NN + j * N + i] = q if L >= K else 0.0
            for k in range(K - 1, 1, -1):  # F_{k+1}(i, h) = F_k(i, j) w(j+1, h)
                offset = d + 2 * NN * (k - 2)
                v = _dot(F, offset + 2 * NN + i * N + j + 1, w + (j + 1) * N + j + 1, N - 1 - j)
                F[offset + i * N + j] = F[offset + NN + j * N + i] = v
            if 1 < L < K:
                short += q * maths.whole_power(F[I[interval_words.UNIT]], L - 1)
            F[last + 2 * NN + i * N + j] = q


@inner
def log_visit(F, I, key, n, reach):
    """Replace the weights of the n nodes just visited by ln(reach * stop); reach is ln too."""
    leaf = key[0]
    N = I[interval_words.LEAVES]
    visit(F, I, key, 1.0)
    for v in range(n):
        i, j = v // (N - leaf), N - 1 - v % (N - leaf)
        q = F[I[h.WEIGHT] + I[h.VISITS] + v]
        log = _log_rate(F, I, i * N + j) + arms.log_total(F, I, _block(I, i, j))
        F[I[h.WEIGHT] + v] = reach + log + (maths.log(q) if q > 0.0 else -math.inf)


@inner
def _log_rate(F, I, index):
    return maths.log(F[I[interval_words.SIGMA] + index]) - F[I[interval_words.SIGMA_E] + index] * LOG_SIGMA_BASE


@inner
def _recompute(F, I, i, j, sigma):
    """Compute F_2 .. F_{K-1} and w of interval (i, j) from its sigma and its parts."""
    N, K = I[interval_words.LEAVES], I[interval_words.GROUPS]
    NN = N * N
    w = I[interval_words.TABLE]
    L = j - i + 1
    v = _dot(F, w + i * N + i, w + NN + j * N + i + 1, L - 1)
    for k in range(3, K + 1):
        offset = w + 2 * NN * (k - 2)
        F[offset + i * N + j] = F[offset + NN + j * N + i] = v
        v = _dot(F, offset + i * N + i, w + NN + j * N + i + 1, L - 1)
    if L < K:
        v = maths.whole_power(F[I[interval_words.UNIT]], L)
    v = (v + sigma) * F[I[interval_words.COUNTS] + L]
    F[w + i * N + j] = F[w + NN + j * N + i] = v


@kernel("D1 L1")
def fill(F, I):
    """Compute every table of a fresh state. O(K N^3)."""
    N = I[interval_words.LEAVES]
    for i in range(N):
        F[I[interval_words.TABLE] + i * N + i] = F[I[interval_words.TABLE] + N * N + i * N + i] = F[I[interval_words.UNIT]]
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            _recompute(F, I, i, j, maths.whole_power(F[I[interval_words.UNIT]], j - i + 1))


@kernel("D1 L1")
def refill(F, I):
    """Compute every table from the current masses."""
    N = I[interval_words.LEAVES]
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            index = i * N + j
            mass = F[I[interval_words.SIGMA] + index] * arms.total(F, _block(I, i, j), I[h.TOP], I[h.TOP_SIZE])
            _recompute(F, I, i, j, mass if F[I[interval_words.SIGMA_E] + index] == 0.0 else 0.0)


@kernel("D1 L1 L1 D1")
def log_masses(F, I, indices, logs):
    """Write ln sigma of the intervals at i*N + j in `indices` to `logs`."""
    N = I[interval_words.LEAVES]
    for k in range(len(indices)):
        b = _block(I, indices[k] // N, indices[k] % N)
        logs[k] = _log_rate(F, I, indices[k]) + arms.log_total(F, I, b)


@kernel("D1 L1 L1 D1")
def set_masses(F, I, indices, logs):
    """Set ln sigma of the intervals in `indices` to `logs`; no table is computed."""
    N = I[interval_words.LEAVES]
    for k in range(len(indices)):
        _set_mass(F, I, indices[k], _block(I, indices[k] // N, indices[k] % N), logs[k])


@inner
def _set_mass(F, I, index, b, log):
    """Set sigma of an interval from its logarithm; return the part of it that a sum can see."""
    e = max(0.0, math.ceil((maths.log(SIGMA_TINY) - log) / LOG_SIGMA_BASE))
    sigma = maths.exp(log + e * LOG_SIGMA_BASE)
    F[I[interval_words.SIGMA] + index] = sigma / arms.total(F, b, I[h.TOP], I[h.TOP_SIZE])
    F[I[interval_words.SIGMA_E] + index] = e
    return sigma if e == 0.0 else 0.0


@inner
def ratio(F, I, key, arm, x, f, available, g):
    """Run the ratio pass over the intervals just visited; return the root's ratio. x <= STEP."""
    leaf = key[0]
    N = I[interval_words.LEAVES]
    root = I[interval_words.TABLE] + N - 1
    before = F[root]
    sigma, sigma_e, arm0, size = (
        I[interval_words.SIGMA],
        I[interval_words.SIGMA_E],
        I[interval_words.ARM0],
        I[h.WIDTH] + I[h.ARMS],
    )
    masked = arms.is_masked(available)
    M, adjoint = I[h.ARMS], I[interval_words.ADJOINT]
    r = inv = 1.0
    for i in range(leaf, -1, -1):
        for j in range(leaf, N):
            b = arm0 + (i * N + j) * size
            if not masked and M <= h.BLOCK and F[b + arm] * f >= h.ARM_TINY:  # `arms.shrink`, its commonest case in place
                F[b + arm] *= f
                now = F[b]
                for m in range(1, M):
                    now += F[b + m]
            else:
                now = arms.update(F, I, b, arm, x, f, available, g)
            offset = sigma + i * N + j
            if i == j:  # the leaf, by whose weight all others are divided
                r = F[offset] * now / F[I[interval_words.UNIT]]
                inv = 1.0 / r
            rate = F[offset] * inv
            mass = rate * now
            e = F[sigma_e + i * N + j]
            if now < h.ARM_LOW or mass < SIGMA_TINY or (e > 0.0 and mass > 1.0):
                if mass < SIGMA_TINY:
                    rate *= SIGMA_BASE
                    e += 1.0
                elif e > 0.0 and mass > 1.0:
                    rate /= SIGMA_BASE
                    mass /= SIGMA_BASE
                    e -= 1.0
                rate *= now / arms.keep_in_range(F, I, b, now)
                F[sigma_e + i * N + j] = e
            F[offset] = rate
            F[adjoint + i * N + j] = mass if e == 0.0 else 0.0
        _recompute_row(F, I, i, leaf)
    return r * (F[root] / before)


@inner
def _recompute_row(F, I, i, leaf):
    """Compute w(i, j) for every j >= leaf from the masses in the first table of ADJOINT, after all w(h, .) with h > i."""
    N = I[interval_words.LEAVES]
    w, wt, mass, counts = (
        I[interval_words.TABLE],
        I[interval_words.TABLE] + N * N,
        I[interval_words.ADJOINT] + i * N,
        I[interval_words.COUNTS],
    )
    if I[interval_words.GROUPS] > 2:
        for j in range(max(leaf, i + 1), N):
            _recompute(F, I, i, j, F[mass + j])
        return
    # Two parts: sums of whole rows, first those whose first part ends before the leaf.
    for c in range(i, leaf):
        _add_row(F, mass + leaf, w + (c + 1) * N + leaf, F[w + i * N + c], N - leaf)
    for j in range(leaf, N):
        if j > i:
            v = F[mass + j] * F[counts + j - i + 1]
            F[w + i * N + j] = v
            F[wt + j * N + i] = v
        if j < N - 1:
            _add_row(F, mass + j + 1, w + (j + 1) * N + j + 1, F[w + i * N + j], N - 1 - j)


@inner
def _add_row(F, to, row, factor, n):
    """Add factor times n words at `row` to those at `to`."""
    x, y = F[row : row + n], F[to : to + n]
    for i in range(n):
        y[i] += factor * x[i]


@inner
def ratio_log(F, I, key, arm, x, available, log_g):
    """Run the ratio pass in logarithms, for any x; return ln of the root's ratio."""
    leaf = key[0]
    N = I[interval_words.LEAVES]
    root = I[interval_words.TABLE] + N - 1
    before = F[root]
    r = 0.0
    for i in range(leaf, -1, -1):
        for j in range(leaf, N):
            b, index = _block(I, i, j), i * N + j
            log = _log_rate(F, I, index) + maths.log(arms.total(F, b, I[h.TOP], I[h.TOP_SIZE]))
            log += arms.shrink_log(F, I, b, arm, x, available, log_g)
            if i == j:
                r = log - maths.log(F[I[interval_words.UNIT]])
                log = maths.log(F[I[interval_words.UNIT]])
            else:
                log -= r
            F[I[interval_words.ADJOINT] + index] = _set_mass(F, I, index, b, log)
        _recompute_row(F, I, i, leaf)
    return r + maths.log(F[root]) - maths.log(before)
