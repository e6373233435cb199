"""What a policy would have done with a log: Algorithm 2, and rejection sampling for logs that were not drawn uniformly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import is_number
from .errors import InputError
from .logs import Batch, Log
from .members import room
from .policies import HSB, Policy
from .policies.mixture import Mixture

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PLACES = 256  # of the memory of probabilities
TINY = 1e-9


@dataclass(frozen=True)
class Replay:
    """What came of it. The average is over the rounds in which the policy's arm was the one shown: the policy as it was while it learned.

    >>> Replay(rounds=1000, matched=250, total=10.0, squares=10.0, logged=30.0, rejected=0, skipped=0, low=0.0, high=1.0)
    Replay(rounds=1000, matched=250, average_reward=0.0400, interval=(0.0219, 0.0721))
    """

    rounds: int
    """Events seen."""
    matched: int
    """Those in which the policy chose the arm that was shown, and learned."""
    total: float
    """Sum of the rewards in them."""
    squares: float
    """Sum of their squares."""
    logged: float
    """Sum of the rewards of all events seen: what the log's own policy earned."""
    rejected: int
    """Events passed over to make a log that was not drawn uniformly look as if it were."""
    skipped: int
    """Lines of the log that could not be read."""
    low: float
    high: float
    """The range of rewards."""

    @property
    def clicks(self) -> float:
        """Sum of the rewards: clicks, where a click is 1."""
        return self.total

    @property
    def average_reward(self) -> float:
        """Mean reward of the matched events; NaN where there are none."""
        return self.total / self.matched if self.matched else math.nan

    @property
    def method(self) -> str:
        """How `interval` is computed: "Wilson" where every reward was an end of its range (clicks), else "empirical Bernstein"."""
        reached = self.squares - (self.low + self.high) * self.total + self.matched * self.low * self.high
        return (
            "Wilson" if abs(reached) <= TINY * max(1.0, self.matched) * (self.high - self.low) ** 2 else "empirical Bernstein"
        )

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of the average reward: Wilson's for clicks, else empirical Bernstein (Maurer and Pontil 2009, Theorem 4)."""
        n, width = self.matched, self.high - self.low
        if n < 2:
            return self.low, self.high
        mean = (self.average_reward - self.low) / width
        if self.method == "Wilson":
            z = NormalDist().inv_cdf(0.975)
            middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
            half = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        else:
            middle = mean
            spread = max(0.0, self.squares - self.total * self.total / n) / (n - 1) / width**2
            log = math.log(4 / 0.05)
            half = math.sqrt(2 * spread * log / n) + 7 * log / (3 * (n - 1))
        return self.low + width * max(0.0, middle - half), self.low + width * min(1.0, middle + half)

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Replay(rounds={self.rounds}, matched={self.matched}, average_reward={self.average_reward:.4f}, "
            f"interval=({low:.4f}, {high:.4f}))"
        )


def replay(
    policy: Policy,
    log: Log | Iterable[Batch],
    *,
    context: Callable[[Floats], Any] | None = None,
    floor: float | None = None,
    seed: int = 0,
    progress: Callable[[int, int | None], None] | None = None,
) -> Replay:
    """Let a policy decide on every event of a log; where it chooses the arm that was shown, it learns from what came of it (Algorithm 2).

    The policy goes on from its present state and is changed. It chooses among the arms that the event offered; an arm that it does not know is
    added as it appears. What it learns does not depend on how the log is cut into batches.

    - `log`: from `hsb.logs.open`, or batches.
    - `context`: what turns the log's features (n, d) into the policy's contexts, e.g. a fitted encoder; None uses them as they are.
    - `floor`: a log whose arms were not drawn uniformly from their pools is thinned first: an event shown with propensity p is kept with
      probability floor / p. No propensity may be below it; None finds the smallest by reading the log once more. `seed` draws the thinning.
    - `progress(done, total)` is called after each batch; total is None where the log does not know its length.

    >>> import hsb, hsb.logs, hsb.encode
    >>> log = hsb.logs.SyntheticToday(20_000, seed=1)
    >>> encoder = hsb.encode.Chain(hsb.encode.PCA(1), hsb.encode.MinMax()).fit(log.head(2000))
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=5), arms=log.arms, learning_rate=0.01, seed=0)
    >>> result = replay(policy, log, context=encoder)
    >>> result.rounds, result.matched == policy.rounds, 0.0 < result.interval[0] < result.average_reward < result.interval[1]
    (20000, True, True)
    """
    return replay_all({"policy": policy}, log, context=context, floor=floor, seed=seed, progress=progress)["policy"]


