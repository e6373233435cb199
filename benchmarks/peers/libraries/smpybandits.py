"""SMPyBandits: more than 65 bandit algorithms, none with contexts. `choice` and `getReward`."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from ..base import Algorithm, Library, Play, Player, Settings, Table


class PolicyPlayer(Player):
    """A policy whose game has started."""

    def __init__(self, policy: Any) -> None:
        policy.startGame()
        self._choice, self._reward = policy.choice, policy.getReward

    def decide(self, x: Any) -> Play:
        """An arm."""
        return Play(int(self._choice()))

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """Its reward."""
        self._reward(play.arm, 1.0 - loss)


def _maker(name: str) -> Callable[[Table, Settings], PolicyPlayer]:
    def make(table: Table, settings: Settings) -> PolicyPlayer:
        with redirect_stdout(sys.stderr):  # it greets with what it misses
            from SMPyBandits import Policies

        random.seed(table.seed)  # it draws from Python's and NumPy's common generators
        np.random.seed(table.seed)
        return PolicyPlayer(getattr(Policies, name)(table.arms, **settings))

    return make


LIBRARY = Library(
    name="SMPyBandits",
    package="SMPyBandits",
    module="SMPyBandits.Policies",
    source="https://smpybandits.github.io/docs/Policies.html",
    own_environment=("SMPyBandits", "scipy<1.14"),
    says="No contexts, no batches, no propensity in or out. Random numbers come from the process's common generators. Arm -1 is taken for the "
    "last arm. Written for SciPy below 1.14.",
    algorithms=(
        Algorithm(
            "Thompson",
            _maker("Thompson"),
            default={"a": 1, "b": 1},
            encodings=("none",),
            says="refuses rewards outside of [0, 1].",
        ),
        Algorithm(
            "UCBalpha",
            _maker("UCBalpha"),
            default={"alpha": 4},
            grid=({"alpha": 1}, {"alpha": 0.5}),
            encodings=("none",),
            says="alpha = 4 is UCB1. After a NaN it plays at random, and prints so each round.",
        ),
        Algorithm(
            "Exp3",
            _maker("Exp3"),
            default={"gamma": 0.01},
            grid=({"gamma": 0.05}, {"gamma": 0.1}, {"gamma": 0.2}),
            encodings=("none",),
            says="rescales its weights: no overflow. Learning divides by the arm's probability at the time of learning, not of the decision.",
        ),
    ),
)
