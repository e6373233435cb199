"""Learning from the decisions that a log holds, with the propensities that they were made with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..logs import Batch, Log
from ..members import room
from ..policies import HSB, Policy
from ..policies.mixture import Mixture
from ..types import Floats, Ints
from .rounds import Play


def learn_from(
    policy: Policy,
    log: Log | Iterable[Batch],
    *,
    context: Callable[[Floats], Any] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> int:
    """Let a policy learn every event of a log, as `policy.learn` of the logged decision would; how many it learned.

    Unlike a replay no event is passed over: each is weighed by the inverse of its own propensity. The policy chooses nothing.
    An arm that the policy does not know is added as it appears; an event whose arm was removed is left out. `context` and `progress` as for
    `hsb.replay`. Compiled for mixtures.

    >>> import hsb
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=2), arms=["a", "b"], learning_rate=0.5)
    >>> batch = Batch.of(contexts=[[0.1], [0.7]], arm=[0, 1], reward=[1, 0], propensity=[0.5, 0.5], arms=["a", "b"])
    >>> learn_from(policy, [batch]), policy.rounds
    (2, 2)
    """
    if not isinstance(policy, Policy):
        raise InputError(f"learn_from needs a policy, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=log.arms); given {policy!r}.")
    if not isinstance(log, Iterable) or isinstance(log, str | bytes):
        raise InputError(f"learn_from needs a log, e.g. hsb.logs.open(path), or batches; given {log!r}.")
    total = len(log) if isinstance(log, Log) and isinstance(log, Sized) else None
    play, rounds, before = _Learning(policy), 0, policy.rounds
    for batch in log:
        rounds += len(batch)
        play.batch(batch, batch.contexts if context is None or not len(batch) else context(batch.contexts))
        if progress is not None:
            progress(rounds, total)
    return policy.rounds - before


class _Learning(Play):
    """A policy that learns what was shown instead of choosing."""

    def _learn(
        self, batch: Batch, rows: Any, points: NDArray[Any], masks: NDArray[np.uint8], pool: Ints, losses: Floats
    ) -> Ints:
        policy = self.policy
        shown, chances = self.places[batch.arm[rows]], batch.propensity[rows]
        bad = ~((chances > 0.0) & (chances <= 1.0))
        if bad.any():
            raise InputError(
                f"An event has propensity {chances[int(np.argmax(bad))]}; "
                "it must be in (0, 1], the probability with which the arm was shown."
            )
        found = np.flatnonzero(masks[pool, shown])  # of the others, the arm was removed
        if len(found):
            events = _Events(points[found], masks, pool[found], shown[found], losses[found], chances[found])
            if isinstance(policy, HSB) and policy._advisor is not None:
                _advised(policy, events)
            elif isinstance(policy, Mixture):
                _mixture(policy, events)
            else:
                _one_by_one(policy, events)
        return found


class _Events(NamedTuple):
    """Rows to be learned, all of them."""

    points: NDArray[Any]
    masks: NDArray[np.uint8]
    pool: Ints
    arm: Ints
    losses: Floats
    chances: Floats


def _one_by_one(policy: Policy, events: _Events) -> None:
    """For policies without a kernel of their own."""
    offers = [policy._everything if mask.all() else mask for mask in events.masks]
    for t in range(len(events.arm)):
        policy._locate(events.points[t], count=False)
        policy._update(offers[events.pool[t]], int(events.arm[t]), float(events.losses[t]), float(events.chances[t]))
        policy.rounds += 1
        policy._version += 1


def _mixture(policy: Mixture, events: _Events) -> None:
    from ..kernels import learning as kernels

    points, *rest = events
    n, first, done = len(events.arm), policy.rounds + 1, 0
    keys = policy._table_keys(points)
    rate = policy.learning_rate
    rates = policy._anytime(np.arange(first, first + n, dtype=np.float64)) if rate is None else np.full(n, rate)
    masks, pool, *what = rest
    while True:
        done = kernels.learn(
            policy._Fs, policy._Is, keys, policy._counts, masks, pool, policy._p, *what, rates, policy._drift, done
        )
        if done == n:
            break
        policy._set_members([room(member) for member in policy._members])
    policy._count_all(rates, events.losses, events.chances, falling=rate is None)
    policy.rounds += n


def _advised(policy: HSB, events: _Events) -> None:
    from ..kernels import learning as kernels

    points, masks, pool, *what = events
    *keys, cells = policy._table_keys(points)
    assert policy._advisor is not None
    n, done = len(events.arm), 0
    while done < n:
        end, rate, drift = policy._epoch()
        begin, stop = done, min(n, done + end - policy.rounds)  # where the rate or the drift changes
        while True:
            done = kernels.learn_advised(
                *(policy._Fs, policy._Is, tuple(keys), policy._counts, masks, pool, policy._p, *what),
                *(rate, drift, *policy._advisor, cells, done, stop),
            )
            if done == stop:
                break
            policy._set_members([room(member) for member in policy._members])
        part = slice(begin, stop)
        policy._count_all(np.full(stop - begin, rate), events.losses[part], events.chances[part], falling=False)
        policy.rounds += stop - begin
        if policy.rounds == end and policy.learning_rate is None:
            policy._restart()
