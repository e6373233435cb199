"""Algorithm 2, compiled: decide for every row of a log, learn where the arm is the one that was shown.

The same numbers as `rounds.decide` and `rounds.update` (or `advised`) row by row, bit for bit, in less time: probabilities are computed for the
offered arms alone, and kept until something is learned, for rows with the same keys and the same pool.
"""

from typing import NamedTuple

import numpy as np

from . import advised, advisor, rounds
from .advisor import BESIDE, HERE
from .header import BASES, REST, WEIGHT
from .jit import free_kernel, kernel

MULTIPLIER = 0x5851F42D
DENSE = 4  # where there are at most so many times as many arms as are offered, all are computed


class Offers(NamedTuple):
    """The pools: which arms each offers, as bytes and as a list in order (members[starts[k] : starts[k + 1]]); does it offer all?

    `place` says where in its pool's list the arm shown in each row stands, -1 where it does not.
    """

    masks: np.ndarray
    starts: np.ndarray
    members: np.ndarray
    place: np.ndarray
    whole: np.ndarray


class Events(NamedTuple):
    """The rows: number of the pool, arm shown, its scaled loss, and the number u that decides."""

    pool: np.ndarray
    shown: np.ndarray
    loss: np.ndarray
    u: np.ndarray


class Memory(NamedTuple):
    """Probabilities of the offered arms, their sums so far, and the row they were computed for."""

    p: np.ndarray
    sums: np.ndarray
    row: np.ndarray


class Found(NamedTuple):
    """The rows learned from, in order, and the probability of the arm in each."""

    rows: np.ndarray
    chances: np.ndarray


@kernel
def _place(Ks, t, size):
    """Where in the memory the keys of row t belong."""
    x = 0
    for k in range(len(Ks)):
        for w in range(Ks[k].shape[1]):
            word = Ks[k][t, w]
            x = ((x ^ word ^ (word >> 31)) & 0x7FFFFFFF) * MULTIPLIER
            x ^= x >> 29
    return (x >> 7) & (size - 1)


@kernel
def _same(Ks, s, t):
    for k in range(len(Ks)):
        for w in range(Ks[k].shape[1]):
            if Ks[k][s, w] != Ks[k][t, w]:
                return False
    return True


@kernel
def _is_kept(memory, place, Ks, t, pool, fresh):
    """Do the probabilities at a place stand for row t, nothing having been learned since row `fresh`?"""
    s = memory.row[place]
    return s >= fresh and pool[s] == pool[t] and _same(Ks, s, t)


@kernel
def _add_listed(F, I, n, members, p, arms):
    """`rounds._add` for the listed arms."""
    w, bases = I[WEIGHT], I[BASES]
    for i in range(n):
        v, b = F[w + i], I[bases + i]
        if v > 0.0:
            share = F[b : b + arms]
            for j in range(len(members)):
                p[j] += v * share[members[j]]
    rest = F[REST] * (1.0 / arms)
    for j in range(len(members)):
        p[j] += rest


@kernel
def _mix(Fs, Is, Ks, t, counts, offers, k, p, scratch):
    """`rounds.mix` for the arms of pool k, into the first entries of p; return their share of all weight."""
    M = len(scratch)
    members = offers.members[offers.starts[k] : offers.starts[k + 1]]
    n = len(members)
    if M <= DENSE * n:  # all arms, side by side in memory, take less time than some
        for m in range(M):
            scratch[m] = 0.0
        for i in range(len(Fs)):
            rounds._add(Fs[i], Is[i], counts[i], scratch)
        for j in range(n):
            p[j] = scratch[members[j]]
    else:
        for j in range(n):
            p[j] = 0.0
        for i in range(len(Fs)):
            _add_listed(Fs[i], Is[i], counts[i], members, p, M)
    total = 0.0
    for j in range(n):
        p[j] = min(p[j], 1.0)
        total += p[j]
    if total < rounds.UNSEEN:
        total = rounds.mix(Fs, Is, Ks, t, counts, offers.masks[k], scratch)
        for j in range(n):
            p[j] = scratch[members[j]]
        return total
    for j in range(n):
        p[j] /= total
    return total


@kernel
def _pick(offers, k, p, u, arms):
    """`rounds.pick` among the arms of pool k, whose probabilities are the first entries of p."""
    first = offers.starts[k]
    n = offers.starts[k + 1] - first
    total = 0.0
    for j in range(n):
        total += p[j]
    target = u * total
    last = offers.members[first + n - 1] == arms - 1
    cumulative = 0.0
    for j in range(n - 1 if last else n):
        cumulative += p[j]
        if cumulative > target:
            return offers.members[first + j], min(p[j], 1.0)
    if last and p[n - 1] > 0.0:
        return arms - 1, min(p[n - 1], 1.0)
    best = 0
    for j in range(1, n):
        if p[j] > p[best]:
            best = j
    return offers.members[first + best], min(p[best], 1.0)


