"""Algorithm 2, compiled: decide for every row of a log, learn if the chosen arm is the logged one.

The numbers equal those of `rounds.decide` and `rounds.update` row by row, bit for bit, in less time. Probabilities are computed for the
available arms alone. Rows with the same key and the same pool reuse them until the next update.
"""

from typing import NamedTuple

import numpy as np

from . import hard, members, rounds
from .header import BASES, BROKEN, DONE, DUE, REST, WEIGHT
from .jit import inner, kernel
from .words.state import MEMBERS, P

MULTIPLIER = 0x5851F42D
DENSE = 4  # with at most this many times as many arms as are available, all are computed


class ArmPools(NamedTuple):
    """The pools: each pool's arms, as bytes and as a list in order (members[starts[k] : starts[k + 1]]), and whether it has all arms.

    `shown_index` is the index, in its pool's list, of the arm shown in each row; -1 if it is not in the list.
    """

    masks: np.ndarray
    starts: np.ndarray
    members: np.ndarray
    shown_index: np.ndarray
    whole: np.ndarray


class Events(NamedTuple):
    """The rows: key, number of the pool, arm shown, its scaled loss, and the uniform sample u."""

    keys: np.ndarray
    pool: np.ndarray
    shown: np.ndarray
    loss: np.ndarray
    u: np.ndarray


class Memory(NamedTuple):
    """Probabilities of the available arms, their cumulative sums, and the row they were computed for."""

    p: np.ndarray
    sums: np.ndarray
    row: np.ndarray


class Learned(NamedTuple):
    """The rows learned, in order, and the probability of the arm in each."""

    rows: np.ndarray
    probabilities: np.ndarray


@inner
def _memory_index(key, size):
    """Return the row of the memory for a key."""
    x = 0
    for w in range(len(key)):
        word = key[w]
        x = ((x ^ word ^ (word >> 31)) & 0x7FFFFFFF) * MULTIPLIER
        x ^= x >> 29
    return (x >> 7) & (size - 1)


@inner
def _is_kept(memory, index, keys, t, pool, fresh):
    """Return whether the probabilities at `index` hold for row t: same key and pool, and nothing learned since row `fresh`."""
    s = memory.row[index]
    if s < fresh or pool[s] != pool[t]:
        return False
    for w in range(keys.shape[1]):
        if keys[s, w] != keys[t, w]:
            return False
    return True


@inner
def _add_listed(F, I, listed, p, arms):
    """Do `rounds.add_all` for the listed arms."""
    for k in range(I[MEMBERS]):
        f, i = members.arrays(F, I, k)
        w, bases = i[WEIGHT], i[BASES]
        for n in range(members.count(I, k)):
            v, b = f[w + n], i[bases + n]
            if v > 0.0:
                share = f[b : b + arms]
                for j in range(len(listed)):
                    p[j] += v * share[listed[j]]
        rest = f[REST] * (1.0 / arms)
        for j in range(len(listed)):
            p[j] += rest


@inner
def _mix(F, I, key, pools, k, p, M):
    """Do `rounds.mix` for the arms of pool k, into the first entries of p; return False if there are no probabilities."""
    listed = pools.members[pools.starts[k] : pools.starts[k + 1]]
    n = len(listed)
    scratch = F[I[P] : I[P] + M]
    if M <= DENSE * n:  # all arms, side by side in memory, take less time than some
        for m in range(M):
            scratch[m] = 0.0
        rounds.add_all(F, I, scratch)
        for j in range(n):
            p[j] = scratch[listed[j]]
    else:
        for j in range(n):
            p[j] = 0.0
        _add_listed(F, I, listed, p, M)
    total = 0.0
    for j in range(n):
        p[j] = min(p[j], 1.0)
        total += p[j]
    if not total >= hard.UNSEEN:  # also true if it is not a number
        if not rounds.mix(F, I, key, pools.masks[k], scratch) >= 0.0:
            return False
        for j in range(n):
            p[j] = scratch[listed[j]]
        return True
    for j in range(n):
        p[j] /= total
    return True


