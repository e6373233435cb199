"""Disjoint LinUCB: a ridge regression for each arm, updated in O(d^2) a round.

state[m] has 2d + 2 rows of d words: A = ridge I + sum z z' (d rows), its inverse (d rows), b = sum loss z, theta = inverse b. `updates[m]`
counts the rounds of an arm, `seen[0]` those of all. `point` is the context of a round. `work` has d + 2 rows: scratch for a triangle, the
features z of the round, inverse z. `available` is empty if every arm is available. Kernels with an underscore take z from `work`.
"""

import math

from . import maths
from .jit import kernel

SHARP = 1e4  # a round that shrinks the inverse by more than this would cost digits: the inverse is recomputed
ROUNDING = 1e-15
TRIES = 5  # each with larger pivots
WORST = 1e300  # a score that is not a number counts as this: such an arm is played last


@kernel("D1 D2")
def put(point, work):
    """Write the features of a round to `work`, and 1 for the intercept if there is room for it."""
    d = work.shape[1]
    z = work[d]
    z[d - 1] = 1.0
    for i in range(len(point)):
        z[i] = point[i]


@kernel
def _times(inverse, z, v):
    """Compute v = inverse z; return z' inverse z."""
    d = len(z)
    for j in range(d):
        v[j] = 0.0
    for i in range(d):
        for j in range(d):
            v[j] += inverse[i, j] * z[i]
    s = 0.0
    for j in range(d):
        s += z[j] * v[j]
    return s


@kernel("D3 C1 d D1 D2 D1")
def scores(state, available, alpha, point, work, score):
    """Compute each available arm's optimistic loss, estimate - alpha * width. The others get infinity. O(M d^2)."""
    put(point, work)
    _scores(state, available, alpha, work, score)


@kernel
def _scores(state, available, alpha, work, score):
    """Compute `scores`, with z in `work`."""
    d = work.shape[1]
    z = work[d]
    for m in range(len(score)):
        score[m] = math.inf
        if len(available) == 0 or available[m]:
            square = _times(state[m, d : 2 * d], z, work[d + 1])
            estimate = 0.0
            for j in range(d):
                estimate += state[m, 2 * d + 1, j] * z[j]
            s = estimate - alpha * math.sqrt(max(square, 0.0))
            score[m] = s if abs(s) < WORST else WORST


@kernel("D1")
def least(score):
    """Return the least score, and how many arms have it."""
    low, ties = math.inf, 0
    for m in range(len(score)):
        if score[m] < low:
            low, ties = score[m], 1
        elif score[m] == low:
            ties += 1
    return low, ties


@kernel("D3 C1 d D1 D2 D1 d")
def choose(state, available, alpha, point, work, score, u):
    """Return an arm with the least score, picked by u among ties, and its probability."""
    put(point, work)
    return _choose(state, available, alpha, work, score, u)


@kernel
def _choose(state, available, alpha, work, score, u):
    """Run `choose`, with z in `work`."""
    _scores(state, available, alpha, work, score)
    low, ties = least(score)
    nth = min(int(u * ties), ties - 1)
    for m in range(len(score)):
        if score[m] == low:
            if nth == 0:
                return m, 1.0 / ties
            nth -= 1
    return -1, 0.0  # no arm is available


