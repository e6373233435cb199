"""One round on the interval structures: every interval of the N leaves is a node.

An interval of length L splits into K consecutive parts in every way, or, where 1 < L < K, into its single leaves. Storing an option per
way would take O(N^K) memory, so these structures keep the paper's w itself, divided by the product of the leaves' own weights:

    F_1 = w,   F_k(i,j) = sum over c of F_{k-1}(i,c) w(c+1,j),   w(i,j) = [sigma(i,j) + F_K(i,j)] / (groups + 1)

with sigma the arm mass (1/M) sum alpha on the same scale (UNIT per leaf, to centre the range). sigma is a number and a count, as in
`options.py`, so nothing is lost; w is recomputed from scratch over the intervals that contain the leaf, O(K N^3) in the worst case
but as dot products over contiguous rows: each table is stored with its transpose.

The reach pass is the derivative of w(root), pass by pass in reverse. Only intervals that contain the leaf are touched.
"""

import math

from numba import njit

from . import arms
from .header import (
    ADJOINT,
    ARM0,
    ARMS,
    BASES,
    COUNTS,
    GROUPS,
    LEAVES,
    REORDER,
    REST,
    SIGMA,
    SIGMA_E,
    TABLE,
    TOP,
    TOP_SIZE,
    UNIT,
    VISITS,
    WEIGHT,
    WIDTH,
)

SIGMA_TINY = 2.0**-728
SIGMA_BASE = 2.0**728
LOG_SIGMA_BASE = math.log(SIGMA_BASE)


@njit(cache=True, error_model="numpy", fastmath=REORDER)
def _dot(F, a, b, n):
    s = 0.0
    for i in range(n):
        s += F[a + i] * F[b + i]
    return s


