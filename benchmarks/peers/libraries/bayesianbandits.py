"""bayesianbandits: a Bayesian regression an arm, and a policy over their posteriors. `pull` and `update` take many rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import Algorithm, BatchPlayer, Floats, Library, Play, Settings, Table

NORMAL: Settings = {"lam": 1.0, "a": 0.1, "b": 0.1}  # NormalInverseGammaRegressor's own


class AgentPlayer(BatchPlayer):
    """A `ContextualAgent`, and the rule by which its posteriors widen every round."""

    def __init__(self, agent: Any, forgetting: Any) -> None:
        self._agent, self._forgetting = agent, forgetting

    def decide_many(self, X: Floats) -> list[Play]:
        """`pull`."""
        return [Play(arm) for arm in self._agent.pull(X)]

    def learn_many(self, X: Floats, plays: list[Play], losses: Floats) -> None:
        """`decay` by as many ticks as there were rounds, then one `update` an arm."""
        if self._forgetting is not None:
            self._agent.decay(self._forgetting, steps=len(plays))
        mine: dict[int, list[int]] = {}
        for row, play in enumerate(plays):
            mine.setdefault(play.arm, []).append(row)
        rewards = 1.0 - losses
        for arm, rows in mine.items():
            self._agent.select_for_update(arm).update(X[rows], rewards[rows])


def _player(table: Table, policy: Any, learner: Callable[[], Any], decay: float | None) -> AgentPlayer:
    from bayesianbandits import Arm, ContextualAgent, StabilizedForgetting

    agent = ContextualAgent([Arm(arm, learner=learner()) for arm in range(table.arms)], policy, random_seed=table.seed)
    return AgentPlayer(agent, None if decay is None else StabilizedForgetting(decay))


def _normal(table: Table, settings: Settings, policy: Any) -> AgentPlayer:
    from bayesianbandits import NormalInverseGammaRegressor

    prior = {name: settings[name] for name in NORMAL}
    return _player(table, policy, lambda: NormalInverseGammaRegressor(**prior), settings["decay"])


def _thompson(table: Table, settings: Settings) -> AgentPlayer:
    from bayesianbandits import ThompsonSampling

    return _normal(table, settings, ThompsonSampling())


def _ucb(table: Table, settings: Settings) -> AgentPlayer:
    from bayesianbandits import UpperConfidenceBound

    return _normal(table, settings, UpperConfidenceBound(alpha=settings["alpha"], samples=settings["samples"]))


def _exp3a(table: Table, settings: Settings) -> AgentPlayer:
    from bayesianbandits import EXP3A

    return _normal(table, settings, EXP3A(**{name: settings[name] for name in ("gamma", "eta", "ix_gamma", "samples")}))


def _logit(table: Table, settings: Settings) -> AgentPlayer:
    from bayesianbandits import BayesianGLM, ThompsonSampling

    return _player(table, ThompsonSampling(), lambda: BayesianGLM(settings["alpha"], link="logit"), settings["decay"])


LIBRARY = Library(
    name="bayesianbandits",
    package="bayesianbandits",
    module="bayesianbandits",
    source="https://bayesianbandits.readthedocs.io: the README's example, the how-tos on delayed rewards and on decay, ContextualAgent, EXP3A",
    says="No propensity in or out. An unknown arm and a NaN are refused. To follow change: decay, by StabilizedForgetting, a tick a round.",
    algorithms=(
        Algorithm(
            "ThompsonSampling",
            _thompson,
            default={**NORMAL, "decay": None},
            grid=(
                {**NORMAL, "lam": 0.1, "decay": None},
                {**NORMAL, "lam": 10.0, "decay": None},
                {**NORMAL, "decay": 0.999},
                {**NORMAL, "lam": 10.0, "decay": 0.999},
                {**NORMAL, "decay": 0.997},
                {**NORMAL, "lam": 0.1, "decay": 0.997},
            ),
            constant=True,
            batch=50,
            says="over NormalInverseGammaRegressor, which learns the noise too. One draw of the weights serves all rows of a batch.",
        ),
        Algorithm(
            "UpperConfidenceBound",
            _ucb,
            default={**NORMAL, "alpha": 0.68, "samples": 1000, "decay": None},
            grid=(
                {**NORMAL, "alpha": 0.84, "samples": 100, "decay": None},
                {**NORMAL, "alpha": 0.95, "samples": 100, "decay": None},
                {**NORMAL, "alpha": 0.99, "samples": 100, "decay": None},
                {**NORMAL, "alpha": 0.95, "samples": 100, "decay": 0.999},
                {**NORMAL, "alpha": 0.95, "samples": 100, "decay": 0.997},
            ),
            constant=True,
            batch=50,
            says="the bound is a quantile of so many draws, which is where its time goes; a hundred do as well.",
        ),
        Algorithm(
            "EXP3A",
            _exp3a,
            default={**NORMAL, "gamma": 0.0, "eta": 1.0, "ix_gamma": None, "samples": 100, "decay": None},
            grid=(
                {**NORMAL, "gamma": 0.0, "eta": 10.0, "ix_gamma": None, "samples": 100, "decay": None},
                {**NORMAL, "gamma": 0.0, "eta": 30.0, "ix_gamma": None, "samples": 100, "decay": None},
                {**NORMAL, "gamma": 0.02, "eta": 30.0, "ix_gamma": 0.0, "samples": 100, "decay": None},
                {**NORMAL, "gamma": 0.0, "eta": 10.0, "ix_gamma": None, "samples": 100, "decay": 0.999},
                {**NORMAL, "gamma": 0.05, "eta": 30.0, "ix_gamma": 0.0, "samples": 100, "decay": 0.999},
            ),
            constant=True,
            batch=50,
            says="for adversaries, as its page says, without a bound. eta = 1 hardly tells rewards of [0, 1] apart. Learning weighs by a "
            "probability worked out anew, by sampling, at the time of learning: right if nothing was learnt since the decision.",
        ),
        Algorithm(
            "ThompsonSampling, logit",
            _logit,
            default={"alpha": 1.0, "decay": None},
            grid=(
                {"alpha": 0.1, "decay": None},
                {"alpha": 0.01, "decay": None},
                {"alpha": 1.0, "decay": 0.999},
                {"alpha": 0.1, "decay": 0.997},
            ),
            constant=True,
            batch=50,
            says="over BayesianGLM.",
        ),
    ),
)
