"""Whole tables of rounds: played, decided, learned from a log, or only looked at. One call a chunk.

A table's keys have a row a round; its masks, in rounds that offer some arms only, a row of bytes for each pool of arms, and `pool` says which
one a round has. Where nothing is masked, `masks` and `pool` are None.
"""

from typing import NamedTuple

import numpy as np

from . import medium, members, rounds, small
from .arms import is_available
from .has import Has
from .header import BLOCK, DONE, DUE, HARD
from .jit import inner, kernel
from .words.state import ALL_ARMS, FLOOR, SEEN, STATE_WORDS, P


class Rounds(NamedTuple):
    """What happens: keys, masks and pools; every arm's loss, or that of `arm` with its propensity in `probabilities`; u, which decides."""

    keys: np.ndarray
    masks: np.ndarray | None = None
    pool: np.ndarray | None = None
    losses: np.ndarray | None = None
    us: np.ndarray | None = None
    arm: np.ndarray | None = None
    probabilities: np.ndarray | None = None


class Out(NamedTuple):
    """What came of it: the arm played in each round, its probability, its loss."""

    arms: np.ndarray
    probabilities: np.ndarray
    losses: np.ndarray


class Chosen(NamedTuple):
    """What was decided: the arm of each round, its probability, and how much of the advice was on it (`State.advised`)."""

    arms: np.ndarray
    probabilities: np.ndarray
    advised: np.ndarray


@inner
def is_whole(mask):
    """Does a mask offer every arm?"""
    for m in range(len(mask)):
        if mask[m] == 0:
            return False
    return True


@inner
def _available(masks, pool, t):
    """What round t pools."""
    if masks is None:
        return None
    mask = masks[t] if pool is None else masks[pool[t]]
    return mask[:0] if is_whole(mask) else mask


@inner
def _play_few(F, I, table, out, span, masks, few, some):
    """The first round from span[0] on, and before span[1], that `small.play` and `medium.play` cannot play."""
    if few is not None:
        if masks is None and F[FLOOR] == 0.0:
            f, i = members.arrays(F, I, 0)
            return small.play(f, i, F[:STATE_WORDS], table, out, span[0], span[1])
    if some is not None:
        if masks is None and F[FLOOR] == 0.0:
            f, i = members.arrays(F, I, 0)
            p = F[I[P] : I[P] + (2 * BLOCK if I[ALL_ARMS] > BLOCK else BLOCK)]
            return medium.play(f, i, F[:STATE_WORDS], table, out, p, span)
    return span[0]


@inner
def _draw(F, I, key, available, u, has):
    """`rounds.draw` with a floor: of all decisions that share is uniform among the available arms, and the probability says so."""
    floor = F[FLOOR]
    if floor == 0.0:
        return rounds.draw(F, I, key, available, u, has)
    M = I[ALL_ARMS]
    n = 0
    for m in range(M):
        n += is_available(available, m)
    if u >= floor:
        arm, probability = rounds.draw(F, I, key, available, (u - floor) / (1.0 - floor), has)
        if arm < 0:
            return -1, 0.0
    else:
        p = F[I[P] : I[P] + M]
        if not rounds.mix(F, I, key, available, p, has) >= 0.0:
            return -1, 0.0
        arm, left = 0, min(int(u / floor * n), n - 1)
        for m in range(M):
            if is_available(available, m):
                if left == 0:
                    arm = m
                left -= 1
        probability = p[arm]
    return arm, (1.0 - floor) * probability + floor / n


