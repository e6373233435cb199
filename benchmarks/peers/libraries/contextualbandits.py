"""contextualbandits, by David Cortes: a model of the reward for each arm, and many ways to explore over it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..base import Algorithm, BatchPlayer, Floats, Library, Play, Player, Settings, Table, coins

SHARE = 20  # trees are fitted anew when the rounds have grown by one part in so many


class _Streaming(BatchPlayer):
    """Updates go to `partial_fit` as they come."""

    def __init__(self, policy: Any, table: Table, *, first: int, binary: bool, tells: bool) -> None:
        self._policy = policy
        self._arms = table.arms
        self._first = first
        self._binary = binary
        self._tells = tells
        self._rng = np.random.default_rng([table.seed, 1])
        self._updates = 0

    def decide_many(self, X: Floats) -> list[Play]:
        """Uniformly at random in the first rounds, if there are to be any; then what the policy says."""
        if self._updates < self._first:
            return [Play(arm, 1 / self._arms) for arm in self._rng.integers(self._arms, size=len(X)).tolist()]
        if self._tells:
            found = self._policy.predict(X, output_score=True)
            return [Play(*one) for one in zip(found["choice"].tolist(), found["score"].ravel().tolist(), strict=True)]
        return list(map(Play, self._policy.predict(X).tolist()))

    def learn_many(self, X: Floats, plays: list[Play], losses: Floats) -> None:
        """Rewards, for a classifier made 0 or 1 by a coin with that mean."""
        rewards = 1.0 - losses
        if self._binary:
            coins(rewards, self._rng)
        self._updates += len(plays)
        self._take(X, np.array([one.arm for one in plays]), rewards)

    def _take(self, X: Floats, arms: Any, rewards: Floats) -> None:
        self._policy.partial_fit(X, arms, rewards)


class _Refitting(_Streaming):
    """All updates are kept, and go to `fit` again when there is a twentieth more of them."""

    def __init__(self, policy: Any, table: Table, *, first: int) -> None:
        super().__init__(policy, table, first=first, binary=True, tells=False)
        self._old: list[tuple[Any, ...]] = []
        self._new: list[tuple[Any, ...]] = []
        self._due = 1

    def _take(self, X: Floats, arms: Any, rewards: Floats) -> None:
        self._new.append((X, arms, rewards))
        if self._updates >= self._due:
            new, self._new = self._new, []  # what the library refuses is not available again
            self._due = self._updates + max(1, self._updates // SHARE)
            everything = tuple(map(np.concatenate, zip(*self._old, *new, strict=True)))
            self._policy.fit(*everything, continue_from_last=True)
            self._old = [everything]


def _tuples(value: Any) -> Any:
    """Lists as tuples, also within: to this library a list of priors is one prior an arm."""
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _make(name: str, table: Table, settings: Settings) -> Player:
    """The policy of that name. `first`, `base` and `penalty` are ours, the rest are its own arguments."""
    from contextualbandits import online

    own = {key: _tuples(value) for key, value in settings.items() if key not in ("first", "base", "penalty")}
    jobs = ("njobs_arms", "njobs_samples") if name.startswith("Bootstrapped") else ("njobs",)
    own |= dict.fromkeys(jobs, 1) | {"nchoices": table.arms, "random_state": np.random.default_rng([table.seed, 0])}
    if "base" in settings:
        own |= {"base_algorithm": _base(settings, table.seed), "batch_train": True}
    policy = getattr(online, name)(**own)
    if name.startswith("Partitioned"):
        return _Refitting(policy, table, first=settings["first"])
    binary = settings.get("base") == "sgd"
    return _Streaming(policy, table, first=settings["first"], binary=binary, tells=name == "SoftmaxExplorer")


def _base(settings: Settings, seed: int) -> Any:
    """What learns an arm's rewards: scikit-learn's logistic regression by steps, or the library's own ridge regression."""
    if settings["base"] == "sgd":
        from sklearn.linear_model import SGDClassifier

        return SGDClassifier(loss="log_loss", random_state=seed % 2**32)
    from contextualbandits.linreg import LinearRegression

    return LinearRegression(lambda_=settings["penalty"], fit_intercept=True, method="sm", use_float=False)


def _algorithm(name: str, default: Settings, *others: Settings, trees: bool = False, says: str) -> Algorithm:
    """The grid differs from the default in a few settings at a time."""
    make: Callable[[Table, Settings], Player] = partial(_make, name)
    encodings = ("raw", "bins") if trees else ("raw", "cubic", "bins")
    return Algorithm(name, make, default, tuple(default | other for other in others), encodings, batch=50, says=says)


