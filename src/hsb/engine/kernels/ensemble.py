"""The ensemble: several models that predict each arm's loss, and one that weighs them. Its advice is the arm that promises least.

The models see z, the places of an encoded context (`features/`), whose first is the constant 1:

- *linear*: ridge regression for each arm, on z;
- *cosines*: ridge regression for each arm, on cosines of random directions of z (Rahimi and Recht 2007), which are smooth curves;
- *forest* (`forest.py`): trees that grow.

Every model predicts the loss that is seen, so no importance weights are needed: a ridge regression of it on what they predicted, one for
all arms together, weighs them, from weights that begin at (PRIOR). An arm never played is expected to lose 1/2; what is weighed, though,
is a forecast from the average loss of all arms, so that no model looks good for being gloomy. The index of an arm is

    weighed forecast - (1 - f) LINEAR_WIDTHS (1 + min(2, t / PATIENCE)) sd of linear - (f + w min(1, t / (2 PATIENCE))) sd of the forest,

f and w being the weights of the forest and of the cosines, t the rounds learned: who stays long can afford to look again at what seems bad.
For the cosines' own sd, which would take as long as all the rest, stands the forest's. After a fit to a log (`fit.py`) t counts the rounds
since,
and both widths are multiplied by their share of all: who has learned much and played nothing yet plays what is best.

Where an arm has lately lost so much more or less than predicted that it cannot be chance, the world has changed, and all models start anew:
forecasts corrected by the arm's last 50 or so residuals must have predicted better than those corrected by its last 500, which know of every
bias that is no news, with evidence beyond rounds^1.5 + 10000 (as in `advisor.py`).
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
    PLACES,
    RIDGE,
    ROOM,
    ROUNDS,
    SCRATCH,
    STACK,
    STRIDE,
    TREES,
    WEIGHTS,
)

PRIOR = (0.8, 0.1, 0.1, 0.0)  # weights of linear, forest, cosines and a constant before anything is known
STACK_PRECISION = 5.0
LINEAR_WIDTHS = 0.1  # standard deviations of optimism, at first
PATIENCE = 5000.0  # rounds
MEMORY, LONG_MEMORY = 0.98, 0.998  # of residuals, for each play of the arm
SHRINK, SURE = 4.0, 1e4
C1, C2, C3, C4, C5 = -19.73904346, 64.9300702, -85.28453151, 58.84210458, -21.1461384  # of cos(2 pi t) - 1, in t^2
ALWAYS = -1  # of ridge.learn's turns
HUGE = 1e100
LEAST = 0.01  # forecasts are cut to [LEAST, 1 - LEAST] where they are compared


@inner
def visit(F, I, z, available, reach):
    """Reach pass: one node, whose block of arms has the advised ones' shares and 0 for the others."""
    advise(F, I, z, available)
    return put(F, I, I[INDEX], reach)


@inner
def advise(F, I, z, available):
    """Each arm's index, inf where it is not available, and the arm that has the least. Changes nothing but scratch.

    O(arms * (places^2 + cosines + trees * depth)).
    """
    d, index = I[PLACES], I[INDEX]
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
            at = I[SCRATCH]
            v = F[at + 8 : at + 8 + d]
            width = ridge.width(F, covariance_at(F, I, m), I[ROOM], z, v, d)
            value = weighed(F, I) - narrow * width - local * F[at + INPUTS]
            F[index + m] = 0.5 if abs(value) > HUGE else value  # what no honest file leads to must not spoil probabilities
        if F[index + m] < least:
            best, least = m, F[index + m]
        elif F[index + m] != F[index + m]:  # NaN is advised, so that the round ends there (`advice.put`)
            best, least = m, -math.inf
    I[ADVICE] = best


@inner
def covariance_at(F, I, m):
    """Where the linear covariance of an arm begins."""
    room = I[ROOM]
    return I[LINEAR] + I[ARMS] * room + m * room * room


@inner
def cosine_at(I, m):
    """Where the weights and the covariance of an arm's cosines begin."""
    n = I[COSINES] + 1
    at = I[COSINE] + I[COSINES] * (I[ROOM] + 1)
    return at + m * n, at + I[ARMS] * n + m * n * I[STRIDE]


@inner
def phi_at(I):
    """Where the constant and the cosines stand, in scratch."""
    return I[SCRATCH] + 8 + I[ROOM]


@inner
def cosines(F, I, z):
    """The cosines of z: place by place, so that the loops are vectors. A cosine is a polynomial here, right to 1e-6."""
    d, k = I[PLACES], I[COSINES]
    at, scale = phi_at(I), math.sqrt(2.0 / max(k, 1))
    F[at] = 1.0
    phi, phases = F[at + 1 : at + 1 + k], F[I[COSINE] + k * I[ROOM] : I[COSINE] + k * I[ROOM] + k]
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
    """What a forecast of 1/2 for the unknown is raised by if the average loss is expected instead. `row` is the covariance's first."""
    at = I[STACK]
    average = (F[at + LOST] + 1.0) / (F[at + ROUNDS] + 2.0)
    s = 0.0
    for i in range(n):
        s += F[row + i] * x[i]
    return (average - 0.5) * precision * s


