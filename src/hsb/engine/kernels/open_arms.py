"""Models of arms that have features: a prediction of the loss for every available arm, one of them never seen among them.

x are the columns of the encoded context, g those of the encoded arm; the first of each is the constant 1.

- *shared*: one ridge regression of the loss on the products x_i g_j, for all arms together;
- *own*: for each known arm, a small ridge regression on x of what the shared one got wrong.

A ridge regression on both predictions weighs them, as in `ensemble.py`. The index of an arm is

    prediction - WIDTHS (1 + min(2, t / PATIENCE)) (sd of shared + OWN sd of own),

with t the rounds learned. In a round x is fixed. So the covariance of the shared model is contracted with x once, O((columns of x and g)^2),
and each arm costs O(columns of g ^ 2).

If losses have lately differed from the predictions by more than can be chance, all models restart (`ensemble.py` has the test).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import ridge
from .arms import is_available
from .jit import inner, kernel
from .splitmix import STEP, mixed

INPUTS = 3  # of the stack: the shared prediction, that with the arm's own, and a constant
WEIGHTS, COVARIANCE, ROUNDS, USED, EVIDENCE, SHORT, SHORT_PLAYS, LONG, LONG_PLAYS = 0, 3, 12, 13, 14, 15, 16, 17, 18
PRECISION, OWN_PRECISION = (
    19,
    20,
)  # of the shared model and of the arms' own; like USED, the number of columns in use, set from outside
ROWS, WORDS = 21, 22  # outcomes learned: more than rounds, if those of other arms were known too
PRIOR = (0.5, 0.5, 0.0)
STACK_PRECISION = 5.0
WIDTHS, OWN, PATIENCE = 0.1, 0.2, 5000.0
MEMORY, LONG_MEMORY = 0.98, 0.998
SHRINK, SURE = 4.0, 1e4
LEAST = 0.01
COLUMNS = 16  # of an own model: the constant, and the columns of x folded
SLOT = COLUMNS * (COLUMNS + 1)  # words of an own model


class ArmModels(NamedTuple):
    """The arrays that the models learn."""

    where: NDArray[np.int64]
    """The column of each product x_i g_j, a row for each column of x."""
    shared: NDArray[np.float64]
    """The weights of the shared model, then its covariance, a row for each column."""
    own: NDArray[np.float64]
    """For each slot the weights of an arm's own model, then its covariance."""
    stack: NDArray[np.float64]
    """The words above: weights and covariance of the stack, and sums over the rounds learned."""
    scratch: NDArray[np.float64]
    """A number for each column and each folded column, twice; then those of `rank`."""


class Ranked(NamedTuple):
    """The arms of a request, and where `rank` writes its results."""

    arms: NDArray[np.float64]
    """Encoded arms, a row each."""
    rows: NDArray[np.int64]
    """The row of each arm of the request."""
    slots: NDArray[np.int64]
    """The slot of each arm's own model; -1 without one."""
    indices: NDArray[np.float64]
    """Output: the index of each arm."""


@inner
def _cut(p):
    return min(max(p, 0.0), 1.0)


@inner
def _fold(x, o):
    """Fill o with the constant and the folded columns of x; return how many are in use."""
    used = min(len(x), COLUMNS)
    for i in range(COLUMNS):
        o[i] = 0.0
    o[0] = 1.0
    for i in range(1, len(x)):
        o[1 + (i - 1) % (COLUMNS - 1)] += x[i]
    return used


@inner
def _contract(models, x, room, weights, covariance, some):
    """Fill the weights of the shared model as a function of g alone, for this x, and half of its covariance, in rows of `room` words.

    Only for the columns of g in `some`; the weights of the others are 0.
    """
    where, shared = models.where, models.shared
    dg = where.shape[1]
    n = int(models.stack[USED])
    for j in range(dg):
        weights[j] = 0.0
        if some[j] == 0.0:
            continue
        row = covariance[j * room : j * room + n]
        for c in range(n):
            row[c] = 0.0
        for i in range(len(x)):
            if x[i] != 0.0:
                k = where[i, j]
                weights[j] += x[i] * shared[k]
                source = shared[room + k * room : room + k * room + n]
                a = x[i]
                for c in range(n):
                    row[c] += a * source[c]


@kernel("ArmModels(L2 D1 D1 D1 D1)")
def room_of(models):
    """Return the number of columns that the shared model has room for: `shared` has room * (room + 1) words."""
    return int((math.sqrt(4.0 * len(models.shared) + 1.0) - 1.0) / 2.0 + 0.5)


