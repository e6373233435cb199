"""SMPyBandits: many bandit algorithms, none of them with contexts."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ..base import Algorithm, Library, Play, Player, Settings, Table


class PolicyPlayer(Player):
    """`choice` and `getReward`."""

    def __init__(self, policy: Any, seed: int) -> None:
        random.seed(seed)  # the library draws from the generators that all of Python shares
        np.random.seed(seed)
        policy.startGame()
        self._policy = policy

    def decide(self, x: Any) -> Play:
        """An arm."""
        return Play(int(self._policy.choice()))

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """Its reward."""
        self._policy.getReward(play.arm, 1.0 - loss)


def _policy(name: str) -> Any:
    def make(table: Table, settings: Settings) -> Player:
        from SMPyBandits import Policies

        return PolicyPlayer(getattr(Policies, name)(table.arms, **settings), table.seed)

    return make


LIBRARY = Library(
    name="SMPyBandits",
    package="SMPyBandits",
    module="SMPyBandits",
    source="x",
    own_environment=("SMPyBandits", "scipy<1.14"),
    algorithms=(
        Algorithm("Thompson", _policy("Thompson"), encodings=("none",)),
        Algorithm(
            "UCBalpha", _policy("UCBalpha"), default={"alpha": 4}, grid=({"alpha": 1}, {"alpha": 0.5}), encodings=("none",)
        ),
        Algorithm(
            "Exp3", _policy("Exp3"), default={"gamma": 0.01}, grid=({"gamma": 0.1}, {"gamma": 0.05}), encodings=("none",)
        ),
    ),
)
