"""A policy as the Open Bandit Pipeline expects it: `obp.simulator.run_bandit_simulation(bandit_feedback, OBPPolicy(policy))`.

Nothing of OBP is imported until its simulator asks for the kind of policy.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import whole
from ..errors import InputError, quoted
from ..policy import Policy
from ..structures.spaces import numbers
from .player import copied
from .waiting import Waiting


class OBPPolicy:
    """A policy as a contextual policy of OBP: `select_action(context)`, `update_params(action, reward, context)`, contexts of shape (1, d).

    - `policy`: a copy of it plays, random numbers included, and `initialize()` begins again. Action i is its i-th arm.
    - `len_list`: the number of actions that a round recommends. Each further action is a separate decision among the remaining arms, with
      its own propensity.
    - `waiting`: the number of decisions that may wait for their reward. OBP's protocol has no propensity, so each update is matched with the
      decision decisions for that action and context, and learned with the propensity of that decision. By default only the last call of
      `select_action` waits: an update must come before the next, or never, as in OBP's own loops. For late rewards use a larger number;
      then the oldest decision for that action and context is matched, and beyond that number the oldest of all is forgotten.

    An update that no decision waits for raises `InputError`, unless it has `propensity=`, the probability with which a log played the action.
    After `run_bandit_simulation` the policy has learned what playing would have only if the log chose its actions uniformly.

    >>> import hsb
    >>> policy = OBPPolicy(hsb.HSB(hsb.BinaryTree(depth=4), arms=3, seed=0))
    >>> context = np.array([[0.3]])
    >>> action = policy.select_action(context)
    >>> policy.update_params(action=action[0], reward=1.0, context=context)
    >>> policy.update_params(action=2, reward=0.0, context=context, propensity=0.25)  # from a log
    >>> policy.n_trial, policy.predict_proba(context).shape
    (2, (1, 3, 1))
    """

    policy: Policy
    """The policy in its present state."""

    def __init__(self, policy: Policy, *, len_list: int = 1, waiting: int = 1) -> None:
        self._source = copied(policy, adapter="OBPPolicy")
        self.policy = policy.copy()
        self.len_list = whole("len_list", len_list, 1)
        if self.len_list > len(policy.active_arms):
            raise InputError(f"len_list is {len_list}, but the policy has {len(policy.active_arms)} arms. Give a smaller one.")
        self._waiting = Waiting(waiting)
        self.policy_name = type(policy).__name__

    @property
    def policy_type(self) -> Any:
        """OBP's word for a policy that is shown contexts."""
        try:
            from obp.policy.policy_type import PolicyType
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "obp":
                raise
            raise ImportError("policy_type is OBP's word, and obp is not installed: pip install obp") from error
        return PolicyType.CONTEXTUAL

    @property
    def n_actions(self) -> int:
        """The number of actions, including removed arms."""
        return len(self.policy.arms)

    @property
    def n_trial(self) -> int:
        """The number of rounds learned, by OBP's name."""
        return self.policy.rounds

    def initialize(self) -> None:
        """Begin again with the original policy, including its random numbers."""
        self.policy = self._source.copy()
        self._waiting = Waiting(self._waiting.limit)

    def select_action(self, context: ArrayLike) -> NDArray[np.int64]:
        """Return an array of the indices of `len_list` different arms, for a context of shape (1, d)."""
        point, left, decisions = _point(context), self.policy.active_arms, []
        for _ in range(self.len_list):
            decisions.append(self.policy.decide(point, available=left))
            left.remove(decisions[-1].arm)
        self._waiting.add(decisions)
        return np.array([self.policy.arms.index(decision.arm) for decision in decisions], dtype=np.int64)

    def update_params(self, action: Any, reward: Any, context: ArrayLike, *, propensity: float | None = None) -> None:
        """Learn the reward of an action in a context of shape (1, d).

        `propensity` is for an action that a log played: the probability with which it did. None: the decision that waits for this reward is
        learned; `InputError` if none waits.
        """
        if isinstance(action, bool) or not isinstance(action, int | np.integer) or not 0 <= action < self.n_actions:
            raise InputError(f"action must be the number of an arm, 0 to {self.n_actions - 1}; given {quoted(action)}.")
        if isinstance(reward, np.ndarray) and reward.size == 1:
            reward = reward.reshape(-1)[0]  # OBP's simulator hands over arrays of one
        self._waiting.learn(self.policy, _point(context), self.policy.arms[int(action)], reward, propensity)

    def predict_proba(self, context: ArrayLike) -> NDArray[np.float64]:
        """The policy's distribution now for contexts (n, d), as OBP's estimators take it: (n, actions, 1). Changes nothing.

        >>> import hsb
        >>> OBPPolicy(hsb.Uniform(arms=2)).predict_proba([[0.1, 0.2]]).tolist()
        [[[0.5], [0.5]]]
        """
        if self.len_list > 1:
            raise InputError(f"predict_proba is for one action a round; len_list is {self.len_list}.")
        table = numbers("context", context)
        if table.ndim != 2:
            raise InputError(f"context must have the shape (rounds, features); given {table.shape}.")
        rows = [self.policy.probabilities(_point(table[t : t + 1])) for t in range(len(table))]
        return np.array(rows).reshape(len(table), self.n_actions, 1)


def _point(context: ArrayLike) -> Any:
    """The one row of (1, d); a single feature as a number."""
    table = numbers("context", context)
    if table.ndim != 2 or table.shape[0] != 1:
        raise InputError(f"context must have the shape (1, features); given {table.shape}.")
    return float(table[0, 0]) if table.shape[1] == 1 else table[0].copy()
