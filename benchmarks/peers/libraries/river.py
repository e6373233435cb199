"""river: `pull` and `update`, a round at a time. One policy takes contexts, as dictionaries; the others know arms alone."""

from __future__ import annotations

from typing import Any

from ..base import Algorithm, Floats, Library, Play, Player, Settings, Table


class FreePlayer(Player):
    """A policy without contexts."""

    def __init__(self, policy: Any, arms: int) -> None:
        self._pull, self._update, self._arms = policy.pull, policy.update, list(range(arms))

    def decide(self, x: Any) -> Play:
        """One of the list."""
        return Play(self._pull(self._arms))

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """Its reward."""
        self._update(play.arm, 1.0 - loss)


class ContextPlayer(Player):
    """A policy with contexts."""

    def __init__(self, policy: Any, arms: int) -> None:
        self._pull, self._update, self._arms = policy.pull, policy.update, list(range(arms))
        self._forgets = policy.smoothing is not None

    def prepare(self, X: Floats) -> list[dict[int, float]]:
        """Column to value. Zeros are left out: river takes a missing feature for a zero, and is several times quicker for it. A policy that
        forgets gets no constant besides cells: they add up to it, and what no data tell apart is forgotten until the matrix is singular.
        """
        if self._forgets and X.shape[1] > 2 and (X[:, :-1].sum(axis=1) == 1.0).all():
            X = X[:, :-1]
        return [{column: value for column, value in enumerate(row) if value != 0.0} for row in X.tolist()]

    def decide(self, x: dict[int, float]) -> Play:
        """One of the list."""
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

    belief = {"Beta": proba.Beta, "Gaussian": proba.Gaussian}[settings["reward_obj"]]()
    return FreePlayer(bandit.ThompsonSampling(reward_obj=belief, seed=table.seed), table.arms)


def _greedy(table: Table, settings: Settings) -> Player:
    from river import bandit

    return FreePlayer(bandit.EpsilonGreedy(**settings, seed=table.seed), table.arms)


LIBRARY = Library(
    name="river",
    package="river",
    module="river.bandit",
    source="https://riverml.xyz/latest/recipes/bandits-101 and https://riverml.xyz/latest/api/bandit/LinUCBDisjoint, Exp3, ThompsonSampling",
    says="No batches, no propensity in or out. An arm that was never offered is learnt from without a word, except by Exp3.",
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
            says="the bound is mean + sqrt(1/beta + spread), so the noise hides most of the spread: at the default, an arm that gains 0.75 on "
            "average is preferred to one never tried. smoothing is its way to forget. A NaN ends it (IndexError).",
        ),
        Algorithm(
            "Exp3",
            _exp3,
            default={"gamma": 0.5},
            grid=tuple({"gamma": gamma} for gamma in (0.2, 0.1, 0.05, 0.02, 0.01)),
            encodings=("none",),
            says="no default gamma: 0.5 is its documentation's. Weights are never rescaled: three arms overflow after some 4,000/gamma rounds "
            "(2,000/gamma if one arm always wins), ValueError. Learning divides by the probability of the last pull, not of the decision.",
        ),
        Algorithm(
            "ThompsonSampling",
            _thompson,
            default={"reward_obj": "Beta"},
            grid=({"reward_obj": "Gaussian"},),
            encodings=("none",),
            says="Beta is for rewards of 0 and 1: any other reward, NaN included, counts as a success. Gaussian draws rewards, not their mean.",
        ),
        Algorithm(
            "EpsilonGreedy",
            _greedy,
            default={"epsilon": 0.1, "decay": 0.0},
            grid=({"epsilon": 0.01, "decay": 0.0}, {"epsilon": 1.0, "decay": 0.001}, {"epsilon": 1.0, "decay": 0.01}),
            encodings=("none",),
            says="no default epsilon: 0.1 is its recipe's first.",
        ),
    ),
)
