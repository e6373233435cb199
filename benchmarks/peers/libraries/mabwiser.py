"""MABWiser, by Fidelity Investments: a policy for choosing among arms, alone or in a neighbourhood of the context."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from ..base import Algorithm, BatchPlayer, Floats, Library, Play, Player, Settings, Table, coins

Updates = tuple[Any, Any, Any]  # arms, rewards, contexts: the order of `fit`


class _Fitted(BatchPlayer):
    """Random arms until the first `fit`; then `predict`, and `partial_fit` with what is new.

    share: new updates wait until they are one part in so many of those before them; 0: they do not wait.
    refit: `fit` with everything when the updates are so many times those of the last `fit`; 0: never.
    """

    def __init__(self, mab: Any, table: Table, *, first: int, binary: bool, share: int = 0, refit: float = 0) -> None:
        self._mab = mab
        self._arms = table.arms
        self._binary = binary
        self._share = share
        self._refit = refit
        self._rng = np.random.default_rng([table.seed, 1])
        self._new: list[Updates] = []
        self._old: list[Updates] = []
        self._updates = 0
        self._due = first
        self._fit_due: float = first
        self._ready = False

    def decide_many(self, X: Floats) -> list[Play]:
        """One context gives an arm, several give a list of arms."""
        if not self._ready:
            return [Play(arm, 1 / self._arms) for arm in self._rng.integers(self._arms, size=len(X)).tolist()]
        found = self._mab.predict(X)
        return list(map(Play, found)) if len(X) > 1 else [Play(found)]

    def learn_many(self, X: Floats, plays: list[Play], losses: Floats) -> None:
        """Rewards, for Thompson sampling made 0 or 1 by a coin with that mean."""
        rewards = 1.0 - losses
        if self._binary:
            coins(rewards, self._rng)
        self._new.append((np.array([one.arm for one in plays]), rewards, X))
        self._updates += len(plays)
        if self._updates >= self._due:
            self._teach()

    def _teach(self) -> None:
        """Hand over what waits. What the library refuses is not available again."""
        new, self._new = self._new, []
        self._due = self._updates + (self._updates // self._share if self._share else 0)
        if self._updates >= self._fit_due:
            self._mab.fit(*_joined(self._old + new))
            self._ready = True
            self._fit_due = self._updates * self._refit or float("inf")
        else:
            self._mab.partial_fit(*_joined(new))
        if self._refit:
            self._old += new


def _joined(updates: list[Updates]) -> Updates:
    """As one."""
    if len(updates) == 1:
        return updates[0]
    arms, rewards, contexts = map(np.concatenate, zip(*updates, strict=True))
    return arms, rewards, contexts


def _make(neighbourhood: str, table: Table, settings: Settings) -> Player:
    """`learning` with its arguments, in that neighbourhood with its own; `first` and `refit` are ours."""
    from mabwiser.mab import MAB, LearningPolicy, NeighborhoodPolicy

    left = {key: copy(value) for key, value in settings.items() if key not in ("first", "refit")}
    policy = getattr(LearningPolicy, left.pop("learning"))
    learning = policy(**{key: left.pop(key) for key in policy._fields if key in left})
    around = getattr(NeighborhoodPolicy, neighbourhood)(**left) if neighbourhood else None
    mab = MAB(list(range(table.arms)), learning, around, seed=int(table.seed) % 2**32, n_jobs=1)
    return _Fitted(
        mab,
        table,
        first=settings["first"],
        binary=settings["learning"] == "ThompsonSampling",
        share=20 if neighbourhood == "Clusters" else 0,
        refit=settings.get("refit", 0),
    )


def _algorithm(name: str, neighbourhood: str, default: Settings, *grid: Settings, says: str) -> Algorithm:
    """A linear policy has no intercept of its own, and gets a column of ones."""
    make: Callable[[Table, Settings], Player] = partial(_make, neighbourhood)
    encodings = {"": ("raw", "cubic", "bins"), "Radius": ("raw", "bins")}.get(neighbourhood, ("raw",))
    return Algorithm(name, make, default, grid, encodings, constant=not neighbourhood, batch=50, says=says)


UCB, THOMPSON = {"learning": "UCB1", "alpha": 1}, {"learning": "ThompsonSampling"}
LIN_UCB = {"learning": "LinUCB", "alpha": 1.0, "l2_lambda": 1.0, "scale": False, "first": 1}
LIN_TS = LIN_UCB | {"learning": "LinTS"}
TREE: Settings = {"tree_parameters": {}, "first": 50, "refit": 0}
RADIUS = {"radius": 0.05, "metric": "euclidean", "first": 50}
CLUSTERS = {"n_clusters": 2, "is_minibatch": False, "first": 50}

LIBRARY = Library(
    name="MABWiser",
    package="mabwiser",
    module="mabwiser.mab",
    source="https://fidelity.github.io/mabwiser, and the repository's examples/contextual_mab.py",
    says="It decides only after a first `fit`: until then, `first` rounds, arms are drawn at random. "
    "Then `partial_fit` with every batch. Policies for a neighbourhood have no default: the example's UCB1. It gives "
    "an arm without data the value 0, so that such an arm is never tried; Thompson sampling, which tries it, is in "
    "each grid. One thread. Losses between 0 and 1 go to Thompson sampling as a coin with that mean, to the others as "
    "they are.",
    algorithms=(
        _algorithm(
            "LinUCB",
            "",
            LIN_UCB,
            LIN_UCB | {"alpha": 0.3, "first": 50},
            LIN_UCB | {"alpha": 0.1, "first": 50},
            LIN_UCB | {"alpha": 0.03, "first": 50},
            LIN_UCB | {"alpha": 0.3, "l2_lambda": 0.1, "first": 50},
            LIN_UCB | {"alpha": 2.0},
            says="A ridge regression an arm; its matrix is inverted with every update.",
        ),
        _algorithm(
            "LinTS",
            "",
            LIN_TS,
            LIN_TS | {"alpha": 0.3},
            LIN_TS | {"alpha": 0.3, "first": 50},
            LIN_TS | {"alpha": 0.1, "first": 50},
            LIN_TS | {"alpha": 0.03, "first": 50},
            LIN_TS | {"alpha": 0.3, "l2_lambda": 0.1, "first": 50},
            says="A ridge regression an arm, its coefficients drawn anew for every context. (With one column alone a batch "
            "goes wrong in version 2.7.4: NumPy's squeeze. Our column of ones prevents it.)",
        ),
        _algorithm(
            "TreeBandit",
            "TreeBandit",
            UCB | TREE,
            THOMPSON | TREE,
            THOMPSON | TREE | {"tree_parameters": {"min_samples_leaf": 10}, "refit": 1.5},
            THOMPSON | TREE | {"tree_parameters": {"min_samples_leaf": 50}, "refit": 1.5},
            UCB | TREE | {"tree_parameters": {"min_samples_leaf": 10}, "refit": 1.5},
            UCB | TREE | {"tree_parameters": {"min_samples_leaf": 20}, "refit": 1.5},
            UCB | TREE | {"tree_parameters": {"min_samples_leaf": 50}, "refit": 1.5},
            says="A decision tree an arm. `partial_fit` fills its leaves and never splits one: the trees of the first `fit` "
            "stay. With `refit` we call `fit` again with everything when there is half as much again. All trees and "
            "rewards are copied with every decision.",
        ),
        _algorithm(
            "Radius",
            "Radius",
            UCB | RADIUS,
            THOMPSON | RADIUS,
            THOMPSON | RADIUS | {"radius": 0.1},
            THOMPSON | RADIUS | {"radius": 0.025},
            UCB | RADIUS | {"alpha": 0.3},
            UCB | RADIUS | {"alpha": 0.1},
            UCB | RADIUS | {"alpha": 0.1, "radius": 0.1},
            says="All contexts are kept, and measured against for every decision: the time grows with the rounds.",
        ),
        _algorithm(
            "Clusters",
            "Clusters",
            UCB | CLUSTERS,
            THOMPSON | CLUSTERS,
            THOMPSON | CLUSTERS | {"n_clusters": 8},
            THOMPSON | CLUSTERS | {"n_clusters": 16},
            THOMPSON | CLUSTERS | {"n_clusters": 16, "is_minibatch": True},
            UCB | CLUSTERS | {"n_clusters": 8, "alpha": 0.3},
            {"learning": "LinUCB", "alpha": 1.0} | CLUSTERS | {"n_clusters": 8},
            says="`partial_fit` clusters all contexts anew, so updates wait until there is a twentieth more of them, also "
            "when they come one at a time.",
        ),
    ),
)
