"""The probability that each of several numbers is the least after Laplace noise is added to each, to about 1e-14.

With y in units of the noise, f the density e^(-|y|)/2 and S its upper tail, P(m is least) is the integral of f(y - c_m) times the product of
S(y - c_b) over the others. Between the c_b the integrand is smooth on the scale of 1, so Gauss-Legendre rules on pieces of that width suffice.
A closed form is a sum of alternating terms that cancels for more than a dozen arms.
"""

import numpy as np

from . import maths
from .jit import kernel

NODES, WEIGHTS = np.polynomial.legendre.leggauss(14)
FAR = 40.0  # e^-40 is lost beside 1


@kernel("D1 C1 d D1")
def least(row, available, noise, p):
    """Set p[m] to P(row[m] + noise z_m is the least of the available arms), z Laplace of mean size 1."""
    M = len(row)
    low = np.inf
    for m in range(M):
        p[m] = 0.0
        if len(available) == 0 or available[m]:
            low = min(low, row[m])
    y = -(FAR + maths.log(float(M)))
    while y < FAR:
        end = min(y + 1.0, FAR)
        for m in range(M):
            c = (row[m] - low) / noise
            if (len(available) == 0 or available[m]) and y < c < end:
                end = c
        half = (end - y) / 2.0
        for k in range(len(NODES)):
            x = y + half * (1.0 + NODES[k])
            all_above = half * WEIGHTS[k]
            for m in range(M):
                if len(available) == 0 or available[m]:
                    all_above *= upper_tail(x - (row[m] - low) / noise)
            for m in range(M):
                if len(available) == 0 or available[m]:
                    d = x - (row[m] - low) / noise
                    p[m] += all_above * hazard(d)
        y = end
    total = 0.0
    for m in range(M):
        total += p[m]
    for m in range(M):
        p[m] /= total


@kernel("d")
def upper_tail(y):
    """Return P(z > y)."""
    return 0.5 * maths.exp(-y) if y > 0.0 else 1.0 - 0.5 * maths.exp(y)


@kernel("d")
def hazard(y):
    """Return f(y) / S(y), without underflow of the two."""
    if y > 0.0:
        return 1.0
    e = 0.5 * maths.exp(y)
    return e / (1.0 - e)