@inner
def _cut(p):
    return min(max(p, 0.0), 1.0)


@inner
def inputs(F, I, z, m):
    """Into the first words of scratch: what the models predict of an arm, each less 1/2, and 1; then the forest's width."""
    at, d, n = I[SCRATCH], I[PLACES], I[COSINES] + 1
    phi = F[phi_at(I) : phi_at(I) + n]
    weights, covariance = cosine_at(I, m)
    line = 0.5 + ridge.predict(F, I[LINEAR] + m * I[ROOM], z, d)
    F[at] = _cut(line + _from_average(F, I, covariance_at(F, I, m), z, F[I[RIDGE]], d)) - 0.5
    mean, width = forest.predict(F, I, m)
    F[at + 1] = mean - 0.5
    curve = 0.5 + ridge.predict(F, weights, phi, n)
    F[at + 2] = _cut(curve + _from_average(F, I, covariance, phi, F[I[RIDGE] + I[ROOM]], n)) - 0.5
    F[at + 3] = 1.0
    F[at + INPUTS] = width


@inner
def weighed(F, I):
    """The forecast from the inputs in scratch."""
    return 0.5 + ridge.predict(F, I[STACK] + WEIGHTS, F[I[SCRATCH] : I[SCRATCH] + INPUTS], INPUTS)


@inner
def prepare(F, I, z, arm, visited):
    """What `learn` needs in scratch: paths, cosines and the inputs of the arm. Is its forecast a number? Changes nothing that is learned.

    `visited`: the last thing done was `visit`, for the same z.
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

    O(places^2 + cosines^2 + trees * depth).
    """
    at, stack, d, n = I[SCRATCH], I[STACK], I[PLACES], I[COSINES] + 1
    changed = _watch(F, I, arm, loss, min(max(weighed(F, I), LEAST), 1.0 - LEAST))
    v = F[at + 8 + I[ROOM] + n : at + 8 + I[ROOM] + n + max(I[ROOM], n)]
    turn = int(mixed(np.uint64(int(F[stack + ROUNDS])) * STEP) >> np.uint64(40))
    ridge.learn(F, stack + WEIGHTS, stack + COVARIANCE, INPUTS, F[at : at + INPUTS], loss - 0.5, v, INPUTS, ALWAYS)
    F[stack + ROUNDS] += 1.0
    F[stack + LOST] += loss
    if changed:
        start(F, I)
        F[stack + ROUNDS], F[stack + LOST] = 1.0, loss  # this one is the first that the new models learn
        forest.trace(F, I, z)
    ridge.learn(F, I[LINEAR] + arm * I[ROOM], covariance_at(F, I, arm), I[ROOM], z, loss - 0.5, v, d, turn)
    weights, covariance = cosine_at(I, arm)
    ridge.learn(F, weights, covariance, I[STRIDE], F[phi_at(I) : phi_at(I) + n], loss - 0.5, v, n, turn)
    forest.learn(F, I, z, arm, loss)


@inner
def _watch(F, I, arm, loss, p):
    """Has the world changed? Compares forecasts corrected by what was wrong with the arm's lately, and by what was wrong for long."""
    stack = I[STACK]
    at = stack + MEMORIES + 4 * arm
    short = min(max(p + F[at] / (F[at + 1] + SHRINK), LEAST), 1.0 - LEAST)
    long = min(max(p + F[at + 2] / (F[at + 3] + SHRINK), LEAST), 1.0 - LEAST)
    F[at] = MEMORY * F[at] + loss - p
    F[at + 1] = MEMORY * F[at + 1] + 1.0
    F[at + 2] = LONG_MEMORY * F[at + 2] + loss - p
    F[at + 3] = LONG_MEMORY * F[at + 3] + 1.0
    rounds = F[stack + ROUNDS] + 1.0
    ratio = (loss * short + (1.0 - loss) * (1.0 - short)) / (loss * long + (1.0 - loss) * (1.0 - long))
    F[stack + EVIDENCE] = max(1.0, F[stack + EVIDENCE] * ratio)
    return F[stack + EVIDENCE] > rounds * math.sqrt(rounds) + SURE


@inner
def start(F, I):
    """All models at their prior, and the sums over rounds at 0; how they are weighed stays."""
    M, d, n, stack = I[ARMS], I[PLACES], I[COSINES] + 1, I[STACK]
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
    """The models' weights as they begin."""
    stack = I[STACK]
    for i in range(INPUTS):
        F[stack + WEIGHTS + i] = PRIOR[i]
        for j in range(INPUTS):
            F[stack + COVARIANCE + INPUTS * i + j] = 1.0 / STACK_PRECISION if i == j else 0.0


@kernel("D1 L1")
def begin(F, I):
    """An ensemble that knows nothing: `start`, and the weights of its models."""
    weigh_anew(F, I)
    start(F, I)


@kernel("D1 L1")
def look_again(F, I):
    """After places were added: trees that never split draw their cuts anew, so that these may be at any place."""
    if I[NODES_USED] == TREES:
        forest.look_again(F, I)