@kernel
def _keep(memory, at, n, t):
    """What was computed for row t stands at a place; n arms are offered."""
    p, sums = memory.p[at], memory.sums[at]
    s = 0.0
    for j in range(n):
        s += p[j]
        sums[j] = s
    memory.row[at] = t


@kernel
def _chance(offers, k, p, sums, u, arms, shown, j):
    """The probability of the arm shown, the j-th of pool k, if u selects it; else 0. What `_pick` says, without looking at the others."""
    n = offers.starts[k + 1] - offers.starts[k]
    target = u * sums[n - 1]
    if target >= sums[n - 1] or p[n - 1] == 0.0:
        arm, chance = _pick(offers, k, p, u, arms)
        return chance if arm == shown else 0.0
    if j < 0 or sums[j] <= target or (j > 0 and sums[j - 1] > target):
        return 0.0
    return min(p[j], 1.0)


@free_kernel
def run(Fs, Is, Ks, counts, offers, events, memory, p, rates, drift, found, start, n):
    """Rows start, start + 1, ...; n were learned from before. Return the first row not played (a tree may be short of rows) and n."""
    none = offers.masks[0][:0]
    fresh = start
    for t in range(start, len(events.u)):
        k, u, shown = events.pool[t], events.u[t], events.shown[t]
        visited = True
        if offers.whole[k]:
            offered = none
            rounds.visit(Fs, Is, Ks, t, counts)
            arm, chance = rounds.draw(Fs, Is, Ks, t, counts, none, p, u)
            if arm != shown:
                chance = 0.0
        else:
            offered = offers.masks[k]
            place = _place(Ks, t, len(memory.row))
            visited = not _is_kept(memory, place, Ks, t, events.pool, fresh)
            if visited:
                rounds.visit(Fs, Is, Ks, t, counts)
                _mix(Fs, Is, Ks, t, counts, offers, k, memory.p[place], p)
                _keep(memory, place, offers.starts[k + 1] - offers.starts[k], t)
            chance = _chance(offers, k, memory.p[place], memory.sums[place], u, len(p), shown, offers.place[t])
        if chance > 0.0:
            x = rates[n] * events.loss[t] / chance
            if not rounds.update(Fs, Is, Ks, t, counts, offered, p, shown, x, drift, visited):
                return t, n
            found.rows[n] = t
            found.chances[n] = chance
            n += 1
            fresh = t + 1
    return len(events.u), n


@kernel
def _mix_advised(Fs, Is, Ks, t, counts, offers, k, p, scratch, A, advice):
    """`advised.mix` for the arms of pool k alone."""
    here = A[HERE] * _mix(Fs, Is, Ks, t, counts, offers, k, p, scratch)
    beside = A[BESIDE]
    total = here + beside
    first = offers.starts[k]
    for j in range(offers.starts[k + 1] - first):
        p[j] *= here / total
        if offers.members[first + j] == advice:
            p[j] += beside / total


@free_kernel
def run_advised(Fs, Is, Ks, counts, offers, events, memory, p, rate, drift, A, B, cells, advice, found, start, n, most):
    """`run` for a mixture with an advisor. It ends after `most` rows learned from: an epoch is over.

    `advice` has an entry for each place of the memory.
    """
    none = offers.masks[0][:0]
    fresh = start
    for t in range(start, len(events.u)):
        if n == most:
            return t, n
        k, u, shown, cell = events.pool[t], events.u[t], events.shown[t], cells[t, 0]
        visited = True
        if offers.whole[k]:
            offered = none
            rounds.visit(Fs, Is, Ks, t, counts)
            advised_arm = advisor.advise(A, B, cell, none)
            arm, chance = advised.draw(Fs, Is, Ks, t, counts, none, p, u, A, advised_arm)
            if arm != shown:
                chance = 0.0
        else:
            offered = offers.masks[k]
            place = _place(Ks, t, len(memory.row))
            visited = not (_is_kept(memory, place, Ks, t, events.pool, fresh) and cells[memory.row[place], 0] == cell)
            if visited:
                rounds.visit(Fs, Is, Ks, t, counts)
                advice[place] = advisor.advise(A, B, cell, offered)
                _mix_advised(Fs, Is, Ks, t, counts, offers, k, memory.p[place], p, A, advice[place])
                _keep(memory, place, offers.starts[k + 1] - offers.starts[k], t)
            advised_arm = advice[place]
            chance = _chance(offers, k, memory.p[place], memory.sums[place], u, len(p), shown, offers.place[t])
        if chance > 0.0:
            loss = events.loss[t]
            x = rate * loss / chance
            if not advised._learn(Fs, Is, Ks, t, counts, offered, p, shown, loss, x, drift, visited, A, B, cell, advised_arm):
                return t, n
            found.rows[n] = t
            found.chances[n] = chance
            n += 1
            fresh = t + 1
    return len(events.u), n