@kernel("ArmModels(L2 D1 D1 D1 D1) D1 Ranked(D2 L1 L1 D1)")
def rank(models, x, ranked):
    """Compute the index of each arm of a request, for the encoded context x. Changes nothing but scratch."""
    where, stack, scratch = models.where, models.stack, models.scratch
    dg, room = where.shape[1], room_of(models)
    offset = 2 * (room + COLUMNS)
    weights, half = scratch[offset : offset + dg], scratch[offset + dg : offset + dg + dg * room]
    offset += dg + dg * room
    Q, v = scratch[offset : offset + dg * dg], scratch[offset + dg * dg : offset + dg * dg + max(dg, COLUMNS)]
    offset += dg * dg + max(dg, COLUMNS)
    some = scratch[offset : offset + dg]  # columns that an arm of the request has
    for j in range(dg):
        some[j] = 0.0
    for k in range(len(ranked.rows)):
        g = ranked.arms[ranked.rows[k]]
        for j in range(dg):
            some[j] += 1.0 if g[j] != 0.0 else 0.0
    _contract(models, x, room, weights, half, some)
    for j in range(dg):
        for l in range(dg):
            Q[j * dg + l] = 0.0
        if some[j] == 0.0:
            continue
        for i in range(len(x)):
            if x[i] != 0.0:
                for l in range(dg):
                    Q[j * dg + l] += x[i] * half[j * room + where[i, l]]
    o = scratch[2 * room : 2 * room + COLUMNS]
    used = _fold(x, o)
    plain = 0.0
    for i in range(used):
        plain += o[i] * o[i]
    unknown = math.sqrt(plain / stack[OWN_PRECISION])
    optimism = WIDTHS * (1.0 + min(2.0, stack[ROUNDS] / PATIENCE))
    for k in range(len(ranked.rows)):
        g = ranked.arms[ranked.rows[k]]
        line = 0.5 + ridge.predict(weights, 0, g, dg)
        width = ridge.width(Q, 0, dg, g, v, dg)
        own, own_width = 0.0, unknown
        if ranked.slots[k] >= 0:
            first = ranked.slots[k] * SLOT
            own = ridge.predict(models.own, first, o, used)
            own_width = ridge.width(models.own, first + COLUMNS, COLUMNS, o, v, used)
        value = _weighed(stack, line, own) - optimism * (width + OWN * own_width)
        ranked.indices[k] = value if value == value else math.inf


@inner
def _weighed(stack, line, own):
    """Return the stacked prediction."""
    return 0.5 + stack[WEIGHTS] * (_cut(line) - 0.5) + stack[WEIGHTS + 1] * (_cut(line + own) - 0.5) + stack[WEIGHTS + 2]


@kernel("D1 L1 C1 L1")
def represent(index, groups, available, positions):
    """Write to `positions` the arm with the least index of each group, or the number of arms if it has none; return the group of the least.

    `groups` has the group of each arm. `available` has a byte for each arm, and is empty if all are available.
    """
    n, best, least = len(index), 0, math.inf
    for j in range(len(positions)):
        positions[j] = n
    for k in range(n):
        if is_available(available, k):
            group = groups[k]
            if positions[group] == n or index[k] < index[positions[group]]:
                positions[group] = k
    for j in range(len(positions)):
        if positions[j] < n and (least == math.inf or index[positions[j]] < least):
            best, least = j, index[positions[j]]
    return best


@kernel("ArmModels(L2 D1 D1 D1 D1) D1 D2 L1 D1 D2")
def learn(models, x, g, slots, losses, totals):
    """Learn a round at x: the arm played, then others whose loss is known. Count the round, and add to the totals of the arm played.

    `g` has the encoded features of each arm. O(columns^2) for each.
    """
    rounds = models.stack[ROUNDS]
    for k in range(len(slots)):
        _learn(models, x, g[k], slots[k], losses[k])
    models.stack[ROUNDS] = rounds + 1.0
    totals[slots[0], 0] += 1.0
    totals[slots[0], 1] += losses[0]


@kernel("ArmModels(L2 D1 D1 D1 D1) D2 D2 L1 D1")
def learn_rows(models, x, g, slots, losses):
    """Learn several rounds; in those without a slot only the shared model learns."""
    for t in range(len(losses)):
        _learn(models, x[t], g[t], slots[t], losses[t])


