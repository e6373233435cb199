"""hsb in the bake-off: its default on raw rows, and its own LinUCB as a rival."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from peers.base import Algorithm, Library, Settings, Table
from peers.libraries.hsb import HSBPlayer

DEFAULT = "HSB"
WARM = 3_000  # rows: long tables are played by kernels of their own, which are to be compiled before the clock starts


def _hsb(table: Table, settings: Settings) -> HSBPlayer:
    import hsb

    _warm_mixed()
    return HSBPlayer(hsb.HSB(arms=table.arms, seed=table.seed, **settings))


def _lin_ucb(table: Table, settings: Settings) -> HSBPlayer:
    import hsb

    _warm_numbers()
    return HSBPlayer(hsb.LinUCB(table.width, arms=table.arms, seed=table.seed, **settings))


@cache
def _warm_mixed() -> None:
    """Play some rows of numbers, words and gaps."""
    import hsb

    rng = np.random.default_rng(0)
    rows: list[Any] = [
        {"a0": x, "a1": "abc"[i % 3], "a2": None if i % 7 == 0 else 1.0 - x} for i, x in enumerate(rng.random(WARM))
    ]
    hsb.simulate(hsb.HSB(arms=3, seed=0), rows, rng.random((WARM, 3)).round())


@cache
def _warm_numbers() -> None:
    import hsb

    rng = np.random.default_rng(0)
    hsb.simulate(hsb.LinUCB(2, arms=3, seed=0), rng.random((WARM, 2)), rng.random((WARM, 3)).round())


LIBRARY = Library(
    name="hsb",
    package="hsb",
    module="hsb",
    source="README.md",
    algorithms=(
        Algorithm(DEFAULT, _hsb, encodings=("mixed",)),
        Algorithm("LinUCB", _lin_ucb, default={"alpha": 1.0, "ridge": 1.0}, encodings=("standard", "unit")),
    ),
)
