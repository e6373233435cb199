"""A policy with the methods of MABWiser's MAB: `fit`, `partial_fit`, `predict`, `predict_expectations`, `add_arm`, `remove_arm`.

MABWiser's Simulator accepts one if MABWiser is installed; nothing here needs it.
"""

import contextlib
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np

from ..checks import is_number
from ..errors import InputError, quoted
from ..policies import Exp3, Uniform
from ..policy import Policy, tables
from ..policy.decision import Decision
from ..structures.spaces import numbers
from .player import copied
from .waiting import Waiting

Probability = float | Callable[[Any, Hashable], float]


class MABWiserBandit:
    """A policy in place of `mabwiser.mab.MAB`. Contexts have two dimensions: lists, arrays or data frames; or are left out.

    - `policy`: a copy of it plays, random numbers included. It need not be fitted first.
    - `waiting`: the number of decisions that may wait for their reward. `partial_fit` carries no propensities, so each row is matched with the
      decision that `predict` decisions for that arm and context, and learned with the propensity of that decision. By default those of the
      last call of `predict` wait. For late rewards use a larger number; then the oldest decision for that arm and context is matched, and
      beyond that number the oldest of all is forgotten.
    - `logged_propensity`: the probability of each arm in a log, a number or a function of context and arm. With it, all rows of `fit` and
      `partial_fit` are a log of another's decisions. MABWiser's Simulator needs it. LinUCB and TreeThompson ignore its value.

    A log needs propensities: `fit` begins again and learns a log, with `propensities=` for its rows, or `logged_propensity`. `partial_fit`
    takes `propensities=` too; without either, a row that no decision waits for raises `InputError`. A call that raises
    learns nothing. Rewards must lie in the policy's `loss_range`.

    `predict_expectations` gives the probability with which each arm would be played, not an expected reward, which these policies do not
    estimate.

    >>> import hsb
    >>> bandit = MABWiserBandit(hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], seed=0))
    >>> bandit.fit(["a", "b"], [1, 0], [[0.1], [0.2]], propensities=[0.5, 0.5])
    >>> arms = bandit.predict([[0.1], [0.9], [0.4]])
    >>> bandit.partial_fit(arms, [1.0, 0.0, 1.0], [[0.1], [0.9], [0.4]])
    >>> bandit.policy.rounds
    5
    """

    policy: Policy
    """The policy in its present state."""

    n_jobs = 1
    backend = None

    def __init__(self, policy: Policy, *, waiting: int = 1, logged_propensity: Probability | None = None) -> None:
        self._source = copied(policy, adapter="MABWiserBandit")
        self.policy = policy.copy()
        known = logged_propensity is None or callable(logged_propensity)
        if not known and not (is_number(logged_propensity) and 0.0 < logged_propensity <= 1.0):
            needed = "in (0, 1], the probability with which the log played its arms, or a function of context and arm"
            raise InputError(f"logged_propensity must be {needed}; given {quoted(logged_propensity)}.")
        self._waiting = Waiting(waiting)
        self.logged_propensity = logged_propensity

    @property
    def arms(self) -> list[Hashable]:
        """The arms available by default."""
        return self.policy.active_arms

    @property
    def is_contextual(self) -> bool:
        """Whether the policy takes contexts; Exp3 and Uniform ignore them."""
        return not isinstance(self.policy, Exp3 | Uniform)

    def add_arm(self, arm: Hashable, binarizer: None = None) -> None:
        """Add an arm, or bring a removed one back. `binarizer` exists for MABWiser's signature and must be None."""
        if binarizer is not None:
            raise InputError(
                "binarizer must be None; given a binarizer. Convert rewards to 0 and 1 before fit and partial_fit."
            )
        self.policy.add_arm(arm)
        self._source.add_arm(arm)

    def remove_arm(self, arm: Hashable) -> None:
        """Make an arm unavailable until `add_arm` brings it back."""
        self.policy.remove_arm(arm)
        self._source.remove_arm(arm)

    def fit(self, decisions: Any, rewards: Any, contexts: Any = None, *, propensities: Any = None) -> None:
        """Begin again, and learn a log in its order: an entry for each row in `decisions` (the arms), `rewards` and `contexts`.

        `propensities` are the probabilities with which these arms were played; None takes `logged_propensity`.
        """
        rows = _rows(decisions, rewards, contexts)
        probabilities = self._probabilities(rows, propensities)
        if probabilities is None and rows:
            raise InputError(
                "fit learns a log and needs the probabilities of its decisions; given none. Give propensities=, one for each row, or make "
                "the adapter with logged_propensity=. Rewards of decisions of predict go to partial_fit."
            )
        policy = self._source.copy()
        _learn(policy, _logged(rows, probabilities or []), rows)
        self.policy = policy
        self._waiting = Waiting(self._waiting.limit)

    def partial_fit(self, decisions: Any, rewards: Any, contexts: Any = None, *, propensities: Any = None) -> None:
        """Learn the rewards of decisions that `predict` decisions; with `propensities`, learn further rows of a log.

        Arguments as in `fit`.
        """
        rows = _rows(decisions, rewards, contexts)
        if (probabilities := self._probabilities(rows, propensities)) is None:
            own = self._waiting.find([(context, arm) for context, arm, _ in rows], logged="propensities=")
            decisions = [decision for _, decision in own]
        else:
            own, decisions = [], _logged(rows, probabilities)
        before = self.policy.copy() if len(rows) > 1 else self.policy  # a single row is learned or not, by itself
        try:
            _learn(self.policy, decisions, rows)
        except BaseException:
            self.policy = before
            raise
        self._waiting.drop([number for number, _ in own])

    def predict(self, contexts: Any = None) -> Any:
        """Return the arm to play: one arm without a context or for a single one, else a list."""
        decisions = [self.policy.decide(context) for context in self._check_contexts(contexts)]
        self._waiting.add(decisions)
        return decisions[0].arm if len(decisions) == 1 else [decision.arm for decision in decisions]

    def predict_expectations(self, contexts: Any = None) -> Any:
        """Return the present probability of each arm: a dict without a context or for a single one, else a list. Changes nothing.

        >>> import hsb
        >>> MABWiserBandit(hsb.Exp3(arms=["a", "b"])).predict_expectations()
        {'a': 0.5, 'b': 0.5}
        """
        shares = [self._shares(context) for context in self._check_contexts(contexts)]
        return shares[0] if len(shares) == 1 else shares

    @property
    def _imp(self) -> Self:
        """The attribute in which MABWiser's Simulator finds the expectations of a context-free bandit."""
        return self

    @property
    def arm_to_expectation(self) -> dict[Hashable, float]:
        """The probability of each arm without a context."""
        return self._shares(None)

    def _shares(self, context: Any) -> dict[Hashable, float]:
        active = set(self.arms)
        shares = zip(self.policy.arms, self.policy.probabilities(context).tolist(), strict=True)
        return {arm: share for arm, share in shares if arm in active}

    def _check_contexts(self, contexts: Any) -> list[Any]:
        """Contexts to decide for, every one usable."""
        if contexts is None:
            return [None]
        space = getattr(self.policy, "space", None) or getattr(getattr(self.policy, "structure", None), "space", None)
        points = _points(contexts, single=space is not None and space.features > 1)  # so is a series of numbers read
        tables.check(self.policy, np.array(points))
        return points

    def _probabilities(self, rows: Sequence[Any], propensities: Any) -> list[float] | None:
        """The propensity of each row of a log; None where the rows are the policy's own decisions."""
        if propensities is None:
            if (logged := self.logged_propensity) is None:
                return None
            return [logged(context, arm) if callable(logged) else logged for context, arm, _ in rows]
        probabilities: list[float] = numbers("propensities", propensities).reshape(-1).tolist()
        if len(probabilities) != len(rows):
            raise InputError(f"propensities must be one for each of the {len(rows)} decisions; given {len(probabilities)}.")
        return probabilities