@inner
def _learn(models, x, g, slot, loss):
    where, shared, stack, scratch = models.where, models.shared, models.stack, models.scratch
    room, n = room_of(models), int(stack[USED])
    phi, v = scratch[:n], scratch[room + COLUMNS : 2 * room + 2 * COLUMNS]
    for c in range(n):
        phi[c] = 0.0
    for i in range(len(x)):
        if x[i] != 0.0:
            for j in range(where.shape[1]):
                phi[where[i, j]] += x[i] * g[j]
    o = scratch[room : room + COLUMNS]
    used, first = _fold(x, o), slot * SLOT
    line = 0.5 + ridge.predict(shared, 0, phi, n)
    own = ridge.predict(models.own, first, o, used) if slot >= 0 else 0.0
    rounds = stack[ROUNDS]
    changed = _watch(stack, loss, min(max(_weighed(stack, line, own), LEAST), 1.0 - LEAST))
    inputs = v[room : room + INPUTS]
    inputs[0], inputs[1], inputs[2] = _cut(line) - 0.5, _cut(line + own) - 0.5, 1.0
    ridge.learn(stack, WEIGHTS, COVARIANCE, INPUTS, inputs, loss - 0.5, v, INPUTS, -1)
    if changed:
        start(models)
        line, own = 0.5, 0.0
    turn = int(mixed(np.uint64(int(rounds)) * STEP) >> np.uint64(40))
    ridge.learn(shared, 0, room, room, phi, loss - 0.5, v, n, turn)
    if slot >= 0:
        ridge.learn(models.own, first, first + COLUMNS, COLUMNS, o, loss - line, v, used, -1)
    stack[ROUNDS] = rounds + 1.0
    stack[ROWS] += 1.0


@inner
def _watch(stack, loss, p):
    """Return whether the environment has changed (`ensemble._watch`), for all arms together."""
    short = min(max(p + stack[SHORT] / (stack[SHORT_PLAYS] + SHRINK), LEAST), 1.0 - LEAST)
    long = min(max(p + stack[LONG] / (stack[LONG_PLAYS] + SHRINK), LEAST), 1.0 - LEAST)
    stack[SHORT] = MEMORY * stack[SHORT] + loss - p
    stack[SHORT_PLAYS] = MEMORY * stack[SHORT_PLAYS] + 1.0
    stack[LONG] = LONG_MEMORY * stack[LONG] + loss - p
    stack[LONG_PLAYS] = LONG_MEMORY * stack[LONG_PLAYS] + 1.0
    rounds = stack[ROUNDS] + 1.0
    ratio = (loss * short + (1.0 - loss) * (1.0 - short)) / (loss * long + (1.0 - loss) * (1.0 - long))
    stack[EVIDENCE] = max(1.0, stack[EVIDENCE] * ratio)
    return stack[EVIDENCE] > rounds * math.sqrt(rounds) + SURE


@inner
def start(models):
    """Set the models to their prior; the weights of the stack stay."""
    shared, stack, room = models.shared, models.stack, room_of(models)
    for k in range(len(shared)):
        shared[k] = 0.0
    for c in range(room):
        shared[room + c * room + c] = 1.0 / stack[PRECISION]
    for slot in range(len(models.own) // SLOT):
        start_slot(models.own, slot, stack[OWN_PRECISION])
    for k in range(EVIDENCE, PRECISION):
        stack[k] = 0.0
    stack[EVIDENCE] = 1.0


@inner
def start_slot(own, slot, precision):
    """Set the model of a slot to its prior."""
    first = slot * SLOT
    for k in range(SLOT):
        own[first + k] = 0.0
    for i in range(COLUMNS):
        own[first + COLUMNS + i * COLUMNS + i] = 1.0 / precision


@kernel("D1 l d")
def reset_slot(own, slot, precision):
    """Set the model of a slot to its prior."""
    start_slot(own, slot, precision)


@kernel("ArmModels(L2 D1 D1 D1 D1)")
def begin(models):
    """Set up models that know nothing, and a stack at its prior."""
    stack = models.stack
    for i in range(INPUTS):
        stack[WEIGHTS + i] = PRIOR[i]
        for j in range(INPUTS):
            stack[COVARIANCE + INPUTS * i + j] = 1.0 / STACK_PRECISION if i == j else 0.0
    stack[ROUNDS], stack[ROWS] = 0.0, 0.0
    start(models)
