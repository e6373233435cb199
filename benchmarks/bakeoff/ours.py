"""hsb in the bake-off: its default on raw rows, and its own LinUCB as a rival."""

from __future__ import annotations

from typing import Any

import numpy as np
from peers.base import Algorithm, BulkPlayer, Library, Numbers, Play, Settings, Table
from peers.libraries.hsb import HSBPlayer

DEFAULT = "HSB"


class MixedPlayer(BulkPlayer):
    """`hsb.HSB` without a structure, over rows of numbers, text and missing cells."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy

    def decide(self, x: Any) -> Play:
        """`policy.decide`."""
        decision = self._policy.decide(x)
        return Play(decision.arm, decision.propensity, decision)

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """`policy.learn`."""
        self._policy.learn(play.keep, loss=loss)

    def run(self, X: Any, losses: Any) -> Numbers:
        """`hsb.simulate`."""
        import hsb

        return np.asarray(hsb.simulate(self._policy, X, losses).arms)


def stand_in() -> bool:
    """Is hsb's default for mixed rows not there yet, and LinUCB on encoded columns stands in for it? To be removed with its one use."""
    import hsb

    try:
        hsb.HSB(arms=2)  # type: ignore[call-arg]
    except TypeError:
        return True
    return False


class StandIn(HSBPlayer):
    """LinUCB over the columns of the rows, encoded."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def run(self, X: Any, losses: Any) -> Numbers:
        """As LinUCB."""
        import hsb

        columns = [_column([row[name] for row in X]) for name in X[0]]
        Z = np.column_stack([part for column in columns for part in column])
        policy = hsb.LinUCB(Z.shape[1], arms=self._table.arms, alpha=0.3, seed=self._table.seed)
        return np.asarray(hsb.simulate(policy, Z / np.sqrt(Z.shape[1]), losses).arms)


def _column(cells: list[Any]) -> list[Any]:
    from .tables import encoded

    return encoded(cells, standard=True) or [np.zeros(len(cells))]


def _hsb(table: Table, settings: Settings) -> BulkPlayer:
    import hsb

    if stand_in():
        return StandIn(table)
    return MixedPlayer(hsb.HSB(arms=table.arms, seed=table.seed, **settings))  # type: ignore[call-arg]


def _lin_ucb(table: Table, settings: Settings) -> HSBPlayer:
    import hsb

    return HSBPlayer(hsb.LinUCB(table.width, arms=table.arms, seed=table.seed, **settings))


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
