"""bayesianbandits: a Bayesian regression an arm and a policy over their posteriors. `pull` and `update` take many rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import Algorithm, BatchPlayer, Floats, Library, Play, Settings, Table


class AgentPlayer(BatchPlayer):
    """A `ContextualAgent`."""

    def __init__(self, agent: Any, decay: Any = None) -> None:
        self._agent, self._decay = agent, decay

    def decide_many(self, X: Floats) -> list[Play]:
        """`pull`: an arm a row."""
        return [Play(arm) for arm in self._agent.pull(X)]

    def learn_many(self, X: Floats, plays: list[Play], losses: Floats) -> None:
        """`update` of each arm with all its rows; before that, as much forgetting as rounds went by."""
        if self._decay is not None:
            self._agent.decay(self._decay, steps=len(plays))
        rows: dict[int, list[int]] = {}
        for row, play in enumerate(plays):
            rows.setdefault(play.arm, []).append(row)
        rewards = 1.0 - losses
        for arm, mine in rows.items():
            self._agent.select_for_update(arm).update(X[mine], rewards[mine])


def _agent(table: Table, settings: Settings, policy: Any, learner: Any) -> AgentPlayer:
    import bayesianbandits as bb

    arms = [bb.Arm(arm, learner=learner()) for arm in range(table.arms)]
    decay = settings.get("decay")
    return AgentPlayer(
        bb.ContextualAgent(arms, policy, random_seed=table.seed), None if decay is None else bb.StabilizedForgetting(decay)
    )


def _normal(settings: Settings) -> Any:
    import bayesianbandits as bb

    rule = settings.get("forgetting")
    return lambda: bb.NormalInverseGammaRegressor(
        lam=settings.get("lam", 1.0), a=0.1, b=0.1, forgetting=None if rule is None else getattr(bb, rule[0])(rule[1])
    )


def _thompson(table: Table, settings: Settings) -> AgentPlayer:
    from bayesianbandits import ThompsonSampling

    return _agent(table, settings, ThompsonSampling(), _normal(settings))


def _ucb(table: Table, settings: Settings) -> AgentPlayer:
    from bayesianbandits import UpperConfidenceBound

    return _agent(
        table, settings, UpperConfidenceBound(alpha=settings["alpha"], samples=settings["samples"]), _normal(settings)
    )


def _exp3a(table: Table, settings: Settings) -> AgentPlayer:
    from bayesianbandits import EXP3A

    policy = EXP3A(**{name: settings[name] for name in ("gamma", "eta", "ix_gamma", "samples")})
    return _agent(table, settings, policy, _normal(settings))


def _logit(table: Table, settings: Settings) -> AgentPlayer:
    from bayesianbandits import BayesianGLM, ThompsonSampling

    return _agent(table, settings, ThompsonSampling(), lambda: BayesianGLM(settings["prior"], link="logit"))


LIBRARY = Library(
    name="bayesianbandits",
    package="bayesianbandits",
    module="bayesianbandits",
    source="x",
    algorithms=(
        Algorithm("Thompson", _thompson, default={"lam": 1.0, "decay": None}, constant=True, batch=50),
        Algorithm("UCB", _ucb, default={"alpha": 0.68, "samples": 1000}, constant=True, batch=50),
        Algorithm(
            "EXP3A", _exp3a, default={"gamma": 0.0, "eta": 1.0, "ix_gamma": None, "samples": 100}, constant=True, batch=50
        ),
        Algorithm("Thompson, logit", _logit, default={"prior": 1.0}, constant=True, batch=50),
    ),
)