@njit(cache=True, error_model="numpy")
def _block(I, i, j):
    return I[ARM0] + (j * (j + 1) // 2 + i) * (I[WIDTH] + I[ARMS])


@njit(cache=True, error_model="numpy")
def visit(F, I, key, reach):
    """Reach pass: the derivative of w(root) with respect to each sigma, times sigma. At most O(K N^3)."""
    s = key[0]
    N, K = I[LEAVES], I[GROUPS]
    NN = N * N
    w = I[TABLE]
    short = 0.0  # what reaches leaf s from intervals too short to split into K parts
    n = 0
    for i in range(s + 1):
        for j in range(N - 1, s - 1, -1):
            L = j - i + 1
            if L == N:
                q = reach / F[w + j]
            else:
                q = short if L == 1 else 0.0
                for k in range(2, K + 1):  # as the last part of F_k(h, j) = F_{k-1}(h, i-1) w(i, j)
                    q += _dot(F, I[ADJOINT] + 2 * NN * (k - 2) + NN + j * N, w + 2 * NN * (k - 2) + NN + (i - 1) * N, i)
                q += _after(F, I, 2, i, j)  # as the first part of F_2(i, h) = w(i, j) w(j+1, h)
            q *= F[I[COUNTS] + L]
            for k in range(K, 1, -1):
                if k == K:
                    a = q if L >= K else 0.0
                else:
                    a = _after(F, I, k + 1, i, j)
                at = I[ADJOINT] + 2 * NN * (k - 2)
                F[at + i * N + j] = a
                F[at + NN + j * N + i] = a
            if 1 < L < K:
                short += q * F[I[UNIT]] ** (L - 1)
            b = _block(I, i, j)
            inv = 1.0 / arms.total(F, b, I[TOP], I[TOP_SIZE])
            sigma = F[I[SIGMA] + i * N + j] if F[I[SIGMA_E] + i * N + j] == 0.0 else 0.0
            F[I[WEIGHT] + n] = q * sigma * inv
            F[I[WEIGHT] + I[VISITS] + n] = inv
            F[I[WEIGHT] + 2 * I[VISITS] + n] = q
            I[I[BASES] + n] = b
            n += 1
    F[REST] = 0.0
    return n


@njit(cache=True, error_model="numpy")
def _after(F, I, k, i, j):
    """Sum over h > j of the derivative of F_k(i, h), times w(j+1, h)."""
    N = I[LEAVES]
    if j == N - 1:
        return 0.0
    return _dot(F, I[ADJOINT] + 2 * N * N * (k - 2) + i * N + j + 1, I[TABLE] + (j + 1) * N + j + 1, N - 1 - j)


@njit(cache=True, error_model="numpy")
def log_visit(F, I, key, n, reach):
    """ln(reach * stop) of the n nodes just visited, in place of their weights; reach is ln too."""
    s = key[0]
    N = I[LEAVES]
    visit(F, I, key, 1.0)
    for v in range(n):
        at = v // (N - s) * N + N - 1 - v % (N - s)
        q = F[I[WEIGHT] + 2 * I[VISITS] + v]
        F[I[WEIGHT] + v] = reach + _log_sigma(F, I, at) + (math.log(q) if q > 0.0 else -math.inf)


@njit(cache=True, error_model="numpy")
def _log_sigma(F, I, at):
    return math.log(F[I[SIGMA] + at]) - F[I[SIGMA_E] + at] * LOG_SIGMA_BASE


@njit(cache=True, error_model="numpy")
def _multiply_sigma(F, I, at, ratio):
    v = F[I[SIGMA] + at] * ratio
    e = F[I[SIGMA_E] + at]
    if v < SIGMA_TINY:
        v *= SIGMA_BASE
        e += 1.0
    elif e > 0.0 and v > 1.0:
        v /= SIGMA_BASE
        e -= 1.0
    F[I[SIGMA] + at] = v
    F[I[SIGMA_E] + at] = e


@njit(cache=True, error_model="numpy")
def _recompute(F, I, i, j):
    """F_2 .. F_{K-1} and w of interval (i, j) from its sigma and its parts."""
    N, K = I[LEAVES], I[GROUPS]
    NN = N * N
    w = I[TABLE]
    L = j - i + 1
    v = 0.0
    for k in range(2, K + 1):
        at = w + 2 * NN * (k - 1)
        v = _dot(F, at - 2 * NN + i * N + i, w + NN + j * N + i + 1, L - 1)
        if k < K:
            F[at + i * N + j] = v
            F[at + NN + j * N + i] = v
    if L < K:
        v = F[I[UNIT]] ** L
    if F[I[SIGMA_E] + i * N + j] == 0.0:
        v += F[I[SIGMA] + i * N + j]
    v *= F[I[COUNTS] + L]
    F[w + i * N + j] = v
    F[w + NN + j * N + i] = v


@njit(cache=True, error_model="numpy")
def fill(F, I):
    """Compute every table from sigma. O(K N^3)."""
    N = I[LEAVES]
    for i in range(N):
        F[I[TABLE] + i * N + i] = F[I[UNIT]]
        F[I[TABLE] + N * N + i * N + i] = F[I[UNIT]]
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            _recompute(F, I, i, j)


@njit(cache=True, error_model="numpy")
def ratio(F, I, key, arm, x, f, offered, g):
    """Ratio pass over the intervals just visited; return the root's ratio. x <= STEP."""
    s = key[0]
    N = I[LEAVES]
    root = I[TABLE] + N - 1
    before = F[root]
    masked = len(offered) > 0
    leaf = 1.0
    for i in range(s, -1, -1):
        for j in range(s, N):
            b = _block(I, i, j)
            if masked:
                now = arms.shrink_masked(F, I, b, arm, x, f, offered, g)
            else:
                now = arms.shrink(F, I, b, arm, x, f)
            r = now * F[I[WEIGHT] + I[VISITS] + i * (N - s) + N - 1 - j]
            arms.keep_in_range(F, I, b, now)
            if i == j:
                leaf = r
            else:
                _multiply_sigma(F, I, i * N + j, r / leaf)
                _recompute(F, I, i, j)
    return leaf * (F[root] / before)


@njit(cache=True, error_model="numpy")
def ratio_log(F, I, key, arm, x, offered, log_g):
    """The same in logarithms, for any x; return ln of the root's ratio."""
    s = key[0]
    N = I[LEAVES]
    root = I[TABLE] + N - 1
    before = F[root]
    leaf = 0.0
    for i in range(s, -1, -1):
        for j in range(s, N):
            r = arms.shrink_log(F, I, _block(I, i, j), arm, x, offered, log_g)
            if i == j:
                leaf = r
                continue
            at = i * N + j
            log = _log_sigma(F, I, at) + r - leaf
            e = max(0.0, math.ceil((math.log(SIGMA_TINY) - log) / LOG_SIGMA_BASE))
            F[I[SIGMA] + at] = math.exp(log + e * LOG_SIGMA_BASE)
            F[I[SIGMA_E] + at] = e
            _recompute(F, I, i, j)
    return leaf + math.log(F[root]) - math.log(before)
