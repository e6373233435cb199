"""Disjoint LinUCB: a ridge regression for each arm, kept up to date in O(d^2) a round.

state[m] has 2d + 2 rows of d words: A = ridge I + sum z z' (d rows), its inverse (d rows), b = sum loss z, theta = inverse b. `updates[m]`
counts the rounds of an arm. work has d + 2 rows: scratch for a triangle, the features z of the round, inverse z. offered is empty
where every arm is offered.
"""

import math

from .jit import kernel

SHARP = 1e4  # a round that shrinks the inverse by more than this would cost it digits: it is computed anew
ROUNDING = 1e-15


@kernel
def put(point, work):
    """The features of a round, and 1 for the intercept if there is room for it."""
    d = work.shape[1]
    z = work[d]
    z[d - 1] = 1.0
    for i in range(len(point)):
        z[i] = point[i]


@kernel
def _times(inverse, z, v):
    """v = inverse z; return z' inverse z."""
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


@kernel
def scores(state, offered, alpha, work, score):
    """What each offered arm may be hoped to lose: estimate - alpha * width. The others get infinity. O(M d^2)."""
    d = work.shape[1]
    z = work[d]
    for m in range(len(score)):
        score[m] = math.inf
        if len(offered) == 0 or offered[m]:
            square = _times(state[m, d : 2 * d], z, work[d + 1])
            estimate = 0.0
            for j in range(d):
                estimate += state[m, 2 * d + 1, j] * z[j]
            score[m] = estimate - alpha * math.sqrt(max(square, 0.0))


@kernel
def least(score):
    """The least score, and how many arms have it."""
    low, ties = math.inf, 0
    for m in range(len(score)):
        if score[m] < low:
            low, ties = score[m], 1
        elif score[m] == low:
            ties += 1
    return low, ties


@kernel
def choose(state, offered, alpha, work, score, u):
    """An arm with the least score, picked by u out of those that tie, and its probability."""
    scores(state, offered, alpha, work, score)
    low, ties = least(score)
    nth = min(int(u * ties), ties - 1)
    for m in range(len(score)):
        if score[m] == low:
            if nth == 0:
                return m, 1.0 / ties
            nth -= 1
    return 0, 1.0


@kernel
def invert(A, inverse, ridge, L):
    """The inverse of A by Cholesky: A = L L'. O(d^3).

    A - ridge I has no negative eigenvalue, so no pivot can be below the ridge; one below rounding is as good as noise.
    """
    d = len(A)
    for j in range(d):
        s = A[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        L[j, j] = math.sqrt(max(s, ridge, ROUNDING * d * A[j, j]))
        for i in range(j + 1, d):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / L[j, j]
    for j in range(d):  # L becomes its own inverse, column by column
        L[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, d):
            s = 0.0
            for k in range(j, i):
                s -= L[i, k] * L[k, j]
            L[i, j] = s / L[i, i]
    for i in range(d):
        for j in range(i + 1):
            s = 0.0
            for k in range(i, d):
                s += L[k, i] * L[k, j]
            inverse[i, j] = s
            inverse[j, i] = s


@kernel
def update(state, updates, arm, loss, ridge, work):
    """Learn the loss of an arm at the features in `work`: Sherman and Morrison's formula, and now and then from A itself."""
    d = work.shape[1]
    A, inverse, b, theta = state[arm, :d], state[arm, d : 2 * d], state[arm, 2 * d], state[arm, 2 * d + 1]
    z, v = work[d], work[d + 1]
    scale = 1.0 + _times(inverse, z, v)
    for i in range(d):
        b[i] += loss * z[i]
        for j in range(d):
            A[i, j] += z[i] * z[j]
    updates[arm] += 1
    if scale > SHARP or updates[arm] % max(256, 8 * d) == 0:
        invert(A, inverse, ridge, work)
    else:
        for i in range(d):
            for j in range(d):
                inverse[i, j] -= v[i] * v[j] / scale
    _times(inverse, b, theta)


@kernel
def play(state, updates, points, masks, losses, us, alpha, ridge, work, score, played, chances):
    """Play every round of a table."""
    for t in range(len(us)):
        put(points[t], work)
        arm, chance = choose(state, masks[t], alpha, work, score, us[t])
        update(state, updates, arm, losses[t, arm], ridge, work)
        played[t] = arm
        chances[t] = chance
