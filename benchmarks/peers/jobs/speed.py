"""Microseconds a round: one at a time, a thousand at a time, and whole tables where a library can."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

from ..base import Algorithm, BatchPlayer, BulkPlayer, Player, Table
from ..features import encode
from ..play import read
from .losses import said

WARM = 60  # rounds before the clock starts
PIECE = 20  # rounds between two looks at it
BATCH = 1000


def speed(algorithm: Algorithm, item: dict[str, Any], seconds: float) -> dict[str, Any]:
    """One encoding with one setting; µs a round, the median over pieces."""
    found: dict[str, Any] = {"encoding": item["encoding"], "settings": item["settings"]}
    world = read(item["path"])
    X = encode(world.contexts, item["encoding"], algorithm.constant)
    losses = np.array([[world.loss(t, arm) for arm in range(world.arms)] for t in range(len(X))])

    def fresh() -> Player:
        return algorithm.make(Table(world.arms, X.shape[1], len(X), 1), item["settings"])

    try:
        found |= _one_at_a_time(fresh(), X, losses, seconds / 2)
        player = fresh()
        if isinstance(player, BatchPlayer):
            found["batch"] = _batch(player, X, losses, seconds / 2)
        if isinstance(player, BulkPlayer):
            found["bulk"] = _bulk(fresh, X, losses, seconds / 2)
    except Exception as error:  # whatever the library raises is the result
        found["error"] = said(error)
    return found


def _one_at_a_time(player: Player, X: Any, losses: Any, seconds: float) -> dict[str, float]:
    rows, table = player.prepare(X), losses.tolist()
    pieces: list[float] = []
    t = 0
    end = float("inf")
    while t + PIECE <= len(X) and (len(pieces) < 2 or time.perf_counter() < end):
        begin = time.perf_counter()
        try:
            for s in range(t, t + PIECE):
                play = player.decide(rows[s])
                player.learn(rows[s], play, table[s][play.arm])
        except Exception:  # how it ends is for other jobs to say; until then it was timed
            if len(pieces) < 2:
                raise
            break
        if t >= WARM:
            pieces.append(time.perf_counter() - begin)
        else:
            end = time.perf_counter() + seconds
        t += PIECE
    return {"one": 1e6 * median(pieces) / PIECE, "rounds": t}


def _batch(player: BatchPlayer, X: Any, losses: Any, seconds: float) -> float:
    rows = player.prepare(X)
    for t in range(WARM):
        player.learn(rows[t], player.decide(rows[t]), 0.5)
    pieces: list[float] = []
    end = time.perf_counter() + seconds
    for t in range(0, len(X) - BATCH + 1, BATCH):
        part = rows[t : t + BATCH]
        begin = time.perf_counter()
        plays = player.decide_many(part)
        player.learn_many(part, plays, losses[range(t, t + BATCH), [play.arm for play in plays]])
        pieces.append(time.perf_counter() - begin)
        if time.perf_counter() > end:
            break
    return 1e6 * median(pieces) / BATCH


def _bulk(fresh: Any, X: Any, losses: Any, seconds: float) -> float:
    pieces: list[float] = []
    end = time.perf_counter() + seconds
    while len(pieces) < 2 or time.perf_counter() < end:
        player = fresh()
        begin = time.perf_counter()
        player.run(X, losses)
        pieces.append(time.perf_counter() - begin)
    return 1e6 * median(pieces[1:]) / len(X)
