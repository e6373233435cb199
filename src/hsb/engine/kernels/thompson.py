"""One round of a context tree with Beta counts: the nodes that contain a context are a path of rows, as in `chains.py`.

A row of F holds x, then for each arm the counts added to its prior: good (1 - loss) and bad (loss). x = P / S is the evidence of
the nodes below the row's chain over the evidence of the chain's counts: 1 at the prior, and always 1 in a leaf. A chain of k
links stops with odds STAY[k] : GO[k] x. Nothing is subtracted. x stays within FLOOR .. 1 / FLOOR, which no run of luck can cross.
The header and the links in I are those of a compressed tree (`header.py`, `chains.py`).

`seen[0]` counts the rounds learned, in the call that learns them: it shows whether an interrupt came before or after.
"""

import math

import numpy as np

from . import beta, maths
from .chains import agree, digit, grow, leaves_at, length
from .header import REST, WEIGHT
from .jit import kernel
from .splitmix import seeded
from .words.tree import CAPACITY, DEPTH, GO, LINK_STRIDE, LINKS, PATH, ROW0, ROWS, STAY, STRIDE, WHOLE

FLOOR = 1e-280
IDLE = 0.1  # the share of the forgetting that arms not played undergo
COUNTS = 1  # where a row's counts begin
SEEN = 1e-10  # a node that plays with less probability than this is left out of the propensity


@kernel("D1 L1 L1")
def visit(F, I, key):
    """Run the reach pass: each row on the path and the probability of stopping there. Return how many; F[REST] is left for the prior."""
    weight, path, depth = I[WEIGHT], I[PATH], I[DEPTH]
    I[WHOLE] = 0
    reach = 1.0
    n = 0
    number = 0 if I[ROWS] > 0 else -1
    while number >= 0:
        link = I[LINKS] + number * I[LINK_STRIDE]
        row = I[ROW0] + number * I[STRIDE]
        bottom, top = I[link] & 4095, I[link] >> 12
        x, links = F[row], bottom - top + 1
        I[path + n] = row
        leaves = not agree(I, link, key, bottom)
        if leaves:  # only the links above were passed
            above = leaves_at(I, link, key) - top + 1
            x, links = below_split(F, I, x, links - above), above
        elif bottom == depth:
            I[WHOLE] = 1
            F[weight + n] = reach
            reach = 0.0
            n += 1
            break
        stay, go = F[I[STAY] + links], F[I[GO] + links] * x
        share = reach / (stay + go)
        F[weight + n] = share * stay
        reach = share * go
        n += 1
        number = -1 if leaves else I[link + 1 + digit(I, key, bottom)]
    F[REST] = reach
    return n


@kernel("D1 L1 d l")
def below_split(F, I, x, below):
    """Return x of the upper part of a chain whose lower part gets `below` links; the lower part keeps x."""
    return F[I[STAY] + below] + F[I[GO] + below] * x


@kernel("D1 L1 l C1 d d l d")
def draw(F, I, n, available, good, bad, arms, u):
    """Return the arm that u selects after a visit.

    Walks down to the row at which it stops, then takes the least of one draw for each available arm.
    """
    state = seeded(u)
    left, state = beta.uniform(state)
    row = np.int64(-1)
    for i in range(n):
        mass = F[I[WEIGHT] + i]
        row = I[I[PATH] + i]
        if left < mass:
            break
        left -= mass
        if i == n - 1 and F[REST] > 0.0:  # a node at its prior
            row = np.int64(-1)
    masked = len(available) > 0
    best, least = np.int64(-1), math.inf
    for m in range(arms):
        if not masked or available[m]:
            if row < 0:
                y, state = beta.uniform(state)  # all arms are alike: every order has the same probability
            else:
                offset = row + COUNTS + 2 * m
                y, state = beta.draw(good + F[offset], bad + F[offset + 1], state)
            if best < 0 or y < least:
                best, least = np.int64(m), y
    return best


