"""Exponential weights over a list of experts: EXP4, and Section III's mixture of mappings.

An expert's weight is stored twice. `logs` is exact; `weights` is its exponential, for speed, or 0 below `TINY`. Factors are never above 1, so
weights only fall. Before their total leaves the double range, all of them are recomputed from the logarithms, shifted so that the largest is
0. So no weight is lost, however long the run, and nothing is floored.

`advice[row, k]` is the arm of expert k, or `advice[row, k, m]` its probability of arm m: Numba compiles a variant for each. An expert sleeps if
nothing it advises is available. `available` is empty if every arm is available, else one byte per arm.

`seen[0]` counts the rounds learned, in the call that learns them: it shows whether an interrupt came before or after.
"""

import math
from typing import NamedTuple

import numpy as np

from . import maths
from .jit import kernel
from .rounds import MOST, is_sole, pick

TINY = 1e-300  # smaller weights are 0 until the next rescaling
LOW = 1e-100  # below this total comes a rescaling: weights left out are then less than 1e-200 of it
UNSEEN = 1e-200  # awake experts whose total is below this are summed in logarithms


class Table(NamedTuple):
    """Whole rounds: advice, and the row of it that each round has; masks, which may have no columns; losses and uniform samples."""

    advice: np.ndarray
    row: np.ndarray
    masks: np.ndarray
    losses: np.ndarray
    us: np.ndarray


@kernel
def _awake(advice, row, k, available):
    """Return how much of an expert's advice is available; 0 if it sleeps."""
    if advice.ndim == 2:
        return 1.0 if len(available) == 0 or available[advice[row, k]] != 0 else 0.0
    a = 0.0
    for m in range(advice.shape[2]):
        if len(available) == 0 or available[m] != 0:
            a += advice[row, k, m]
    return a


@kernel
def _share(advice, row, k, m, a):
    """Return an awake expert's probability of an available arm, with its advice renormalised over the available arms."""
    if advice.ndim == 2:
        return 1.0 if advice[row, k] == m else 0.0
    return advice[row, k, m] / a


@kernel
def _add(advice, row, k, available, a, w, p):
    """Add to p the advice of an awake expert of weight w."""
    if advice.ndim == 2:
        p[advice[row, k]] += w
    else:
        for m in range(advice.shape[2]):
            if len(available) == 0 or available[m] != 0:
                p[m] += w * (advice[row, k, m] / a)


@kernel
def _factor(advice, step, x, f):
    """Return exp(-step), given f = exp(-x): one exponential a round if each expert advises one arm."""
    if advice.ndim == 2:
        return f if step > 0.0 else 1.0
    if step == x:
        return f
    return 1.0 if step == 0.0 else maths.exp(-step)


@kernel
def _weigh_logs(logs, advice, row, available, p):
    """Fill `p`, up to its scale, if the awake experts weigh too little for plain numbers; equal shares if all sleep."""
    top = -math.inf
    for k in range(len(logs)):
        if _awake(advice, row, k, available) > 0.0:
            top = max(top, logs[k])
    for m in range(len(p)):
        p[m] = 1.0 if top == -math.inf and (len(available) == 0 or available[m] != 0) else 0.0
    if top > -math.inf:
        for k in range(len(logs)):
            a = _awake(advice, row, k, available)
            if a > 0.0:
                _add(advice, row, k, available, a, maths.exp(logs[k] - top), p)


@kernel("D1 D1 D3 l C1 D1", "D1 D1 I2 l C1 D1")
def mix(logs, weights, advice, row, available, p):
    """Fill p with the probabilities of the arms, which add to 1; arms not available get 0. O(experts)."""
    for m in range(len(p)):
        p[m] = 0.0
    for k in range(len(weights)):
        a = _awake(advice, row, k, available)
        if a > 0.0:
            _add(advice, row, k, available, a, weights[k], p)
    total = _sum(p)
    if total < UNSEEN:
        _weigh_logs(logs, advice, row, available, p)
        total = _sum(p)
    for m in range(len(p)):
        p[m] /= total


