"""A policy on its way through a log: batch by batch, compiled where it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..logs import Batch
from ..members import room
from ..policies import HSB, Policy
from ..policies.mixture import Mixture
from ..types import Floats, Ints

PLACES = 256  # of the memory of probabilities


class Play:
    """A policy on its way through a log."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.places = np.zeros(0, dtype=np.int64)  # of the log's arms among the policy's; -1: not there yet
        self.matched, self.total, self.squares = 0, 0.0, 0.0

    def batch(self, batch: Batch, contexts: Any) -> None:
        """Play a batch, in pieces: a piece ends where an arm appears that the policy does not know."""
        policy = self.policy
        if not len(batch):
            return
        points, clipped = policy._check_contexts(contexts)
        if len(points) != len(batch):
            raise InputError(f"context must give a row for each of the {len(batch)} events; it gave {len(points)}.")
        low, high = policy.loss_range
        if not (batch.reward.min() >= low and batch.reward.max() <= high):
            row = int(np.argmin((batch.reward >= low) & (batch.reward <= high)))
            raise InputError(
                f"A reward is {batch.reward[row]}, outside [{low}, {high}]. Give the policy loss_range=(low, high)."
            )
        losses = (high - batch.reward) / (high - low)
        policy.clipped += clipped
        known = len(self.places)
        new = [policy._index.get(arm, -1) for arm in batch.arms[known:]]
        self.places = np.append(self.places, np.array(new, dtype=np.int64))
        begin = 0
        for row, pool in self._arrivals(batch):
            self._piece(batch, points, losses, begin, row)
            self._add(batch, pool)
            begin = row
        self._piece(batch, points, losses, begin, len(batch))

    def _arrivals(self, batch: Batch) -> list[tuple[int, int]]:
        """The rows, in order, whose pool has arms that no earlier row had and the policy does not know; and that pool."""
        known = self.places >= 0
        if known.all():
            return []
        pools, first = np.unique(batch.pool, return_index=True)
        arrivals = []
        for k in np.argsort(first):
            members = batch.pools[pools[k]]
            if not known[members].all():
                arrivals.append((int(first[k]), int(pools[k])))
                known[members] = True
        return arrivals

    def _add(self, batch: Batch, pool: int) -> None:
        for arm in batch.pools[pool]:
            if self.places[arm] < 0:
                self.places[arm] = len(self.policy.arms)
                self.policy.add_arm(batch.arms[arm])

    def _piece(self, batch: Batch, points: NDArray[Any], losses: Floats, begin: int, end: int) -> None:
        """Rows whose arms the policy knows."""
        if begin == end:
            return
        policy = self.policy
        pool = batch.pool[begin:end]
        used = np.flatnonzero(np.bincount(pool))
        renumber = np.zeros(used[-1] + 1, dtype=np.int64)
        renumber[used] = np.arange(len(used))
        pool = renumber[pool]
        masks = np.zeros((len(used), len(policy.arms)), dtype=np.uint8)
        for k, number in enumerate(used):
            masks[k, self.places[batch.pools[number]]] = 1
        if policy._removed:
            masks &= policy._all
        rows: Any = slice(begin, end)
        some = np.asarray(masks.any(axis=1))
        if not some.all():  # nothing that the policy may play was on offer
            offers = some[pool]
            rows, pool = begin + np.flatnonzero(offers), pool[offers]
        found = self._learn(batch, rows, points[rows], masks, pool, losses[rows])
        rewards = batch.reward[rows][found]
        self.matched += len(found)
        self.total += float(rewards.sum())
        self.squares += float(rewards @ rewards)
        policy._version += 1

    def _learn(
        self, batch: Batch, rows: Any, points: NDArray[Any], masks: NDArray[np.uint8], pool: Ints, losses: Floats
    ) -> Ints:
        """Choose, and learn where the choice is what was shown; which of the rows were learned."""
        us = self.policy._rng.random(len(pool))
        shown = self.places[batch.arm[rows]]
        return _bulk(self.policy)(self.policy, points, masks, pool, shown, losses, us)


Bulk = Callable[[Any, NDArray[Any], NDArray[np.uint8], Ints, Ints, Floats, Floats], Ints]


