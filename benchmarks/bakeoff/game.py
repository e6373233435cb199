"""One pass over one table: an arm for each class, loss 1 if it is the wrong one, only the loss of the arm played is seen."""

from __future__ import annotations

import base64
import gc
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers.base import Algorithm, BulkPlayer
from peers.base import Table as Sizes
from peers.jobs.losses import said
from peers.jobs.size import peak
from peers.play import Tabled, play, play_prepared

from .tables import Table, order

PATIENCE = 2.0  # seconds of a pass after which its end is predicted
LOOK = 16  # rounds between two looks at the clock
Bits = NDArray[np.bool_]
_warm: set[str] = set()


class TooSlow(Exception):
    """A pass that will not end in its time."""


class Pass(Tabled):
    """The rows of a table in an order; remembers the losses, and ends what takes too long."""

    def __init__(self, arms: Any, classes: int, seconds: float) -> None:
        super().__init__(np.zeros((len(arms), 0)), (1 - np.eye(classes))[arms])
        self.seen = np.zeros(len(arms), dtype=bool)
        self.played = 0
        self._begin, self._seconds, self._steady = time.perf_counter(), seconds, False

    def begin(self, *, steady: bool) -> None:
        """The clock starts. Steady: every round is like the others, so that after some of them the end is predicted."""
        self._begin, self._steady = time.perf_counter(), steady

    def loss(self, t: int, arm: int) -> float:
        """1 if the class is another."""
        found = super().loss(t, arm)
        self.seen[t] = found > 0
        self.played = t + 1
        if t % LOOK == 0:
            self._look(t + 1)
        return found

    def _look(self, played: int) -> None:
        took = time.perf_counter() - self._begin
        predicted = self._steady and took > PATIENCE and took / played * len(self.seen) > 2 * self._seconds
        if took > self._seconds or predicted:
            raise TooSlow


def one_pass(algorithm: Algorithm, item: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The losses of every round, seconds, and what the process grew by; or why there are none."""
    table = _table(item["path"])
    rows = order(len(table), item["permutation"])
    contexts = _contexts(item["path"], item["form"], algorithm.constant)
    X = [contexts[row] for row in rows.tolist()] if isinstance(contexts, list) else np.ascontiguousarray(contexts[rows])
    world = Pass(table.arms[rows], len(table.classes), seconds)
    width = len(table.columns) if isinstance(contexts, list) else contexts.shape[1]
    sizes = Sizes(len(table.classes), width, len(table), item["permutation"] + 1)
    before = 0
    try:
        if algorithm.name not in _warm:  # whatever is loaded or compiled at first use
            play(algorithm.make(sizes, item["settings"]), Pass(table.arms[rows[:2]], len(table.classes), seconds), X[:2])
            _warm.add(algorithm.name)
        gc.collect()
        player = algorithm.make(sizes, item["settings"])
        bulk = isinstance(player, BulkPlayer)
        prepared = X if bulk else player.prepare(X)
        before = peak(anew=True)
        world.begin(steady=not bulk and algorithm.batch == 1)  # batches grow
        outcome = play(player, world, X) if bulk else play_prepared(player, world, prepared, batch=algorithm.batch)
    except TooSlow:
        return {"slow": seconds, "rounds": world.played, "bytes": peak() - before}
    except Exception as error:  # whatever the library raises is the result
        return {"error": said(error)}
    found = {"losses": packed(world.seen), "rounds": len(table), "loss": float(world.seen.mean()), "seconds": outcome.seconds}
    return found | {"bytes": peak() - before}  # right for a process of its own: others find room that was left


def packed(losses: Bits) -> str:
    """Zeros and ones as text, eight in a byte.

    >>> packed(np.array([True, False, True])), unpacked(packed(np.array([True, False, True])), 3)
    ('oA==', array([ True, False,  True]))
    """
    return base64.b64encode(np.packbits(losses).tobytes()).decode()


def unpacked(text: str, rounds: int) -> Bits:
    """What `packed` was given."""
    return np.unpackbits(np.frombuffer(base64.b64decode(text), dtype=np.uint8), count=rounds).astype(bool)


@lru_cache(maxsize=2)
def _table(path: str) -> Table:
    return Table(Path(path))


@lru_cache(maxsize=2)
def _contexts(path: str, form: str, constant: bool) -> Any:
    table = _table(path)
    if form == "mixed":
        return table.rows
    X = table.numbers(form)
    return np.column_stack([X, np.ones(len(X))]) if constant else X