def replay_all(
    policies: Mapping[str, Policy],
    log: Log | Iterable[Batch],
    *,
    context: Callable[[Floats], Any] | None = None,
    floor: float | None = None,
    seed: int = 0,
    progress: Callable[[int, int | None], None] | None = None,
) -> dict[str, Replay]:
    """`replay` for several policies that read the log together, once; each gets what it would get alone.

    >>> import hsb, hsb.logs
    >>> log = hsb.logs.SyntheticToday(5000, seed=1)
    >>> found = replay_all({"a": hsb.Exp3(arms=["id-0"], seed=0), "b": hsb.Uniform(arms=["id-0"], seed=0)}, log)
    >>> found["a"].rounds, found["b"].rounds
    (5000, 5000)
    """
    for policy in policies.values():
        if not isinstance(policy, Policy):
            raise InputError(f"replay needs a policy, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=log.arms); given {policy!r}.")
    if not isinstance(log, Iterable) or isinstance(log, str | bytes):
        raise InputError(f"replay needs a log, e.g. hsb.logs.open(path), or batches; given {log!r}.")
    uniform, floor = _drawn(log, floor)
    thinning = np.random.default_rng([_seed(seed), 0x7265])
    total = len(log) if isinstance(log, Log) and isinstance(log, Sized) else None
    plays = {name: _Play(policy) for name, policy in policies.items()}
    rounds, rejected, logged = 0, 0, 0.0
    for batch in log:
        rounds += len(batch)
        logged += float(batch.reward.sum())
        if not uniform:
            kept = thinning.random(len(batch)) * batch.propensity < _above(floor, batch)
            rejected += len(batch) - int(kept.sum())
            batch = batch.take(kept)
        contexts = batch.contexts if context is None or not len(batch) else context(batch.contexts)
        for play in plays.values():
            play.batch(batch, contexts)
        if progress is not None:
            progress(rounds, total)
    skipped = len(log.problems) if isinstance(log, Log) else 0
    return {
        name: Replay(rounds, play.matched, play.total, play.squares, logged, rejected, skipped, *play.policy.loss_range)
        for name, play in plays.items()
    }


def _seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0; given {seed!r}.")
    return int(seed)


def _drawn(log: Log | Iterable[Batch], floor: float | None) -> tuple[bool, float]:
    """Was the log drawn uniformly, and if not, the smallest propensity."""
    if floor is not None:
        if not is_number(floor) or not 0.0 < floor <= 1.0:
            raise InputError(f"floor must be in (0, 1], a propensity that no event falls below; given {floor!r}.")
        return False, float(floor)
    if isinstance(log, Log) and log.uniform:
        return True, 1.0
    if hasattr(log, "__next__"):
        raise InputError(
            "An iterator can be read only once. Give a log or a list of batches, or floor=, the smallest propensity."
        )
    uniform, least = True, 1.0
    for batch in log:
        uniform = uniform and batch.is_uniform
        least = min(least, float(batch.propensity.min(initial=1.0)))
    return uniform, least


def _above(floor: float, batch: Batch) -> float:
    if len(batch) and batch.propensity.min() < floor:
        raise InputError(
            f"An event was shown with propensity {batch.propensity.min()}, below the floor {floor}. Give a smaller floor=."
        )
    return floor


class _Play:
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
        us = policy._rng.random(len(pool))
        shown = self.places[batch.arm[rows]]
        found = _bulk(policy)(policy, points[rows], masks, pool, shown, losses[rows], us)
        rewards = batch.reward[rows][found]
        self.matched += len(found)
        self.total += float(rewards.sum())
        self.squares += float(rewards @ rewards)
        policy._version += 1


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
    from .kernels import replay as kernels

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