@kernel("d")
def unit(a):
    """Return a power of two whose square is about 1 / a, for a > 0."""
    return maths.scaled(1.0, -0.5 * maths.parts(a)[1] // 1.0)


@kernel
def _factor(A, L, ridge, least):
    """Factor A = L L' by Cholesky, with rows and columns scaled by powers of two to a diagonal of about 1. No pivot is below `least`.

    A - ridge I has no negative eigenvalue, so no pivot can be below the ridge; one below rounding is as good as noise.
    """
    d = len(A)
    for j in range(d):
        c = unit(A[j, j])
        top = c * A[j, j] * c
        s = top
        for k in range(j):
            s -= L[j, k] * L[j, k]
        L[j, j] = math.sqrt(max(s, c * ridge * c, least * top))
        for i in range(j + 1, d):
            s = c * A[i, j] * unit(A[i, i])
            for k in range(j):
                s -= L[i, k] * L[j, k]
            most = 2.0 * unit(A[i, i]) * math.sqrt(A[i, i])  # a row of L is as long as the root of its diagonal
            L[i, j] = min(max(s / L[j, j], -most), most)


@kernel
def _inverse(A, inverse, ridge, L):
    """Compute the inverse from the factor L, which becomes its own inverse, column by column. Return False if A cannot have this inverse."""
    d = len(A)
    for j in range(d):
        L[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, d):
            s = 0.0
            for k in range(j, i):
                s -= L[i, k] * L[k, j]
            L[i, j] = s / L[i, i]
    for i in range(d):
        c = unit(A[i, i])
        for j in range(i + 1):
            s = 0.0
            for k in range(i, d):
                s += L[k, i] * L[k, j]
            s = c * s * unit(A[j, j])
            if not abs(s) * ridge <= 2.0:  # its eigenvalues are at most 1 / ridge
                return False
            inverse[i, j] = s
            inverse[j, i] = s
    return True


@kernel("D2 D2 d D2")
def invert(A, inverse, ridge, L):
    """Invert A. O(d^3).

    If rounding leaves no correct digit, invert a matrix with more on its diagonal, and as a last resort the diagonal alone.
    """
    d = len(A)
    least = ROUNDING * d
    for _ in range(TRIES):
        _factor(A, L, ridge, least)
        if _inverse(A, inverse, ridge, L):
            return
        least *= 1e3
    for i in range(d):
        for j in range(d):
            inverse[i, j] = 1.0 / A[i, i] if i == j else 0.0


@kernel("D3 L1 D1 l d d D2 L1")
def update(state, updates, point, arm, loss, ridge, work, seen):
    """Learn the loss of an arm."""
    put(point, work)
    _update(state, updates, arm, loss, ridge, work, seen)


@kernel
def _update(state, updates, arm, loss, ridge, work, seen):
    """Run `update`, with z in `work`: Sherman and Morrison's formula, and now and then an inversion of A itself.

    Whatever the features, up to 1e100, nothing becomes infinite. An inverse that lost its digits is recomputed: one with z' inverse z < 0 or
    without a positive diagonal. Coefficients are cut to the largest possible size: ridge |theta|^2 <= sum of squared losses.
    """
    d = work.shape[1]
    A, inverse, b, theta = state[arm, :d], state[arm, d : 2 * d], state[arm, 2 * d], state[arm, 2 * d + 1]
    z, v = work[d], work[d + 1]
    square = _times(inverse, z, v)
    for i in range(d):
        b[i] += loss * z[i]
        for j in range(d):
            A[i, j] += z[i] * z[j]
    updates[arm] += 1
    seen[0] += 1
    anew = not 0.0 <= square <= SHARP or updates[arm] % max(256, 8 * d) == 0
    if not anew:
        for i in range(d):
            for j in range(d):
                inverse[i, j] -= v[i] * v[j] / (1.0 + square)
            anew = anew or not inverse[i, i] > 0.0
    if anew:
        invert(A, inverse, ridge, work)
    _times(inverse, b, theta)
    most = math.sqrt(updates[arm] / ridge)
    for i in range(d):
        theta[i] = min(max(theta[i], -most), most) if abs(theta[i]) < WORST else 0.0


@kernel("D3 L1 D2 C2 D2 D1 d d D2 D1 L1 D1 L1")
def play(state, updates, points, masks, losses, us, alpha, ridge, work, score, played, probabilities, seen):
    """Play every round of a table."""
    for t in range(len(us)):
        put(points[t], work)
        arm, probability = _choose(state, masks[t], alpha, work, score, us[t])
        _update(state, updates, arm, losses[t, arm], ridge, work, seen)
        played[t] = arm
        probabilities[t] = probability
