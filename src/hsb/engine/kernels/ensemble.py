"""The ensemble: several models predict each arm's loss, and a stacking model weighs them. It recommends the arm with the lowest index.

The models see z, the columns of an encoded context (`features/`). The first is the constant 1.

- *linear*: ridge regression for each arm, on z;
- *cosines*: ridge regression for each arm, on random Fourier features of z (Rahimi and Recht 2007), which are smooth curves;
- *forest* (`forest.py`): trees that grow.

Every model predicts the observed loss, so no importance weights are needed. A ridge regression of the loss on the models' predictions, one
for all arms together, weighs them; its weights begin at PRIOR. The loss of an arm never played is predicted as 1/2. The stacking inputs fall
back to the average loss of all arms instead, so that pessimistic models are not favoured. The index of an arm is

    stacked prediction - (1 - f) LINEAR_WIDTHS (1 + min(2, t / PATIENCE)) sd of linear - (f + w min(1, t / (2 PATIENCE))) sd of the forest,

with f and w the weights of the forest and of the cosines, and t the rounds learned: in a long run, exploring an arm that seems bad is
affordable. The forest's sd stands in for the cosines', which would take as long to compute as all the rest. After a fit to a log (`fit.py`) t
counts the rounds since the fit, and both widths are multiplied by the share of those rounds in all rounds: a policy that has learned much from
a log and played little exploits.

If an arm has lately lost more or less than predicted, by more than can be chance, the environment has changed and all models restart. The
test compares predictions corrected by the arm's last 50 or so residuals with those corrected by its last 500, which contain every long-standing
bias. The evidence must exceed rounds^1.5 + 10000 (as in `advisor.py`).
"""

import math

import numpy as np

from . import forest, ridge
from .advice import put
from .arms import is_available
from .header import ARMS
from .jit import inner, kernel
from .splitmix import STEP, mixed
from .words.advice import ADVICE
from .words.ensemble import (
    COLUMNS,
    COSINE,
    COSINES,
    COVARIANCE,
    EVIDENCE,
    INDEX,
    INPUTS,
    LINEAR,
    LOGGED,
    LOST,
    MEMORIES,
    NODES_USED,
    RIDGE,
    ROOM,
    ROUNDS,
    SCRATCH,
    STACK,
    STRIDE,
    TREES,
    WEIGHTS,
)

PRIOR = (0.8, 0.1, 0.1, 0.0)  # weights of linear, forest, cosines and a constant before any round
STACK_PRECISION = 5.0
LINEAR_WIDTHS = 0.1  # standard deviations of optimism, at first
PATIENCE = 5000.0  # rounds
MEMORY, LONG_MEMORY = 0.98, 0.998  # factors of the residuals, at each play of the arm
SHRINK, SURE = 4.0, 1e4
C1, C2, C3, C4, C5 = -19.73904346, 64.9300702, -85.28453151, 58.84210458, -21.1461384  # of cos(2 pi t) - 1, in t^2
ALWAYS = -1  # a value of ridge.learn's `turn`
HUGE = 1e100
LEAST = 0.01  # predictions are cut to [LEAST, 1 - LEAST] before they are compared


@inner
def visit(F, I, z, available, reach):
    """Run the reach pass: one node, whose arm block has the shares of the recommended arms and 0 for the others."""
    advise(F, I, z, available)
    return put(F, I, I[INDEX], reach)


@inner
def advise(F, I, z, available):
    """Compute each arm's index, inf if it is not available, and the arm with the least. Changes nothing but scratch.

    O(arms * (columns^2 + cosines + trees * depth)).
    """
    d, index = I[COLUMNS], I[INDEX]
    cosines(F, I, z)
    forest.trace(F, I, z)
    best, least = 0, math.inf
    stack = I[STACK]
    f, w = min(max(F[stack + WEIGHTS + 1], 0.0), 1.0), min(max(F[stack + WEIGHTS + 2], 0.0), 1.0)
    own, share = F[stack + ROUNDS], 1.0
    if F[stack + LOGGED] > 0.0:
        own -= F[stack + LOGGED]
        share = own / F[stack + ROUNDS]
    patience = own / PATIENCE
    narrow, local = share * (1.0 - f) * LINEAR_WIDTHS * (1.0 + min(2.0, patience)), share * (f + w * min(1.0, 0.5 * patience))
    for m in range(I[ARMS]):
        F[index + m] = math.inf
        if is_available(available, m):
            inputs(F, I, z, m)
            offset = I[SCRATCH]
            v = F[offset + 8 : offset + 8 + d]
            width = ridge.width(F, covariance_at(F, I, m), I[ROOM], z, v, d)
            value = weighed(F, I) - narrow * width - local * F[offset + INPUTS]
            F[index + m] = (
                0.5 if abs(value) > HUGE else value
            )  # only a damaged file leads here; it must not spoil probabilities
        if F[index + m] < least:
            best, least = m, F[index + m]
        elif F[index + m] != F[index + m]:  # NaN is recommended, so that the round ends there (`advice.put`)
            best, least = m, -math.inf
    I[ADVICE] = best


