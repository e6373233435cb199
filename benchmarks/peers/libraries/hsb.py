"""hsb itself, used as its README says."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import Algorithm, BulkPlayer, Floats, Library, Numbers, Play, Settings, Table


def tree(table: Table, depth: int) -> Any:
    """Over the unit box."""
    import hsb

    return hsb.BinaryTree(depth=depth, space=hsb.Box.unit(table.width))


class HSBPlayer(BulkPlayer):
    """A policy, and its own decisions handed back."""

    def __init__(self, policy: Any) -> None:
        import hsb

        self.policy, self._decision = policy, hsb.Decision

    def prepare(self, X: Floats) -> Any:
        """Numbers, or rows."""
        return X[:, 0].tolist() if X.shape[1] == 1 else X if X.shape[1] else [None] * len(X)

    def decide(self, x: Any) -> Play:
        """`policy.decide`."""
        decision = self.policy.decide(x)
        return Play(decision.arm, decision.propensity, decision)

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """`policy.learn`, of the decision itself unless somebody changed it."""
        decision = play.keep
        if decision is None or decision.propensity != play.propensity or decision.arm != play.arm:
            decision = self._decision(context=x, arm=play.arm, propensity=play.propensity or 0.0)
        self.policy.learn(decision, loss=loss)

    def run(self, X: Floats, losses: Floats) -> Numbers:
        """`hsb.simulate`: every round learns at once."""
        import hsb

        return np.asarray(hsb.simulate(self.policy, X, losses).arms)


def _hsb(table: Table, settings: Settings) -> HSBPlayer:
    import hsb

    structure = hsb.PositionSplits(bits=[1] * 6) if table.width == 6 else tree(table, settings["depth"])
    if settings.get("horizon"):
        return HSBPlayer(hsb.HSB(structure, arms=table.arms, horizon=table.rounds, seed=table.seed))
    return HSBPlayer(hsb.HSB(structure, arms=table.arms, seed=table.seed))


def _thompson(table: Table, settings: Settings) -> HSBPlayer:
    import hsb

    structure = tree(table, settings["depth"])
    return HSBPlayer(hsb.TreeThompson(structure, arms=table.arms, forgetting=settings["forgetting"], seed=table.seed))


def _uniform(table: Table, settings: Settings) -> HSBPlayer:
    import hsb

    return HSBPlayer(hsb.Uniform(arms=table.arms, seed=table.seed))


LIBRARY = Library(
    name="hsb",
    package="hsb",
    module="hsb",
    source="README.md",
    algorithms=(
        Algorithm(
            "HSB",
            _hsb,
            default={"depth": 10},
            grid=({"depth": 5}, {"depth": 16}),
            encodings=("raw",),
            says="no knobs: no horizon, no rate. Its tree cuts the contexts by itself. Codewords: PositionSplits, where depth means nothing.",
        ),
        Algorithm(
            "HSB, horizon known",
            _hsb,
            default={"depth": 10, "horizon": True},
            grid=({"depth": 5, "horizon": True}, {"depth": 16, "horizon": True}),
            encodings=("raw",),
            says="the paper's algorithm: a constant rate from the number of rounds.",
        ),
        Algorithm(
            "TreeThompson",
            _thompson,
            default={"depth": 10, "forgetting": None},
            grid=({"depth": 5, "forgetting": None}, {"depth": 10, "forgetting": 0.999}, {"depth": 5, "forgetting": 0.999}),
            encodings=("raw",),
            says="hsb's own Bayesian rival to HSB: no guarantee.",
        ),
        Algorithm(
            "uniform play", _uniform, encodings=("none",), says="learns nothing: what every other row is to be held against."
        ),
    ),
)
