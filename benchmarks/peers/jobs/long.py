"""Ten million rounds of one easy problem: does it arrive, how does it slow down, what does it keep?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..base import Algorithm, BatchPlayer, BulkPlayer, Table
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
    game = Game(player, X, player.prepare(X), losses, losses.tolist())
    started = time.perf_counter()
    marks = [(0, 0.0, _memory())]
    error, limit = None, seconds
    while game.done < item["rounds"] and marks[-1][1] < limit:
        try:
            step(game, started + limit)
        except Exception as raised:  # how it ends is the result
            error = said(raised)
            break
        marks.append((game.done, time.perf_counter() - started, _memory()))
        if len(marks) == 3 and marks[-1][1] / game.done * item["rounds"] <= item["patience"]:
            limit = 1.5 * item["patience"]  # it will arrive
    (half, half_seconds, half_memory), (last, took, memory) = marks[(len(marks) - 1) // 2], marks[-1]
    return {
        "rounds": game.done,
        "seconds": took,
        "mode": {_bulk: "whole tables", _batch: "batches of 1,000", _single: "one at a time"}[step],
        "slower": ((took - half_seconds) / max(last - half, 1)) / (half_seconds / half) if half else None,
        "bytes_a_round": (memory - half_memory) / max(last - half, 1),
        "error": error,
    }


@dataclass
class Game:
    """A player, one table of rounds in three forms, and how many were played."""

    player: Any
    X: Any
    rows: Any
    losses: Any
    table: list[list[float]]
    done: int = 0


def _bulk(game: Game, end: float) -> None:
    game.player.run(game.X, game.losses)
    game.done += PIECE


def _batch(game: Game, end: float) -> None:
    for t in range(0, PIECE, 1000):
        part = game.rows[t : t + 1000]
        plays = game.player.decide_many(part)
        game.player.learn_many(part, plays, game.losses[range(t, t + 1000), [play.arm for play in plays]])
        game.done += 1000
        if time.perf_counter() > end:
            break


def _single(game: Game, end: float) -> None:
    for t in range(PIECE):
        play = game.player.decide(game.rows[t])
        game.player.learn(game.rows[t], play, game.table[t][play.arm])
        game.done += 1
        if game.done % 200 == 0 and time.perf_counter() > end:
            break


def _memory() -> int:
    """Bytes resident now; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0
