"""Perceptrons that share their features: one row of weights each, the last weight for the intercept.

W has a row of d + 1 weights for each perceptron. `total`, the sum of W after every update, has the same shape, or no rows. If it has rows, it
predicts instead of W: the averaged perceptron. moments[0] holds the features' means, moments[1] the sums of squared distances from them over
seen[0] rows. z is scratch for d numbers. Signs are +1 and -1; a score of 0 counts as -1, and as a mistake.
"""

import math

from ....engine.kernels.jit import kernel


@kernel("D1 D2 L1")
def see(x, moments, seen):
    """Update the features' moments with a row (Welford's recursion, which avoids cancellation)."""
    seen[0] += 1
    for i in range(len(x)):
        off = x[i] - moments[0, i]
        moments[0, i] += off / seen[0]
        moments[1, i] += off * (x[i] - moments[0, i])


@kernel("D1 D2 L1 D1")
def standardise(x, moments, seen, z):
    """Compute z = (x - mean) / deviation; a feature that never changed counts 0."""
    for i in range(len(x)):
        spread = math.sqrt(moments[1, i] / max(seen[0], 1))
        z[i] = (x[i] - moments[0, i]) / spread if spread > 0.0 else 0.0


@kernel("D1 D1")
def score(w, z):
    d = len(z)
    s = w[d]
    for i in range(d):
        s += w[i] * z[i]
    return s


@kernel("D2 D1 A1")
def predict(W, z, code):
    """Write the codeword of standardised features to `code`."""
    for k in range(len(W)):
        code[k] = 1 if score(W[k], z) > 0.0 else -1


@kernel("D2 D2 D1 A1")
def learn(W, total, z, target):
    """Rosenblatt's rule: a perceptron on the wrong side of its target moves by the features."""
    d = len(z)
    for k in range(len(W)):
        if target[k] * score(W[k], z) <= 0.0:
            for i in range(d):
                W[k, i] += target[k] * z[i]
            W[k, d] += target[k]
    for k in range(len(total)):
        for i in range(d + 1):
            total[k, i] += W[k, i]


@kernel("D2 D2 D2 L1 b D2 A2 D1 A2")
def play(W, total, moments, seen, online, X, targets, z, codes):
    """For every row: update the moments if `online`, predict the codeword, learn the target."""
    for t in range(len(X)):
        if online:
            see(X[t], moments, seen)
        standardise(X[t], moments, seen, z)
        predict(total if len(total) else W, z, codes[t])
        learn(W, total, z, targets[t])


@kernel("D2 D2 D2 L1 D2 D1 A2")
def encode(W, total, moments, seen, X, z, codes):
    """Write the codeword of every row to `codes`. Changes nothing else."""
    for t in range(len(X)):
        standardise(X[t], moments, seen, z)
        predict(total if len(total) else W, z, codes[t])