@inner
def covariance_at(F, I, m):
    """Return the offset of an arm's linear covariance."""
    room = I[ROOM]
    return I[LINEAR] + I[ARMS] * room + m * room * room


@inner
def cosine_at(I, m):
    """Return the offsets of the weights and of the covariance of an arm's cosines."""
    n = I[COSINES] + 1
    offset = I[COSINE] + I[COSINES] * (I[ROOM] + 1)
    return offset + m * n, offset + I[ARMS] * n + m * n * I[STRIDE]


@inner
def phi_at(I):
    """Return the offset in scratch of the constant and the cosines."""
    return I[SCRATCH] + 8 + I[ROOM]


@inner
def cosines(F, I, z):
    """Compute the cosines of z, column by column, so that the loops become vectors. A cosine is a polynomial here, accurate to 1e-6."""
    d, k = I[COLUMNS], I[COSINES]
    offset, scale = phi_at(I), math.sqrt(2.0 / max(k, 1))
    F[offset] = 1.0
    phi, phases = F[offset + 1 : offset + 1 + k], F[I[COSINE] + k * I[ROOM] : I[COSINE] + k * I[ROOM] + k]
    for w in range(k):
        phi[w] = phases[w]
    for i in range(1, d):
        a = z[i]
        if a != 0.0:
            row = F[I[COSINE] + i * k : I[COSINE] + i * k + k]
            for w in range(k):
                phi[w] += a * row[w]
    for w in range(k):
        t = phi[w] - math.floor(phi[w] + 0.5)  # in turns
        t *= t
        phi[w] = scale * (1.0 + t * (C1 + t * (C2 + t * (C3 + t * (C4 + t * C5)))))


@inner
def _from_average(F, I, row, x, precision, n):
    """Return how much a prediction of 1/2 for the unknown rises if the average loss replaces 1/2. `row` is the covariance's first row."""
    offset = I[STACK]
    average = (F[offset + LOST] + 1.0) / (F[offset + ROUNDS] + 2.0)
    s = 0.0
    for i in range(n):
        s += F[row + i] * x[i]
    return (average - 0.5) * precision * s


@inner
def _cut(p):
    return min(max(p, 0.0), 1.0)


@inner
def inputs(F, I, z, m):
    """Write to the first words of scratch each model's prediction for an arm less 1/2, then 1, then the forest's width."""
    offset, d, n = I[SCRATCH], I[COLUMNS], I[COSINES] + 1
    phi = F[phi_at(I) : phi_at(I) + n]
    weights, covariance = cosine_at(I, m)
    line = 0.5 + ridge.predict(F, I[LINEAR] + m * I[ROOM], z, d)
    F[offset] = _cut(line + _from_average(F, I, covariance_at(F, I, m), z, F[I[RIDGE]], d)) - 0.5
    mean, width = forest.predict(F, I, m)
    F[offset + 1] = mean - 0.5
    curve = 0.5 + ridge.predict(F, weights, phi, n)
    F[offset + 2] = _cut(curve + _from_average(F, I, covariance, phi, F[I[RIDGE] + I[ROOM]], n)) - 0.5
    F[offset + 3] = 1.0
    F[offset + INPUTS] = width


@inner
def weighed(F, I):
    """Return the stacked prediction from the inputs in scratch."""
    return 0.5 + ridge.predict(F, I[STACK] + WEIGHTS, F[I[SCRATCH] : I[SCRATCH] + INPUTS], INPUTS)


@inner
def prepare(F, I, z, arm, visited):
    """Fill the scratch that `learn` needs: paths, cosines and the inputs of the arm. Return whether its prediction is a number.

    Changes nothing that is learned. `visited`: the last call was `visit`, for the same z.
    """
    if not visited:
        cosines(F, I, z)
        forest.trace(F, I, z)
    inputs(F, I, z, arm)
    forecast = weighed(F, I)
    return forecast == forecast