@kernel("D1 L1 l C1 d d D1 D2")
def mix(F, I, n, available, good, bad, p, work):
    """Fill p with every arm's probability, after a visit."""
    masked = len(available) > 0
    choices = 0
    for m in range(len(p)):
        choices += 1 if not masked or available[m] else 0
    rest = F[REST] / choices
    for m in range(len(p)):
        p[m] = rest if not masked or available[m] else 0.0
    for i in range(n):
        mass = F[I[WEIGHT] + i]
        if mass >= SEEN:
            row = I[I[PATH] + i] + COUNTS
            if choices == 1:
                for m in range(len(p)):
                    p[m] += mass if not masked or available[m] else 0.0
            else:
                beta.add_least(F[row : row + 2 * len(p)], available, good, bad, mass, p, work)
    total = 0.0
    for m in range(len(p)):
        total += p[m]
    for m in range(len(p)):
        p[m] /= total


@kernel("D1 L1 L1 l")
def extend(F, I, key, n):
    """Give the rest of the path a row too, after a visit of n rows; return how many there are now."""
    if I[WHOLE] == 1:
        return n
    low = grow(F, I, key, n)
    if low >= 0:
        row = I[I[PATH] + n - 1]
        F[row] = below_split(F, I, F[row], length(I, I[ROW0] + low * I[STRIDE]))
    leaf = I[I[PATH] + n]
    F[leaf] = 1.0
    for i in range(leaf + COUNTS, leaf + I[STRIDE]):
        F[i] = 0.0
    return n + 1


@kernel("D1 L1 l l d d d d l")
def learn(F, I, n, arm, loss, good, bad, keep, arms):
    """Run the ratio pass over the n rows of a whole path; return the root's ratio, the probability that the tree gave this loss."""
    sure = loss == 0.0 or loss == 1.0
    below = 1.0
    for i in range(n - 1, -1, -1):
        row = I[I[PATH] + i]
        offset = row + COUNTS + 2 * arm
        a, b = good + F[offset], bad + F[offset + 1]
        if sure:
            q = (b if loss == 1.0 else a) / (a + b)
        else:
            q = maths.exp(loss * maths.log(b) + (1.0 - loss) * maths.log(a)) / (a + b)
        if keep < 1.0:  # forget a part of the counts
            for m in range(arms):
                f = keep if m == arm else 1.0 - IDLE * (1.0 - keep)
                F[row + COUNTS + 2 * m] *= f
                F[row + COUNTS + 2 * m + 1] *= f
        F[offset] += 1.0 - loss
        F[offset + 1] += loss
        if i == n - 1:
            below = q
        else:
            links, x = length(I, row), F[row]
            stay, go = F[I[STAY] + links], F[I[GO] + links] * x
            x = (x if keep == 1.0 else maths.power(x, keep)) * (below / q)
            below = (stay * q + go * below) / (stay + go)
            F[row] = min(max(x, FLOOR), 1.0 / FLOOR)
    return below


@kernel("D1 L1 L1 C1 d d l d")
def choose(F, I, key, available, good, bad, arms, u):
    """Decide one round. Changes nothing but scratch."""
    return draw(F, I, visit(F, I, key), available, good, bad, arms, u)


@kernel("D1 L1 L1 C1 d d D1 D2")
def probabilities(F, I, key, available, good, bad, p, work):
    """Fill p with the distribution over arms. Changes nothing but scratch."""
    mix(F, I, visit(F, I, key), available, good, bad, p, work)


@kernel("D1 L1 L1 L1 l d d d d l")
def update(F, I, seen, key, arm, loss, good, bad, keep, arms):
    """Learn a loss. Return False, and change nothing, if the tree is short of rows."""
    if I[ROWS] + 2 > I[CAPACITY]:
        return False
    n = extend(F, I, key, visit(F, I, key))
    learn(F, I, n, arm, loss, good, bad, keep, arms)
    seen[0] += 1
    return True


@kernel("D1 L1 L1 L2 C2 D2 D1 d d d L1 l")
def play(F, I, seen, keys, masks, losses, us, good, bad, keep, played, start):
    """Play rounds start, start+1, ... of a table; return the first round not played (the tree may be short of rows)."""
    arms = losses.shape[1]
    for t in range(start, len(us)):
        if I[ROWS] + 2 > I[CAPACITY]:
            return t
        n = visit(F, I, keys[t])
        arm = draw(F, I, n, masks[t], good, bad, arms, us[t])
        n = extend(F, I, keys[t], n)
        learn(F, I, n, arm, losses[t, arm], good, bad, keep, arms)
        seen[0] += 1
        played[t] = arm
    return len(us)