@kernel
def _sum(p):
    s = 0.0
    for m in range(len(p)):
        s += p[m]
    return s


@kernel("D1 D1 D3 l C1 D1 d", "D1 D1 I2 l C1 D1 d")
def decide(logs, weights, advice, row, available, p, u):
    """Return the arm that the number u in [0, 1) selects, and its probability. Changes nothing but the scratch p."""
    mix(logs, weights, advice, row, available, p)
    return pick(p, u)


@kernel
def _log_kept(logs, weights, advice, row, available, arm, x, f):
    """Return ln of the part of their total weight that the awake experts keep. O(experts)."""
    before, after = 0.0, 0.0
    for k in range(len(weights)):
        a = _awake(advice, row, k, available)
        if a > 0.0:
            before += weights[k]
            after += weights[k] * _factor(advice, x * _share(advice, row, k, arm, a), x, f)
    if after >= UNSEEN:
        return maths.log(after / before)
    top, top_after = -math.inf, -math.inf
    for k in range(len(logs)):
        a = _awake(advice, row, k, available)
        if a > 0.0:
            top = max(top, logs[k])
            top_after = max(top_after, logs[k] - x * _share(advice, row, k, arm, a))
    if top == -math.inf:  # all sleep
        return 0.0
    before, after = 0.0, 0.0
    for k in range(len(logs)):
        a = _awake(advice, row, k, available)
        if a > 0.0:
            before += maths.exp(logs[k] - top)
            after += maths.exp(logs[k] - x * _share(advice, row, k, arm, a) - top_after)
    return min(0.0, top_after - top + maths.log(after / before))


@kernel("D1 D1 L1 D3 l C1 l d", "D1 D1 L1 I2 l C1 l d")
def learn(logs, weights, seen, advice, row, available, arm, x):
    """Multiply each expert's weight by exp(-x advice[arm]), x = rate * loss / propensity, and count the round. O(experts).

    Sleeping experts are multiplied by the factor by which the awake experts' total changes: up to a common scale, the awake keep their total.
    """
    seen[0] += 1
    if x <= 0.0 or is_sole(available):  # a single arm available is advised by every expert awake: nothing to learn
        return
    x = min(x, MOST)
    f = maths.exp(-x)
    log_g = 0.0
    if len(available) > 0:
        log_g = _log_kept(logs, weights, advice, row, available, arm, x, f)
    g = maths.exp(log_g)
    total = 0.0
    for k in range(len(weights)):
        a = _awake(advice, row, k, available)
        if a > 0.0:
            step = x * _share(advice, row, k, arm, a)  # no branch: half of the experts that advise one arm would mispredict it
            logs[k] -= step
            w = weights[k] * _factor(advice, step, x, f)
            weights[k] = w if w >= TINY else 0.0
        elif log_g < 0.0:
            logs[k] += log_g
            w = weights[k] * g
            weights[k] = w if w >= TINY else 0.0
        total += weights[k]
    if total < LOW:
        rescale(logs, weights)


@kernel("D1 D1")
def rescale(logs, weights):
    """Shift the logarithms so that the largest is 0, and recompute every weight. O(experts), rarely."""
    top = -math.inf
    for k in range(len(logs)):
        top = max(top, logs[k])
    for k in range(len(logs)):
        logs[k] -= top
        w = maths.exp(logs[k])
        weights[k] = w if w >= TINY else 0.0


@kernel("D1 D1 L1 Table(D3 L1 C2 D2 D1) d D1 L1 D1", "D1 D1 L1 Table(I2 L1 C2 D2 D1) d D1 L1 D1")
def play(logs, weights, seen, table, rate, p, played, probabilities):
    """Decide and learn in every round of a table."""
    advice = table.advice
    for t in range(len(table.us)):
        row, available = table.row[t], table.masks[t]
        arm, probability = decide(logs, weights, advice, row, available, p, table.us[t])
        learn(logs, weights, seen, advice, row, available, arm, rate * table.losses[t, arm] / probability)
        played[t] = arm
        probabilities[t] = probability