LIBRARY = Library(
    name="contextualbandits",
    package="contextualbandits",
    module="contextualbandits.online",
    source="https://contextual-bandits.readthedocs.io, and the repository's example/online_contextual_bandits.ipynb",
    says="Meant for rewards 0 and 1 and for batches: its own example has 50 rounds in each, the first 50 at random. `first` "
    "are such rounds; none by default, since a policy without data draws arms at random by itself. One thread. Losses "
    "between 0 and 1 go to the regressions as they are, and to classifiers and trees as a coin with that mean.",
    algorithms=(
        _algorithm(
            "LinUCB",
            {"first": 0, "alpha": 1.0, "lambda_": 1.0, "ucb_from_empty": True, "beta_prior": None, "use_float": True},
            {"use_float": False},
            {"use_float": False, "first": 50, "alpha": 0.3, "ucb_from_empty": False},
            {"use_float": False, "first": 50, "alpha": 0.1, "ucb_from_empty": False},
            {"use_float": False, "first": 50, "alpha": 0.03, "ucb_from_empty": False},
            {"use_float": False, "alpha": 0.1, "ucb_from_empty": False, "beta_prior": "auto"},
            {"use_float": False, "first": 50, "alpha": 0.3, "lambda_": 0.1, "ucb_from_empty": False},
            says="A ridge regression an arm. By default in single precision, which after 100,000 rounds costs it dearly where "
            "features are correlated (cubic); `use_float=False` does not. Its documentation would have alpha lower than the "
            "default and a prior for arms without data; the example's setting is alpha 0.1 after 50 random rounds. With a "
            "low alpha and neither, it stays with the first arm that pays.",
        ),
        _algorithm(
            "LinTS",
            {"first": 0, "v_sq": 1.0, "lambda_": 1.0, "sample_from": "coef", "beta_prior": None},
            {"first": 50, "sample_from": "ci"},
            {"first": 50, "sample_from": "ci", "v_sq": 0.3},
            {"first": 50, "sample_from": "ci", "v_sq": 0.1},
            {"sample_from": "ci", "v_sq": 0.3, "beta_prior": "auto"},
            {"first": 50, "sample_from": "ci", "v_sq": 0.3, "lambda_": 0.1},
            says="In version 0.3.30 `sample_from='coef'`, the default, draws the coefficients with the covariance X'X "
            "instead of its inverse: the more data, the more noise. `sample_from='ci'` draws the prediction, and "
            "works.",
        ),
        _algorithm(
            "BootstrappedUCB",
            {"first": 0, "base": "sgd", "nsamples": 10, "percentile": 80, "beta_prior": "auto", "refit_buffer": None},
            {"first": 50, "refit_buffer": 50},
            {"first": 50, "base": "ridge", "penalty": 10.0},
            {"first": 50, "base": "ridge", "penalty": 1.0},
            {"first": 50, "base": "ridge", "penalty": 1.0, "percentile": 95},
            {"first": 50, "base": "ridge", "penalty": 0.1},
            says="Ten models an arm, each with random weights for its updates, as `batch_train` has it. The base is the "
            "README's SGDClassifier or the example's ridge regression, in double precision.",
        ),
        _algorithm(
            "SoftmaxExplorer",
            {
                "first": 0,
                "base": "sgd",
                "multiplier": 1.0,
                "inflation_rate": 1.0004,
                "beta_prior": "auto",
                "smoothing": None,
                "refit_buffer": None,
            },
            {"first": 50, "beta_prior": None, "smoothing": (1, 2), "refit_buffer": 50},
            {"first": 50, "base": "ridge", "penalty": 10.0, "beta_prior": None, "smoothing": (1, 2), "refit_buffer": 50},
            {"first": 50, "base": "ridge", "penalty": 1.0},
            {"first": 50, "base": "ridge", "penalty": 1.0, "inflation_rate": None, "multiplier": 10.0},
            {"first": 50, "base": "ridge", "penalty": 1.0, "inflation_rate": None, "multiplier": 30.0},
            says="Draws an arm by a softmax of the log odds, sharper by 0.04 % with every decision; tells the probability. "
            "The grid's first setting is the example's.",
        ),
        _algorithm(
            "PartitionedUCB",
            {"first": 0, "percentile": 80, "ucb_prior": (1, 1), "beta_prior": "auto"},
            {"first": 50},
            {"first": 50, "min_samples_leaf": 10},
            {"first": 50, "min_samples_leaf": 20},
            {"first": 50, "min_samples_leaf": 50},
            {"first": 50, "min_samples_leaf": 20, "percentile": 95},
            trees=True,
            says="A decision tree an arm, an upper bound in each leaf. It has no `partial_fit`: all data are kept and the "
            "trees fitted anew whenever there is a twentieth more, also when updates come one at a time. Fitting every "
            "50 rounds, as the example does, was no better on VI-A and eight times slower.",
        ),
    ),
)
