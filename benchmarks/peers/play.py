"""A player in a world: who decides, who learns, what it cost."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from .base import BatchPlayer, BulkPlayer, Floats, Player

SHARE = 20  # a batch is at most one part in so many of the rounds played


class World(ABC):
    """Contexts known from the start, and a loss for the arm that is played."""

    contexts: Floats
    arms: int

    @abstractmethod
    def loss(self, t: int, arm: int) -> float:
        """Of round t. Called once a round, in order."""

    def best(self) -> float | None:
        """The total loss of the best mapping from 32 cells to arms, on the losses that were set for this player; None where they are fixed."""
        return None


class Tabled(World):
    """Losses fixed in advance."""

    def __init__(self, contexts: Floats, losses: Any) -> None:
        self.contexts = contexts
        self.arms = losses.shape[1]
        self.losses = losses
        self._rows: list[list[float]] = losses.tolist()

    def loss(self, t: int, arm: int) -> float:
        """From the table."""
        return self._rows[t][arm]


class Reacting(World):
    """An adversary that sees the arms played so far: in each of 16 cells, the arm played most often in the last nine visits loses with
    probability 0.9, the others as the table of expected losses says.
    """

    CELLS, MEMORY, FINE = 16, 9, 2

    def __init__(self, contexts: Floats, expected: Floats, seed: int) -> None:
        self.contexts = contexts
        self.arms = expected.shape[1]
        self._expected = expected.tolist()
        self._u = np.random.default_rng([seed, 0xAD5E]).random(len(contexts)).tolist()
        fine = np.minimum((contexts[:, 0] * self.CELLS * self.FINE).astype(int), self.CELLS * self.FINE - 1)
        self._fine, self._cell = fine.tolist(), (fine // self.FINE).tolist()
        self._last: list[list[int]] = [[] for _ in range(self.CELLS)]
        self._count = [[0] * self.arms for _ in range(self.CELLS)]
        self._sums = [[0] * self.arms for _ in range(self.CELLS * self.FINE)]

    def loss(self, t: int, arm: int) -> float:
        """Set before the arm of this round is looked at."""
        last, count = self._last[self._cell[t]], self._count[self._cell[t]]
        most = max(count) if last else -1
        u, sums = self._u[t], self._sums[self._fine[t]]
        losses = [u < (0.9 if n == most else probability) for n, probability in zip(count, self._expected[t], strict=True)]
        for a, lost in enumerate(losses):
            sums[a] += lost
        last.append(arm)
        count[arm] += 1
        if len(last) > self.MEMORY:
            count[last.pop(0)] -= 1
        return float(losses[arm])

    def best(self) -> float:
        """In hindsight."""
        return float(sum(map(min, self._sums)))


class Outcome(NamedTuple):
    """Rounds played, the average loss, and seconds, all of it included; against an adversary also the average regret."""

    rounds: int
    loss: float
    seconds: float
    regret: float | None = None


def play(player: Player, world: World, X: Floats, *, batch: int = 1, seconds: float = float("inf"), delay: int = 0) -> Outcome:
    """Play all rounds, or as many as the seconds allow. `X` are the encoded contexts. Losses come `delay` rounds late.

    In batches where the player can; as a whole table where it then learns after every round all the same.
    """
    begin = time.perf_counter()
    if isinstance(player, BulkPlayer) and isinstance(world, Tabled) and not delay:
        arms = player.run(X, np.asarray(world.losses[: len(X)], dtype=np.float64))
        total = sum(world.loss(t, arm) for t, arm in enumerate(arms.tolist()))
        return Outcome(len(X), total / len(X), time.perf_counter() - begin)
    outcome = play_prepared(player, world, player.prepare(X), batch=batch, seconds=seconds, delay=delay)
    return outcome._replace(seconds=time.perf_counter() - begin)


def play_prepared(
    player: Player, world: World, rows: Any, *, batch: int = 1, seconds: float = float("inf"), delay: int = 0
) -> Outcome:
    """The same with rows that are in the library's own form already, a round or a batch at a time."""
    begin = time.perf_counter()
    rounds, t, total = len(rows), 0, 0.0
    if batch > 1 and isinstance(player, BatchPlayer):
        while t < rounds and (t < 2 or time.perf_counter() - begin < seconds):
            size = min(batch, max(1, t // SHARE), rounds - t)
            part = rows[t : t + size]
            plays = player.decide_many(part)
            losses = np.array([world.loss(t + i, one.arm) for i, one in enumerate(plays)])
            player.learn_many(part, plays, losses)
            total += losses.sum()
            t += size
    else:
        waiting: list[tuple[int, Any, float]] = []
        while t < rounds and (t < 2 or time.perf_counter() - begin < seconds):
            one = player.decide(rows[t])
            loss = world.loss(t, one.arm)
            total += loss
            if not delay:
                player.learn(rows[t], one, loss)
            else:
                waiting.append((t, one, loss))
                if t >= delay:
                    s, then, late = waiting[t - delay]
                    player.learn(rows[s], then, late)
            t += 1
    best = world.best()
    return Outcome(t, total / t, time.perf_counter() - begin, None if best is None else (total - best) / t)


def read(path: str) -> World:
    """A world that `problems.write` wrote; fresh, for one player."""
    with np.load(path) as data:
        if "expected" in data:
            return Reacting(data["contexts"], data["expected"], int(data["seed"]))
        return Tabled(data["contexts"], data["losses"])