def _bulk(policy: Policy) -> Bulk:
    """How to play a piece: points, masks, pools, arms shown, scaled losses and u's in; out come the rows learned from."""
    if isinstance(policy, HSB) and policy._advisor is not None:
        return _advised
    if isinstance(policy, Mixture):
        return _mixture
    return _one_by_one


def _one_by_one(
    policy: Policy, points: NDArray[Any], masks: NDArray[np.uint8], pool: Ints, shown: Ints, losses: Floats, us: Floats
) -> Ints:
    """For policies without a kernel of their own."""
    offers = [policy._everything if mask.all() else mask for mask in masks]
    found = []
    for t in range(len(us)):
        offered = offers[pool[t]]
        policy._locate(points[t], count=False)
        index, propensity = policy._choose(offered, float(us[t]))
        if index == shown[t]:
            policy._update(offered, index, float(losses[t]), propensity)
            policy.rounds += 1
            policy._version += 1
            found.append(t)
    return np.array(found, dtype=np.int64)


def _tables(policy: Mixture, masks: NDArray[np.uint8], pool: Ints, shown: Ints, losses: Floats, us: Floats) -> tuple[Any, ...]:
    """What the kernels take."""
    from ..kernels import replay as kernels

    members = [np.flatnonzero(mask) for mask in masks]
    starts = np.concatenate([[0], np.cumsum([len(arms) for arms in members])]).astype(np.int64)
    places = np.where(masks > 0, np.cumsum(masks, axis=1, dtype=np.int64) - 1, -1)[pool, shown]
    whole = np.asarray(masks.all(axis=1))
    offers = kernels.Offers(masks, starts, np.concatenate(members).astype(np.int64), places, whole)
    shape = (PLACES, len(policy.arms))
    memory = kernels.Memory(np.empty(shape), np.empty(shape), np.full(PLACES, -1, dtype=np.int64))
    found = kernels.Found(np.empty(len(us), dtype=np.int64), np.empty(len(us)))
    return kernels, offers, kernels.Events(pool, shown, losses, us), memory, found


def _mixture(
    policy: Mixture, points: NDArray[Any], masks: NDArray[np.uint8], pool: Ints, shown: Ints, losses: Floats, us: Floats
) -> Ints:
    kernels, offers, events, memory, found = _tables(policy, masks, pool, shown, losses, us)
    keys, first = policy._table_keys(points), policy.rounds + 1
    if policy.learning_rate is not None:
        rates = np.full(len(us), policy.learning_rate)
    else:
        rates = policy._anytime(np.arange(first, first + len(us), dtype=np.float64))
    done = n = 0
    while True:
        done, n = kernels.run(
            *(policy._Fs, policy._Is, keys, policy._counts, offers, events, memory),
            *(policy._p, rates, policy._drift, found, done, n),
        )
        if done == len(us):
            break
        policy._set_members([room(member) for member in policy._members])
    rows: Ints = found.rows[:n]
    policy._count_all(rates[:n], losses[rows], found.chances[:n], falling=policy.learning_rate is None)
    policy.rounds += n
    return rows


def _advised(
    policy: HSB, points: NDArray[Any], masks: NDArray[np.uint8], pool: Ints, shown: Ints, losses: Floats, us: Floats
) -> Ints:
    kernels, offers, events, memory, found = _tables(policy, masks, pool, shown, losses, us)
    *keys, cells = policy._table_keys(points)
    assert policy._advisor is not None
    advice = np.zeros(PLACES, dtype=np.int64)
    done = n = counted = 0
    while done < len(us):
        end, rate, drift = policy._epoch()
        most = n + end - policy.rounds  # where the rate or the drift changes
        before = n
        done, n = kernels.run_advised(
            *(policy._Fs, policy._Is, tuple(keys), policy._counts, offers, events, memory),
            *(policy._p, rate, drift, *policy._advisor, cells, advice, found, done, n, most),
        )
        policy.rounds += n - before
        if n == most or done == len(us):
            rows = found.rows[counted:n]
            policy._count_all(np.full(n - counted, rate), losses[rows], found.chances[counted:n], falling=False)
            counted = n
        if n == most:
            if policy.learning_rate is None:
                policy._restart()
        elif done < len(us):
            policy._set_members([room(member) for member in policy._members])
    learned: Ints = found.rows[:n]
    return learned