@inner
def learn(F, I, z, arm, loss):
    """Learn the loss of an arm at z, after `prepare`: the weights of the models first, then the models.

    O(columns^2 + cosines^2 + trees * depth).
    """
    offset, stack, d, n = I[SCRATCH], I[STACK], I[COLUMNS], I[COSINES] + 1
    changed = _watch(F, I, arm, loss, min(max(weighed(F, I), LEAST), 1.0 - LEAST))
    v = F[offset + 8 + I[ROOM] + n : offset + 8 + I[ROOM] + n + max(I[ROOM], n)]
    turn = int(mixed(np.uint64(int(F[stack + ROUNDS])) * STEP) >> np.uint64(40))
    ridge.learn(F, stack + WEIGHTS, stack + COVARIANCE, INPUTS, F[offset : offset + INPUTS], loss - 0.5, v, INPUTS, ALWAYS)
    F[stack + ROUNDS] += 1.0
    F[stack + LOST] += loss
    if changed:
        start(F, I)
        F[stack + ROUNDS], F[stack + LOST] = 1.0, loss  # the new models learn this round first
        forest.trace(F, I, z)
    ridge.learn(F, I[LINEAR] + arm * I[ROOM], covariance_at(F, I, arm), I[ROOM], z, loss - 0.5, v, d, turn)
    weights, covariance = cosine_at(I, arm)
    ridge.learn(F, weights, covariance, I[STRIDE], F[phi_at(I) : phi_at(I) + n], loss - 0.5, v, n, turn)
    forest.learn(F, I, z, arm, loss)


@inner
def _watch(F, I, arm, loss, p):
    """Return whether the environment has changed: compare predictions corrected by the arm's recent errors and by its long-term errors."""
    stack = I[STACK]
    offset = stack + MEMORIES + 4 * arm
    short = min(max(p + F[offset] / (F[offset + 1] + SHRINK), LEAST), 1.0 - LEAST)
    long = min(max(p + F[offset + 2] / (F[offset + 3] + SHRINK), LEAST), 1.0 - LEAST)
    F[offset] = MEMORY * F[offset] + loss - p
    F[offset + 1] = MEMORY * F[offset + 1] + 1.0
    F[offset + 2] = LONG_MEMORY * F[offset + 2] + loss - p
    F[offset + 3] = LONG_MEMORY * F[offset + 3] + 1.0
    rounds = F[stack + ROUNDS] + 1.0
    ratio = (loss * short + (1.0 - loss) * (1.0 - short)) / (loss * long + (1.0 - loss) * (1.0 - long))
    F[stack + EVIDENCE] = max(1.0, F[stack + EVIDENCE] * ratio)
    return F[stack + EVIDENCE] > rounds * math.sqrt(rounds) + SURE


@inner
def start(F, I):
    """Set all models to their prior and the sums over rounds to 0. The stacking weights stay."""
    M, d, n, stack = I[ARMS], I[COLUMNS], I[COSINES] + 1, I[STACK]
    precision = F[I[RIDGE] : I[RIDGE] + I[ROOM]]
    for m in range(M):
        ridge.start(F, I[LINEAR] + m * I[ROOM], covariance_at(F, I, m), I[ROOM], precision, d, I[ROOM])
        weights, covariance = cosine_at(I, m)
        ridge.start(F, weights, covariance, I[STRIDE], F[I[RIDGE] + I[ROOM] : I[RIDGE] + I[ROOM] + n], n, n)
        for i in range(4):
            F[stack + MEMORIES + 4 * m + i] = 0.0
    F[stack + ROUNDS], F[stack + LOST], F[stack + EVIDENCE], F[stack + LOGGED] = 0.0, 0.0, 1.0, 0.0
    forest.start(F, I)


@inner
def weigh_anew(F, I):
    """Set the stacking weights to their prior."""
    stack = I[STACK]
    for i in range(INPUTS):
        F[stack + WEIGHTS + i] = PRIOR[i]
        for j in range(INPUTS):
            F[stack + COVARIANCE + INPUTS * i + j] = 1.0 / STACK_PRECISION if i == j else 0.0


@kernel("D1 L1")
def begin(F, I):
    """Set up an ensemble that knows nothing: `start`, and the stacking weights."""
    weigh_anew(F, I)
    start(F, I)


@kernel("D1 L1")
def look_again(F, I):
    """After columns were added, let trees that never split redraw their cuts, so that these may be at any column."""
    if I[NODES_USED] == TREES:
        forest.look_again(F, I)
