"""coba: learners behind one protocol, in which the propensity and whatever else came with a decision go back with the reward."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ..base import Algorithm, Floats, Library, Play, Player, Settings, Table

Learner = Any
Action = Any


class Coba(Player):
    """A learner as coba's own evaluator calls it: in a `SafeLearner`, with rewards 1 - loss and a row as a tuple."""

    def __init__(self, learner: Learner, actions: list[Action], unknown: Callable[[int], Action]) -> None:
        from coba.safety import SafeLearner

        self._learner = SafeLearner(learner)
        self._actions = actions
        self._unknown = unknown
        self._arm = {action: arm for arm, action in enumerate(actions)}

    def prepare(self, X: Floats) -> list[Any]:
        """Tuples; coba's word for no context is None."""
        return list(map(tuple, X.tolist())) if X.shape[1] else [None] * len(X)

    def decide(self, x: Any) -> Play:
        """The action that the learner has drawn."""
        action, propensity, keep = self._learner.predict(x, self._actions)
        return Play(self._arm[action], propensity, keep)

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """With all that `predict` gave."""
        arm = play.arm
        action = self._actions[arm] if 0 <= arm < len(self._actions) else self._unknown(arm)
        self._learner.learn(x, action, 1.0 - loss, play.propensity, **(play.keep or {}))


def numbered(table: Table, learner: Learner) -> Coba:
    """Arms are their numbers: for a learner that looks at no features. An arm that is not there is a new number."""
    return Coba(learner, list(range(table.arms)), lambda arm: arm)


def one_hot(table: Table, learner: Learner) -> Coba:
    """Arms are unit vectors, as in coba's experiments. An arm that is not there is all zeros, as its own encoder has it.

    With the features `a` and `ax` this is a model of its own for each arm, the constant included.
    """
    actions = [tuple(int(i == arm) for i in range(table.arms)) for arm in range(table.arms)]
    return Coba(learner, actions, lambda arm: (0,) * table.arms)


def ucb(table: Table, settings: Settings) -> Coba:
    """UCB1-tuned, blind to contexts."""
    from coba.learners import BanditUCBLearner

    return numbered(table, BanditUCBLearner(seed=table.seed, **settings))


def linucb(table: Table, settings: Settings) -> Coba:
    """Ridge regression over all arms together, Sherman-Morrison."""
    from coba.learners import LinUCBLearner

    return one_hot(table, LinUCBLearner(seed=table.seed, **settings))


def lints(table: Table, settings: Settings) -> Coba:
    """The same regression, a draw of all its weights a round."""
    from coba.learners import LinTSLearner

    return one_hot(table, LinTSLearner(seed=table.seed, **settings))


def rnd(table: Table, settings: Settings) -> Coba:
    """Vowpal Wabbit's random network distillation, through coba."""
    from coba.learners import VowpalRndLearner

    return one_hot(table, VowpalRndLearner(seed=table.seed, **settings))


def corral(table: Table, settings: Settings) -> Coba:
    """Two Vowpal Wabbit learners under one master."""
    from coba.learners import CorralLearner, VowpalBagLearner, VowpalEpsilonLearner

    own = {name: value for name, value in settings.items() if name not in ("bag", "epsilon")}
    bases = (
        VowpalBagLearner(bag=settings["bag"], seed=table.seed),
        VowpalEpsilonLearner(epsilon=settings["epsilon"], seed=table.seed),
    )
    return one_hot(table, CorralLearner(bases, seed=table.seed, **own))


LINEAR = [1, "a", "ax"]
BASES: Settings = {"bag": 5, "epsilon": 0.1}

LIBRARY = Library(
    name="coba",
    package="coba",
    module="coba.learners",
    source="coba's documentation, notebooks Learners and First Experiment; coba.learners; coba.evaluators.SequentialCB",
    says="A framework for experiments, written in plain Python; its learners are called one round at a time, as its own evaluator does. "
    "LinUCB and LinTS keep one matrix over all arms: with 50 arms and 64 features a round takes a quarter of a second and over a second. "
    "rnd and corral need vowpalwabbit as well. "
    "The seed does not reach the Gaussian draws of LinTS, nor the arms drawn for Vowpal Wabbit: those are the same in every repetition.",
    algorithms=(
        Algorithm("ucb", ucb, encodings=("none",), says="UCB1-tuned, without contexts."),
        Algorithm(
            "linucb",
            linucb,
            {"alpha": 1, "features": LINEAR},
            tuple({"alpha": alpha, "features": LINEAR} for alpha in (0.5, 0.3, 0.1, 0.03)),
        ),
        Algorithm(
            "lints", lints, {"v": 1, "features": LINEAR}, tuple({"v": v, "features": LINEAR} for v in (0.3, 0.1, 0.03, 0.01))
        ),
        Algorithm(
            "rnd",
            rnd,
            {"rnd": 3, "epsilon": 0.025, "features": [*LINEAR, "axx"]},
            (
                {"rnd": 3, "epsilon": 0.0, "features": LINEAR},
                {"rnd": 3, "epsilon": 0.0, "features": LINEAR, "rnd_alpha": 0.01},
                {"rnd": 3, "epsilon": 0.0, "features": [*LINEAR, "axx"], "clip_p": 0.3},
                {"rnd": 3, "epsilon": 0.025, "features": LINEAR, "clip_p": 0.3},
                {"rnd": 10, "epsilon": 0.0, "features": LINEAR},
                {"rnd": 3, "epsilon": 0.0, "features": LINEAR, "power_t": 0.0},
            ),
            needs="vowpalwabbit",
            says="Vowpal Wabbit inside, in its form with action features; coba's default adds the squares of the features.",
        ),
        Algorithm(
            "corral",
            corral,
            {**BASES, "eta": 0.075, "T": inf, "mode": "importance"},
            (
                {**BASES, "eta": 0.3, "T": inf, "mode": "importance"},
                {**BASES, "eta": 0.075, "T": inf, "mode": "off-policy"},
                {**BASES, "eta": 0.3, "T": inf, "mode": "off-policy"},
                {"bag": 10, "epsilon": 0.02, "eta": 0.075, "T": inf, "mode": "off-policy"},
            ),
            needs="vowpalwabbit",
            says="Over bagging and epsilon-greedy of Vowpal Wabbit, as in coba's example.",
        ),
    ),
)