@kernel(
    "D1 L1 Rounds(L2 - - D2 D1 - -) Out(L1 D1 D1) l l small",
    "D1 L1 Rounds(L2 - - D2 D1 - -) Out(L1 D1 D1) l l medium",
    "D1 L1 Rounds(L2 - - D2 D1 - -) Out(L1 D1 D1) l l kinds",
    "D1 L1 Rounds(L2 C2 - D2 D1 - -) Out(L1 D1 D1) l l kinds",
    "D1 L1 Rounds(L2 C2 L1 D2 D1 - -) Out(L1 D1 D1) l l kinds",
    free=True,
)
def play(F, I, table, out, start, end, kinds):
    """Play rounds start .. end - 1; return the first round not played, and why."""
    has = Has(*kinds)
    t = start
    while t < end:
        played = _play_few(F, I, table, out, (t, end), table.masks, has.small, has.medium)
        F[SEEN] += played - t
        t = played
        if t == end:
            return t, rounds.settle(F, I, t < start, has.compressed)
        available = _available(table.masks, table.pool, t)
        key = table.keys[t]
        rounds.visit(F, I, key, available, has)
        arm, probability = _draw(F, I, key, available, table.us[t], has)
        if arm < 0:
            return t, HARD
        loss = table.losses[t, arm]
        visited, plain = t >= start, t < start  # always, and never; with literals Numba would compile the same once more
        status = rounds.update(
            F, I, key, available, arm, loss, probability, visited, rounds.NONE, rounds.NOW, plain, plain, kinds
        )
        if status > DUE:
            return t, status
        out.arms[t] = arm
        out.probabilities[t] = probability
        out.losses[t] = loss
        t += 1
        if status == DUE:
            return t, DUE
    return t, DONE


@kernel(
    "D1 L1 Rounds(L2 - - - D1 - -) Chosen(L1 D1 D1) l l l kinds",
    "D1 L1 Rounds(L2 C2 - - D1 - -) Chosen(L1 D1 D1) l l l kinds",
    "D1 L1 Rounds(L2 C2 L1 - D1 - -) Chosen(L1 D1 D1) l l l kinds",
    free=True,
)
def decide(F, I, table, out, advice, start, end, kinds):
    """Decide rounds start .. end - 1, without a floor; return the first one not decided, and why. `advice` is its place in F, or 0."""
    has = Has(*kinds)
    for t in range(start, end):
        available = _available(table.masks, table.pool, t)
        rounds.visit(F, I, table.keys[t], available, has)
        arm, probability = rounds.draw(F, I, table.keys[t], available, table.us[t], has)
        if arm < 0:
            return t, HARD
        out.arms[t] = arm
        out.probabilities[t] = probability
        out.advised[t] = F[advice + arm] if advice > 0 else -1.0
    return end, DONE


@kernel(
    "D1 L1 Rounds(L2 - - D1 - L1 D1) l l kinds",
    "D1 L1 Rounds(L2 C2 - D1 - L1 D1) l l kinds",
    "D1 L1 Rounds(L2 C2 L1 D1 - L1 D1) l l kinds",
    free=True,
)
def learn(F, I, table, start, end, kinds):
    """Learn rows start .. end - 1, whose arms and propensities come from a log; return the first row not learned, and why."""
    for t in range(start, end):
        available = _available(table.masks, table.pool, t)
        visited, plain = t < start, t >= start  # never, and always: what a log says is learned as it is
        arm, loss, probability = table.arm[t], table.losses[t], table.probabilities[t]
        status = rounds.update(
            F, I, table.keys[t], available, arm, loss, probability, visited, rounds.NONE, rounds.NOW, visited, plain, kinds
        )
        if status != DONE:
            return (t + 1 if status == DUE else t), status
    return end, DONE


@kernel(
    "D1 L1 Rounds(L2 - - - - - -) D2 l l kinds",
    "D1 L1 Rounds(L2 C2 - - - - -) D2 l l kinds",
    "D1 L1 Rounds(L2 C2 L1 - - - -) D2 l l kinds",
    free=True,
)
def fill(F, I, table, p, start, end, kinds):
    """The distribution over arms of rows start .. end - 1, into the rows of p. Nothing is learned. O(rows * nodes * arms)."""
    for t in range(start, end):
        if not rounds.fill(F, I, table.keys[t], _available(table.masks, table.pool, t), p[t], kinds):
            return t, HARD
    return end, DONE
