"""Whole tables of rounds: played, decided, learned from a log, or only evaluated. One call a chunk.

A table's keys have one row for each round. Its masks have one row of bytes for each pool of arms, and `pool` has each round's row; if it is
empty, each round has its own row. Masks without columns make every arm available.
"""

from typing import NamedTuple

import numpy as np

from . import medium, members, rounds, small
from .arms import is_available
from .header import BLOCK, BROKEN, DENSE, DONE, DUE, FEW, KIND, SMALL
from .jit import inner, kernel
from .words.state import ALL_ARMS, FLOOR, MEMBERS, SEEN, STATE_WORDS, P
from .words.tree import FANOUT


class Rounds(NamedTuple):
    """Simulated rounds: keys, masks and pools; every arm's loss; the uniform sample u."""

    keys: np.ndarray
    masks: np.ndarray
    pool: np.ndarray
    losses: np.ndarray
    us: np.ndarray


class Logged(NamedTuple):
    """Logged rounds: keys, masks and pools; the arm played, its loss, its propensity."""

    keys: np.ndarray
    masks: np.ndarray
    pool: np.ndarray
    arm: np.ndarray
    losses: np.ndarray
    probabilities: np.ndarray


class Out(NamedTuple):
    """Played rounds: the arm of each round, its probability, its loss."""

    arms: np.ndarray
    probabilities: np.ndarray
    losses: np.ndarray


class Chosen(NamedTuple):
    """Decided rounds: the arm of each round, its probability, and the share of the advice that was on it (`State.advised`)."""

    arms: np.ndarray
    probabilities: np.ndarray
    advised: np.ndarray


@inner
def is_whole(mask):
    """Return whether a mask makes every arm available."""
    for m in range(len(mask)):
        if mask[m] == 0:
            return False
    return True


@inner
def _available(masks, pool, t):
    """Return the row of `masks` for round t, and how many of its entries count: 0 if every arm is available."""
    k = pool[t] if len(pool) > 0 else t
    return k, 0 if is_whole(masks[k]) else masks.shape[1]


@inner
def _is_few(F, I, masks):
    """Return whether this is one dense binary tree with few arms, all of them available."""
    i = members.arrays(F, I, 0)[1]
    alone = I[MEMBERS] == 1 and i[KIND] == DENSE and I[ALL_ARMS] <= FEW
    return alone and i[FANOUT] == 2 and masks.shape[1] == 0 and F[FLOOR] == 0.0


@inner
def _play_few(F, I, table, out, start, end):
    """Play rounds with `small.play` or `medium.play`; return the first from `start` on, and before `end`, that they cannot play."""
    f, i = members.arrays(F, I, 0)
    if I[ALL_ARMS] <= SMALL:
        return small.play(f, i, F[:STATE_WORDS], table, out, start, end)
    p = F[I[P] : I[P] + (2 * BLOCK if I[ALL_ARMS] > BLOCK else BLOCK)]
    return medium.play(f, i, F[:STATE_WORDS], table, out, p, (start, end))


@inner
def _draw(F, I, key, available, u):
    """Do `rounds.draw` with a floor: that share of all decisions is uniform among the available arms, and the probability includes it."""
    floor = F[FLOOR]
    if floor == 0.0:
        return rounds.draw(F, I, key, available, u)
    M = I[ALL_ARMS]
    n = 0
    for m in range(M):
        n += is_available(available, m)
    if u >= floor:
        arm, probability = rounds.draw(F, I, key, available, (u - floor) / (1.0 - floor))
        if arm < 0:
            return -1, 0.0
    else:
        p = F[I[P] : I[P] + M]
        if not rounds.mix(F, I, key, available, p) >= 0.0:
            return -1, 0.0
        arm, left = 0, min(int(u / floor * n), n - 1)
        for m in range(M):
            if is_available(available, m):
                if left == 0:
                    arm = m
                left -= 1
        probability = p[arm]
    return arm, (1.0 - floor) * probability + floor / n


@kernel("D1 L1 Rounds(L2 C2 L1 D2 D1) Out(L1 D1 D1) l l", free=True)
def play(F, I, table, out, start, end):
    """Play rounds start .. end - 1; return the first round not played, and why."""
    few = _is_few(F, I, table.masks)
    t = start
    while t < end:
        if few:
            played = _play_few(F, I, table, out, t, end)
            F[SEEN] += played - t
            t = played
            if t == end:
                return t, rounds.settle(F, I, t < start)
        row, arms = _available(table.masks, table.pool, t)
        available = table.masks[row, :arms]
        key = table.keys[t]
        rounds.visit(F, I, key, available)
        arm, probability = _draw(F, I, key, available, table.us[t])
        if arm < 0:
            return t, BROKEN
        loss = table.losses[t, arm]
        visited, plain = t >= start, t < start  # always, and never; with literals Numba would compile a second copy
        status = rounds.update(F, I, key, available, arm, loss, probability, visited, rounds.NONE, rounds.NOW, plain, plain)
        if status > DUE:
            return t, status
        out.arms[t] = arm
        out.probabilities[t] = probability
        out.losses[t] = loss
        t += 1
        if status == DUE:
            return t, DUE
    return t, DONE


@kernel("D1 L1 Rounds(L2 C2 L1 D2 D1) Chosen(L1 D1 D1) l l l", free=True)
def decide(F, I, table, out, advice, start, end):
    """Decide rounds start .. end - 1, without a floor; return the first not decided, and why. `advice` is its offset in F, or 0."""
    for t in range(start, end):
        row, arms = _available(table.masks, table.pool, t)
        available = table.masks[row, :arms]
        rounds.visit(F, I, table.keys[t], available)
        arm, probability = rounds.draw(F, I, table.keys[t], available, table.us[t])
        if arm < 0:
            return t, BROKEN
        out.arms[t] = arm
        out.probabilities[t] = probability
        out.advised[t] = F[advice + arm] if advice > 0 else -1.0
    return end, DONE


@kernel("D1 L1 Logged(L2 C2 L1 L1 D1 D1) l l", free=True)
def learn(F, I, table, start, end):
    """Learn rows start .. end - 1 of a log; return the first row not learned, and why."""
    for t in range(start, end):
        row, arms = _available(table.masks, table.pool, t)
        available = table.masks[row, :arms]
        visited, plain = t < start, t >= start  # never, and always: a logged loss is learned unchanged
        arm, loss, probability = table.arm[t], table.losses[t], table.probabilities[t]
        status = rounds.update(
            F, I, table.keys[t], available, arm, loss, probability, visited, rounds.NONE, rounds.NOW, visited, plain
        )
        if status != DONE:
            return (t + 1 if status == DUE else t), status
    return end, DONE


@kernel("D1 L1 Rounds(L2 C2 L1 D2 D1) D2 l l", free=True)
def fill(F, I, table, p, start, end):
    """Write the distribution over arms of rows start .. end - 1 to the rows of p. Nothing is learned. O(rows * nodes * arms)."""
    for t in range(start, end):
        row, arms = _available(table.masks, table.pool, t)
        if not rounds.fill(F, I, table.keys[t], table.masks[row, :arms], p[t]):
            return t, BROKEN
    return end, DONE
