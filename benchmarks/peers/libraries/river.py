"""river: one arm at a time, contexts as dictionaries, one contextual policy and several without contexts."""

from __future__ import annotations

from typing import Any

from ..base import Algorithm, Floats, Library, Play, Player, Settings, Table


class FreePlayer(Player):
    """`pull` and `update` without a context."""

    def __init__(self, policy: Any, arms: int) -> None:
        self._pull, self._update, self._arms = policy.pull, policy.update, list(range(arms))

    def decide(self, x: Any) -> Play:
        """An arm of the list."""
        return Play(self._pull(self._arms))

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """Its reward."""
        self._update(play.arm, 1.0 - loss)


class ContextPlayer(Player):
    """`pull` and `update` with a context."""

    def __init__(self, policy: Any, arms: int) -> None:
        self._pull, self._update, self._arms = policy.pull, policy.update, list(range(arms))

    def prepare(self, X: Floats) -> list[dict[int, float]]:
        """Column to value. Zeros are left out: river takes a missing feature for a zero, and is quicker without."""
        return [{i: value for i, value in enumerate(row) if value != 0.0} for row in X.tolist()]

    def decide(self, x: dict[int, float]) -> Play:
        """An arm of the list."""
        return Play(self._pull(self._arms, x))

    def learn(self, x: dict[int, float], play: Play, loss: float) -> None:
        """Its reward."""
        self._update(play.arm, x, 1.0 - loss)


def _linucb(table: Table, settings: Settings) -> Player:
    from river import bandit

    return ContextPlayer(bandit.LinUCBDisjoint(**settings, seed=table.seed), table.arms)


def _exp3(table: Table, settings: Settings) -> Player:
    from river import bandit

    return FreePlayer(bandit.Exp3(**settings, seed=table.seed), table.arms)


def _thompson(table: Table, settings: Settings) -> Player:
    from river import bandit, proba

    belief = proba.Beta() if settings["reward_obj"] == "Beta" else proba.Gaussian()
    return FreePlayer(bandit.ThompsonSampling(reward_obj=belief, seed=table.seed), table.arms)


def _greedy(table: Table, settings: Settings) -> Player:
    from river import bandit

    return FreePlayer(bandit.EpsilonGreedy(**settings, seed=table.seed), table.arms)


LIBRARY = Library(
    name="river",
    package="river",
    module="river",
    source="https://riverml.xyz/latest/api/bandit/LinUCBDisjoint and its neighbours; https://riverml.xyz/latest/recipes/bandits-101",
    says="No propensity goes in or out.",
    algorithms=(
        Algorithm(
            "LinUCBDisjoint",
            _linucb,
            default={"alpha": 1.0, "beta": 1.0, "smoothing": None},
            grid=(
                {"alpha": 0.1, "beta": 0.1, "smoothing": None},
                {"alpha": 0.01, "beta": 0.1, "smoothing": None},
                {"alpha": 0.01, "beta": 1.0, "smoothing": None},
                {"alpha": 1.0, "beta": 100.0, "smoothing": 0.99},
                {"alpha": 1.0, "beta": 1000.0, "smoothing": 0.999},
                {"alpha": 1.0, "beta": 10000.0, "smoothing": 0.999},
            ),
            constant=True,
        ),
        Algorithm(
            "Exp3",
            _exp3,
            default={"gamma": 0.5},
            grid=tuple({"gamma": gamma} for gamma in (0.2, 0.1, 0.05, 0.02, 0.01)),
            encodings=("none",),
        ),
        Algorithm(
            "ThompsonSampling",
            _thompson,
            default={"reward_obj": "Beta"},
            grid=({"reward_obj": "Gaussian"},),
            encodings=("none",),
        ),
        Algorithm(
            "EpsilonGreedy",
            _greedy,
            default={"epsilon": 0.1, "decay": 0.0},
            grid=({"epsilon": 0.01, "decay": 0.0}, {"epsilon": 1.0, "decay": 0.001}, {"epsilon": 1.0, "decay": 0.01}),
            encodings=("none",),
        ),
    ),
)
