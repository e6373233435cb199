"""Ten million rounds of one easy problem: does it arrive, how does it slow down, what does it keep?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from ..base import Algorithm, BatchPlayer, BulkPlayer, Player, Table
from ..features import encode
from .losses import said

PIECE = 10_000  # rounds of one table, gone through again and again
ARMS = 3


def long(algorithm: Algorithm, item: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Batches or whole tables where the library has them: its fastest way."""
    rng = np.random.default_rng([7, 0x1046])
    X = encode(rng.random((PIECE, 1)), algorithm.encodings[-1], algorithm.constant)
    losses = (rng.random((PIECE, ARMS)) < np.array([0.2, 0.5, 0.8])).astype(float)
    player = algorithm.make(Table(ARMS, X.shape[1], item["rounds"], 1), algorithm.default)
    step = _bulk if isinstance(player, BulkPlayer) else _batch if isinstance(player, BatchPlayer) else _single
    rows, table = player.prepare(X), losses.tolist()
    done, started = 0, time.perf_counter()
    marks = [(0, 0.0, _memory())]
    error, limit = None, seconds
    while done < item["rounds"] and marks[-1][1] < limit:
        try:
            done = step(player, X, rows, losses, table, done, started + limit)
        except Exception as raised:  # how it ends is the result
            error = said(raised)
            break
        marks.append((done, time.perf_counter() - started, _memory()))
        if len(marks) == 3 and marks[-1][1] / done * item["rounds"] <= item["patience"]:
            limit = 1.5 * item["patience"]  # it will arrive
    (half, half_seconds, half_memory), (last, took, memory) = marks[(len(marks) - 1) // 2], marks[-1]
    return {
        "rounds": done,
        "seconds": took,
        "mode": {_bulk: "whole tables", _batch: "batches of 1,000", _single: "one at a time"}[step],
        "slower": ((took - half_seconds) / max(last - half, 1)) / (half_seconds / half) if half else None,
        "bytes_a_round": (memory - half_memory) / max(last - half, 1),
        "error": error,
    }


def _bulk(player: Any, X: Any, rows: Any, losses: Any, table: Any, done: int, end: float) -> int:
    player.run(X, losses)
    return done + PIECE


def _batch(player: Any, X: Any, rows: Any, losses: Any, table: Any, done: int, end: float) -> int:
    for t in range(0, PIECE, 1000):
        part = rows[t : t + 1000]
        plays = player.decide_many(part)
        player.learn_many(part, plays, losses[range(t, t + 1000), [play.arm for play in plays]])
        done += 1000
        if time.perf_counter() > end:
            break
    return done


def _single(player: Player, X: Any, rows: Any, losses: Any, table: Any, done: int, end: float) -> int:
    for t in range(PIECE):
        play = player.decide(rows[t])
        player.learn(rows[t], play, table[t][play.arm])
        done += 1
        if done % 200 == 0 and time.perf_counter() > end:
            break
    return done


def _memory() -> int:
    """Bytes resident now; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0
