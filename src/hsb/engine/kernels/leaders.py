"""Rounds of policies that follow a best mapping: of perturbed totals (CSB-FTPL), of explored rounds (Epoch-Greedy), or a known one.

No randomness comes from outside: the noise of a decision comes from its u, by number (`splitmix.py`). So a decision is a pure function of
state, context and u. `available` and the rows of `masks` are empty if every arm is available; `work` (`oracle.Work`) is empty if each leaf is
a region.

A kernel that learns also counts its rounds: in `seen[0]`, or in the last word of Epoch-Greedy's `counts`. Those are the explored rounds, the
remaining exploiting rounds, and the rounds learned.
"""

import math

import numpy as np

from . import maths, oracle
from .jit import kernel
from .oracle import Work  # noqa: F401  an argument type of kernels
from .splitmix import STEP, inside, mixed, seeded

LOWEST = np.uint64(1)
MOST = 1e280  # cap on one loss: a propensity near 0 must not make a total infinite


@kernel("u l")
def laplace(key, number):
    """Return the Laplace number of mean size 1 with that number: the sign from the lowest bit, the size from the highest 53."""
    bits = mixed(key + np.uint64(number) * STEP)
    size = -maths.log(inside(bits))
    return size if bits & LOWEST else -size


@kernel("D2 l C1 d u l Work(D2 D2 D1 L1 I3 L1)")
def draw(totals, leaf, available, noise, key, number, work):
    """Return the arm of the best mapping of freshly perturbed totals; if it is not available, the best available arm by those totals.

    `number` counts the draws of a decision. If each leaf is a region, only its row is perturbed.
    """
    N, M = totals.shape
    if len(work.lows) == 0:
        best, least = -1, np.inf
        for m in range(M):
            if len(available) == 0 or available[m]:
                value = totals[leaf, m] + noise * laplace(key, number * M + m)
                if best < 0 or value < least:
                    best, least = m, value
        return best
    noisy = work.noisy
    first = number * N * M
    for i in range(N):
        for m in range(M):
            noisy[i, m] = totals[i, m] + noise * laplace(key, first + i * M + m)
    oracle.best_regions(noisy, work, work.mapping)
    return play(work.mapping, noisy, leaf, available)


@kernel("D2 l C1 d l Work(D2 D2 D1 L1 I3 L1) d")
def perturbed(totals, leaf, available, noise, most, work, u):
    """Return CSB-FTPL's arm, and the number of draws until it came again, at most `most`: an estimate of 1 / its probability."""
    key = seeded(u)
    arm = draw(totals, leaf, available, noise, key, 0, work)
    count = 1
    while count < most and draw(totals, leaf, available, noise, key, count, work) != arm:
        count += 1
    return arm, count


@kernel("D2 l l d d L1")
def learn_perturbed(totals, leaf, arm, loss, propensity, seen):
    """Add the loss of a round, divided by its propensity, to the total of its leaf and arm."""
    totals[leaf, arm] += min(loss / propensity, MOST)
    seen[0] += 1


@kernel("D2 L2 C2 D2 D1 D1 L1 Work(D2 D2 D1 L1 I3 L1) L1 D1 L1")
def play_perturbed(totals, leaves, masks, losses, us, noises, mosts, work, played, probabilities, seen):
    """Play whole rounds of CSB-FTPL."""
    for t in range(len(us)):
        leaf = leaves[t, 0]
        arm, count = perturbed(totals, leaf, masks[t], noises[t], mosts[t], work, us[t])
        played[t] = arm
        probabilities[t] = 1.0 / count
        learn_perturbed(totals, leaf, arm, losses[t, arm], probabilities[t], seen)


@kernel("D2 l C1 d l Work(D2 D2 D1 L1 I3 L1) D1")
def count_draws(totals, leaf, available, noise, draws, work, p):
    """Set p to each arm's share of `draws` draws; the draws are always the same."""
    for m in range(len(p)):
        p[m] = 0.0
    key = seeded(0.0)
    for k in range(draws):
        p[draw(totals, leaf, available, noise, key, k, work)] += 1.0
    for m in range(len(p)):
        p[m] /= draws


@kernel("L1 D2 l C1")
def play(mapping, totals, leaf, available):
    """Return the mapping's arm; if it is not available, the best available arm by the leaf's totals."""
    arm = mapping[leaf]
    if len(available) and not available[arm]:
        arm = oracle.best_available(totals[leaf], available)
    return arm


@kernel("L1 D2 L2 C2 L1")
def play_known(mapping, totals, leaves, masks, played):
    """Play whole rounds of a fixed mapping."""
    for t in range(len(played)):
        played[t] = play(mapping, totals, leaves[t, 0], masks[t])


@kernel("L1 D2 L1 l C1 d")
def explore_or_exploit(mapping, totals, counts, leaf, available, u):
    """Return the arm and its probability."""
    if counts[1] > 0:
        return play(mapping, totals, leaf, available), 1.0
    M = totals.shape[1]
    choices = 0
    for m in range(M):
        choices += len(available) == 0 or available[m] != 0
    nth = min(int(u * choices), choices - 1)
    for m in range(M):
        if len(available) == 0 or available[m]:
            if nth == 0:
                return m, 1.0 / choices
            nth -= 1
    return M - 1, 1.0  # not reached


@kernel("L1 D2 L1 l l d d d Work(D2 D2 D1 L1 I3 L1)")
def learn_epoch(mapping, totals, counts, leaf, arm, loss, propensity, price, work):
    """Learn a round. A probability below 1 means it explored: add its loss, and earn sqrt(n / price) rounds to exploit. Else count one off."""
    counts[2] += 1
    if propensity == 1.0:
        counts[1] = max(counts[1] - 1, 0)
        return
    totals[leaf, arm] += min(loss / propensity, MOST)
    counts[0] += 1
    counts[1] += int(math.sqrt(counts[0] / price))
    if len(work.lows) == 0:
        mapping[leaf] = oracle.best_available(totals[leaf], counts[:0])
    elif loss > 0.0:  # else the totals stay
        oracle.best_regions(totals, work, mapping)


@kernel("L1 D2 L1 L2 C2 D2 D1 d Work(D2 D2 D1 L1 I3 L1) L1 D1")
def play_epochs(mapping, totals, counts, leaves, masks, losses, us, price, work, played, probabilities):
    """Play whole rounds of Epoch-Greedy."""
    for t in range(len(us)):
        leaf = leaves[t, 0]
        arm, probability = explore_or_exploit(mapping, totals, counts, leaf, masks[t], us[t])
        played[t] = arm
        probabilities[t] = probability
        learn_epoch(mapping, totals, counts, leaf, arm, losses[t, arm], probability, price, work)
