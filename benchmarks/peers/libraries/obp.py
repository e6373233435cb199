"""Open Bandit Pipeline: its online policies. `select_action` takes one context, `update_params` one reward."""

from __future__ import annotations

from typing import Any

from ..base import Algorithm, Floats, Library, Play, Player, Settings, Table


class FreePlayer(Player):
    """A policy without contexts."""

    def __init__(self, policy: Any) -> None:
        self._select, self._update = policy.select_action, policy.update_params

    def decide(self, x: Any) -> Play:
        """A list of one."""
        return Play(self._select().item())

    def learn(self, x: Any, play: Play, loss: float) -> None:
        """Its reward."""
        self._update(action=play.arm, reward=1.0 - loss)


class ContextPlayer(Player):
    """A policy with contexts. A loss of 0 is a reward of `best`, a loss of 1 one of `worst`."""

    def __init__(self, policy: Any, best: float = 1.0, worst: float = 0.0) -> None:
        self._select, self._update = policy.select_action, policy.update_params
        self._best, self._range = best, best - worst

    def prepare(self, X: Floats) -> list[Floats]:
        """Matrices of one row."""
        return list(X[:, None, :])

    def decide(self, x: Floats) -> Play:
        """A list of one."""
        return Play(self._select(x).item())

    def learn(self, x: Floats, play: Play, loss: float) -> None:
        """Its reward."""
        self._update(action=play.arm, reward=self._best - self._range * loss, context=x)


def _lints(table: Table, settings: Settings) -> Player:
    from obp.policy import LinTS

    return ContextPlayer(LinTS(dim=table.width, n_actions=table.arms, random_state=table.seed), best=settings["best"])


def _linucb(table: Table, settings: Settings) -> Player:
    from obp.policy import LinUCB

    return ContextPlayer(LinUCB(dim=table.width, n_actions=table.arms, random_state=table.seed, epsilon=settings["epsilon"]))


def _logistic(table: Table, settings: Settings) -> Player:
    from obp.policy import LogisticTS

    own = {name: settings[name] for name in ("alpha_", "lambda_", "batch_size")}
    policy = LogisticTS(dim=table.width, n_actions=table.arms, random_state=table.seed, **own)
    return ContextPlayer(policy, worst=settings["worst"])


def _bernoulli(table: Table, settings: Settings) -> Player:
    from obp.policy import BernoulliTS

    return FreePlayer(BernoulliTS(n_actions=table.arms, random_state=table.seed, **settings))


LIBRARY = Library(
    name="obp",
    package="obp",
    module="obp.policy",
    source="https://zr-obp.readthedocs.io: obp.policy.linear, logistic, contextfree; examples/online of st-tech/zr-obp",
    own_environment=("obp==0.4.1", "torch<2.14"),
    says="A library for off-policy evaluation; its online policies take one context at a time. No propensity in or out. Arm -1 is taken "
    "for the last arm, and NaN is learnt. 0.4.1, since 0.5 asks for Python below 3.11; the policies are the same in 0.5.7.",
    algorithms=(
        Algorithm(
            "LinTS",
            _lints,
            default={"best": 1.0},
            grid=({"best": 3.0}, {"best": 10.0}),
            constant=True,
            says="no knobs: it takes the noise to be 1. Larger rewards are the one way to tell it otherwise. Each decision draws the weights "
            "of every arm, by a singular value decomposition each: slow with many arms.",
        ),
        Algorithm(
            "LinUCB",
            _linucb,
            default={"epsilon": 0.0},
            grid=tuple({"epsilon": epsilon} for epsilon in (0.1, 0.3, 1.0, 2.0)),
            constant=True,
            says="its default, epsilon = 0, does not explore.",
        ),
        Algorithm(
            "LogisticTS",
            _logistic,
            default={"worst": 0.0, "alpha_": 1.0, "lambda_": 1.0, "batch_size": 1},
            grid=(
                {"worst": -1.0, "alpha_": 1.0, "lambda_": 1.0, "batch_size": 1},
                {"worst": -1.0, "alpha_": 1.0, "lambda_": 0.1, "batch_size": 1},
                {"worst": -1.0, "alpha_": 1.0, "lambda_": 1.0, "batch_size": 50},
            ),
            constant=True,
            says="fed 0 and 1, as its simulator does, it learns from successes alone: its logistic loss wants -1 and 1, as the grid has it.",
        ),
        Algorithm("BernoulliTS", _bernoulli, default={"alpha": None, "beta": None}, encodings=("none",)),
    ),
)