def _rows(decisions: Any, rewards: Any, contexts: Any) -> list[tuple[Any, Hashable, Any]]:
    """Context, arm and reward of each row."""
    arms, values = _listed("decisions", decisions), _listed("rewards", rewards)
    points = [None] * len(arms) if contexts is None else _points(contexts, single=len(arms) == 1)
    if not len(arms) == len(values) == len(points):
        counts = f"{len(arms)}, {len(values)} and {len(points)}"
        raise InputError(f"decisions, rewards and contexts need a row for each round; given {counts}.")
    return list(zip(points, arms, values, strict=True))


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, list | tuple):
        return list(values)
    if not hasattr(values, "tolist") or getattr(values, "ndim", 0) != 1:
        raise InputError(f"{name} must be a list, or an array or series of one dimension; given {quoted(values)}.")
    return list(values.tolist())


def _points(contexts: Any, *, single: bool) -> list[Any]:
    """The contexts one by one. A series is one context of several features, or several of one, as MABWiser reads it."""
    table = numbers("contexts", contexts)
    if table.ndim == 1 and not isinstance(contexts, list | tuple | np.ndarray):
        table = table.reshape(1, -1) if single else table.reshape(-1, 1)
    if table.ndim != 2:
        raise InputError(f"contexts must have two dimensions, a row for each round; given shape {table.shape}.")
    return table[:, 0].tolist() if table.shape[1] == 1 else list(table.copy())


def _logged(rows: Sequence[tuple[Any, Hashable, Any]], probabilities: Sequence[float]) -> list[Decision]:
    return [Decision(context=context, arm=arm, propensity=p) for (context, arm, _), p in zip(rows, probabilities, strict=True)]


def _learn(policy: Policy, decisions: Sequence[Decision], rows: Sequence[tuple[Any, Hashable, Any]]) -> None:
    for number, (decision, (_, _, reward)) in enumerate(zip(decisions, rows, strict=True)):
        try:
            policy.learn(decision, reward=reward)
        except InputError as error:
            raise InputError(f"Row {number}: {error}") from error


with contextlib.suppress(ImportError):  # its Simulator checks the class of a bandit
    from mabwiser.base_mab import BaseMAB

    BaseMAB.register(MABWiserBandit)
