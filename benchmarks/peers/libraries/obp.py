"""Open Bandit Pipeline: its online policies, one context of shape (1, features) at a time."""

from __future__ import annotations

from typing import Any

from ..base import Algorithm, Floats, Library, Play, Player, Settings, Table


class FreePlayer(Player):
    """`select_action` and `update_params` without a context."""

    def __init__(self, policy: Any) -> None:
        self._select, self._update = policy.select_action, policy.update_params

    def decide(self, x: Any) -> Play:
        """The first of a list of one."""
        return Play(self._select().item())

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """Its reward."""
        self._update(action=play.arm, reward=1.0 - loss)


class ContextPlayer(Player):
    """`select_action` and `update_params` with a context. Rewards run from `low` to `high`, 0 to 1 as a rule."""

    def __init__(self, policy: Any, low: float = 0.0, high: float = 1.0) -> None:
        self._select, self._update = policy.select_action, policy.update_params
        self._high, self._range = high, high - low

    def prepare(self, X: Floats) -> list[Floats]:
        """A matrix of one row each."""
        return list(X[:, None, :])

    def decide(self, x: Floats) -> Play:
        """The first of a list of one."""
        return Play(self._select(x).item())

    def learn(self, x: Floats, play: Play, loss: float) -> None:
        """Its reward."""
        self._update(action=play.arm, reward=self._high - self._range * loss, context=x)


def _lints(table: Table, settings: Settings) -> Player:
    from obp.policy import LinTS

    policy = LinTS(dim=table.width, n_actions=table.arms, random_state=table.seed)
    return ContextPlayer(policy, high=settings["reward"])


def _linucb(table: Table, settings: Settings) -> Player:
    from obp.policy import LinUCB

    return ContextPlayer(LinUCB(dim=table.width, n_actions=table.arms, random_state=table.seed, **settings))


def _logistic(table: Table, settings: Settings) -> Player:
    from obp.policy import LogisticTS

    rest = {name: value for name, value in settings.items() if name != "failure"}
    return ContextPlayer(
        LogisticTS(dim=table.width, n_actions=table.arms, random_state=table.seed, **rest), low=settings["failure"]
    )


def _bernoulli(table: Table, settings: Settings) -> Player:
    from obp.policy import BernoulliTS

    return FreePlayer(BernoulliTS(n_actions=table.arms, random_state=table.seed))


LIBRARY = Library(
    name="obp",
    package="obp",
    module="obp",
    source="x",
    own_environment=("obp==0.4.1", "torch<2.14"),
    algorithms=(
        Algorithm("LinTS", _lints, default={"reward": 1.0}, grid=({"reward": 3.0}, {"reward": 10.0}), constant=True),
        Algorithm(
            "LinUCB", _linucb, default={"epsilon": 0.0}, grid=tuple({"epsilon": e} for e in (0.1, 0.3, 1.0)), constant=True
        ),
        Algorithm(
            "LogisticTS",
            _logistic,
            default={"failure": 0.0, "alpha_": 1.0, "lambda_": 1.0, "batch_size": 1},
            grid=({"failure": -1.0, "alpha_": 1.0, "lambda_": 1.0, "batch_size": 1},),
            constant=True,
        ),
        Algorithm("BernoulliTS", _bernoulli, encodings=("none",)),
    ),
)
