"""Ridge regression, one round at a time: weights and their covariance, in pieces of one array.

A model of n features has its weights at `at` and, from `P` on, its covariance, one row each `stride` words. With prior precision lambda_i of
weight i, the covariance begins as 1/lambda_i on the diagonal, and learning (x, y) is

    v = P x,   q = 1 + x.v,   weights += v (y - weights.x) / q,   P -= v v' / q

(Sherman and Morrison 1950). Loops follow the rows in memory order, so that they become vectors without `fastmath`.
"""

import math

from .jit import inner, kernel

KNOWN, SELDOM = 0.05, 4


@inner
def predict(F, offset, x, n):
    """Return weights.x."""
    w, s = F[offset : offset + n], 0.0
    for i in range(n):
        s += w[i] * x[i]
    return s


@inner
def width(F, P, stride, x, v, n):
    """Return the standard deviation sqrt(x' P x). Reads half of the covariance; v is scratch."""
    for i in range(n):
        v[i] = 0.0
    s = 0.0
    for i in range(n):
        a = x[i]
        if a != 0.0:
            row = F[P + i * stride : P + i * stride + n]
            s += a * (2.0 * v[i] + a * row[i])
            for j in range(i + 1, n):
                v[j] += a * row[j]
    return math.sqrt(max(s, 0.0))


@inner
def learn(F, offset, P, stride, x, y, v, n, turn):
    """Learn that the target at x was y. v is scratch.

    If x is well known (x.v < KNOWN) the covariance hardly changes. Then only one round in SELDOM changes it, with SELDOM times the weight: a
    round in which the low bits of `turn`, a random number, are 0. If `turn` is below 0, every round does.
    """
    for i in range(n):
        v[i] = 0.0
    for i in range(n):
        a = x[i]
        if a != 0.0:
            row = F[P + i * stride : P + i * stride + n]
            for j in range(n):
                v[j] += a * row[j]
    w, q, error = F[offset : offset + n], 1.0, y
    for i in range(n):
        q += x[i] * v[i]
        error -= w[i] * x[i]
    q = max(q, 1.0)
    for i in range(n):
        w[i] += v[i] / q * error
    weight = 1.0
    if turn >= 0 and q < 1.0 + KNOWN:
        if turn & (SELDOM - 1) != 0:
            return
        weight = float(SELDOM)
    q = 1.0 + weight * (q - 1.0)
    for i in range(n):
        b = weight * v[i] / q
        if b != 0.0:
            row = F[P + i * stride : P + i * stride + n]
            for j in range(n):
                row[j] -= b * v[j]


@inner
def start(F, offset, P, stride, precision, n, size):
    """Set the model to its prior: `size` weights of 0, the first n with their precisions."""
    for i in range(size):
        F[offset + i] = 0.0
        for j in range(size):
            F[P + i * stride + j] = 0.0
    for i in range(n):
        F[P + i * stride + i] = 1.0 / precision[i]


@kernel("D2 D2 l")
def invert(A, L, n):
    """Replace the symmetric, positive definite n x n matrix A by its inverse. L is scratch of the same shape. O(n^3)."""
    for j in range(n):
        s = A[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        L[j, j] = math.sqrt(max(s, 1e-13 * A[j, j]))
        for i in range(j + 1, n):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / L[j, j]
    for j in range(n):  # L becomes its own inverse, column by column
        L[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, n):
            s = 0.0
            for k in range(j, i):
                s -= L[i, k] * L[k, j]
            L[i, j] = s / L[i, i]
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(i, n):
                s += L[k, i] * L[k, j]
            A[i, j] = s
            A[j, i] = s


@kernel("D2 D1 D1 D1 L1 D1")
def move(A, b, a, c, missing, row):
    """Update the precision A = sum of x x' and the sums b = sum of y x for features that are now a x + c, and still 0 if missing.

    missing[i] is the feature that is 1 if feature i is missing, or -1; feature 0 is the constant. O(n^2).
    """
    n = len(a)
    for i in range(1, n):
        if a[i] == 1.0 and c[i] == 0.0:
            continue
        k = missing[i]
        b[i] = a[i] * b[i] + c[i] * (b[0] - (b[k] if k >= 0 else 0.0))
        for j in range(n):
            row[j] = a[i] * A[i, j] + c[i] * (A[0, j] - (A[k, j] if k >= 0 else 0.0))
        row[i] = a[i] * row[i] + c[i] * (row[0] - (row[k] if k >= 0 else 0.0))
        for j in range(n):
            A[i, j] = row[j]
            A[j, i] = row[j]
