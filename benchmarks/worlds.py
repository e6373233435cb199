"""The problems that are timed: contexts and a table of losses, always the same for the same seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class World(NamedTuple):
    """Contexts, shape (T, features), and losses, shape (T, M)."""

    contexts: Floats
    losses: Floats


def stationary(rounds: int, *, seed: int = 0) -> World:
    """Section VI-A: three arms with Bernoulli losses. Once learned, about one round in five has a loss, and only those teach."""
    rng = np.random.default_rng(seed)
    s = rng.random(rounds)
    chance = np.column_stack([0.5 + 0.5 * np.sin(2 * np.pi * s), np.sin(np.pi * s), s])
    return World(s[:, None], (rng.random((rounds, 3)) < chance).astype(np.float64))


def every_round(rounds: int, *, arms: int = 3, features: int = 1, seed: int = 0) -> World:
    """A loss in (0, 1] whatever is played, so that every round teaches: the dearest case."""
    rng = np.random.default_rng(seed)
    return World(rng.random((rounds, features)), 1.0 - rng.random((rounds, arms)))


def uniforms(rounds: int, seed: int) -> Floats:
    """The numbers that a policy made with `seed=generator(seed)` draws in its first rounds."""
    return generator(seed).random(rounds)


def generator(seed: int) -> np.random.Generator:
    """A policy's random numbers, to be had again for the C programs."""
    return np.random.default_rng([seed, 0xBE])