@inner
def _pick(pools, k, p, u, arms):
    """Do `rounds.pick` among the arms of pool k, whose probabilities are the first entries of p."""
    first = pools.starts[k]
    n = pools.starts[k + 1] - first
    total = 0.0
    for j in range(n):
        total += p[j]
    target = u * total
    last = pools.members[first + n - 1] == arms - 1
    cumulative = 0.0
    for j in range(n - 1 if last else n):
        cumulative += p[j]
        if cumulative > target:
            return pools.members[first + j], min(p[j], 1.0)
    if last and p[n - 1] > 0.0:
        return arms - 1, min(p[n - 1], 1.0)
    best = 0
    for j in range(1, n):
        if p[j] > p[best]:
            best = j
    return pools.members[first + best], min(p[best], 1.0)


@inner
def _keep(memory, index, n, t):
    """Record that the probabilities at `index` are those of row t; n arms are available."""
    p, sums = memory.p[index], memory.sums[index]
    s = 0.0
    for j in range(n):
        s += p[j]
        sums[j] = s
    memory.row[index] = t


@inner
def _probability(pools, k, p, sums, u, arms, shown, j):
    """Return the probability of the arm shown, the j-th of pool k, if u selects it; else 0.

    Equals the result of `_pick`, without a look at the other arms.
    """
    n = pools.starts[k + 1] - pools.starts[k]
    target = u * sums[n - 1]
    if target >= sums[n - 1] or p[n - 1] == 0.0:
        arm, probability = _pick(pools, k, p, u, arms)
        return probability if arm == shown else 0.0
    if j < 0 or sums[j] <= target or (j > 0 and sums[j - 1] > target):
        return 0.0
    return min(p[j], 1.0)


@kernel("D1 L1 ArmPools(C2 L1 L1 L1 B1) Events(L2 L1 L1 D1 D1) Memory(D2 D2 L1) l Learned(L1 D1) (l l)", free=True)
def run(F, I, pools, events, memory, most, learned, position):
    """Continue from `position` = (the first row not played, the number of rows learned); stop after `most` rows learned.

    Return the new `position`, and why it stopped.
    """
    start, n = position
    keys = events.keys
    none = pools.masks[0][:0]
    fresh = start
    M = pools.masks.shape[1]
    for t in range(start, len(events.u)):
        if n == most:
            return (t, n), DONE
        k, u, shown, key = events.pool[t], events.u[t], events.shown[t], keys[t]
        visited = True
        if pools.whole[k]:
            available = none
            rounds.visit(F, I, key, none)
            arm, probability = rounds.draw(F, I, key, none, u)
            if arm < 0:
                return (t, n), BROKEN
            if arm != shown:
                probability = 0.0
        else:
            available = pools.masks[k]
            index = _memory_index(key, len(memory.row))
            visited = not _is_kept(memory, index, keys, t, events.pool, fresh)
            if visited:
                rounds.visit(F, I, key, available)
                if not _mix(F, I, key, pools, k, memory.p[index], M):
                    return (t, n), BROKEN
                _keep(memory, index, pools.starts[k + 1] - pools.starts[k], t)
            probability = _probability(pools, k, memory.p[index], memory.sums[index], u, M, shown, pools.shown_index[t])
        if probability > 0.0:
            loss, no = events.loss[t], n < 0  # neither recalled nor plain; a literal would compile a second copy
            status = rounds.update(F, I, key, available, shown, loss, probability, visited, rounds.NONE, rounds.NOW, no, no)
            if status > DUE:
                return (t, n), status
            learned.rows[n] = t
            learned.probabilities[n] = probability
            n += 1
            fresh = t + 1
            if status == DUE:
                return (t + 1, n), DUE
    return (len(events.u), n), DONE
