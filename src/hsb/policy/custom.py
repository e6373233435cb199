"""The learner of a user's policy, whose algorithm is two methods: `distribution` and `update`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..types import Arrays, Floats, Masks
from .learner import Choice, Learner, Memo, take_arrays
from .rows import distribution_of, rows_of

if TYPE_CHECKING:
    from .policy import Policy


class CustomLearner(Learner):
    """The learner of a policy that defines `distribution(context)` and `update(context, index, loss, propensity)` itself.

    The policy's attributes are the learned state. `update` is Python code: if an interrupt comes while it runs, the round does not count.
    """

    any_context = True

    def __init__(self, policy: Policy, rounds: int = 0) -> None:
        self.policy, self._rounds = policy, rounds

    def of(self, policy: Policy) -> CustomLearner:
        """Return the learner of a copy of the policy."""
        return CustomLearner(policy, self._rounds)

    @property
    def rounds(self) -> int:
        return self._rounds

    def read(self, context: Any) -> tuple[Any, int]:
        return context, 0

    def choose(self, view: Any, mask: Masks | None, u: float) -> Choice:
        p = np.empty(len(self.policy.arm_set))
        self.fill(view, mask, p)
        arm = min(int(np.searchsorted(np.cumsum(p), u * p.sum(), side="right")), len(p) - 1)
        arm = arm if p[arm] > 0.0 else int(np.argmax(p))
        return arm, min(float(p[arm]), 1.0), -1.0

    def fill(self, view: Any, mask: Masks | None, p: Floats) -> None:
        distribution = self._method(
            "distribution", "has no distribution. Define distribution(self, context), which returns a number for each arm"
        )
        p[:] = distribution_of(distribution(view), len(p), f"{self._name}.distribution")
        if mask is not None:
            p *= mask
            if not p.any():
                p[:] = mask
        p /= p.sum()

    def learn(self, view: Any, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> None:
        update = self._method("update", "has no update. Define update(self, context, index, loss, propensity)")
        update(view, arm, loss, probability)
        self._rounds += 1

    def check(self, contexts: Any) -> tuple[Any, int]:
        n = rows_of(contexts)
        if isinstance(contexts, np.ndarray):
            return contexts, 0
        table = np.empty(n, dtype=object)
        for t, context in enumerate(contexts):
            table[t] = context
        return table, 0

    def with_arm(self, arm: Hashable, features: Any = None) -> CustomLearner:
        raise InputError(f"{self._name} cannot add an arm after construction. Make a new policy with all arms.")

    def copy(self) -> CustomLearner:
        return self

    def to_arrays(self) -> Arrays:
        return {name: value for name, value in vars(self.policy).items() if isinstance(value, np.ndarray) and name[0] != "_"}

    def from_arrays(self, arrays: Arrays, rounds: int) -> CustomLearner:
        take_arrays(self.to_arrays(), arrays)
        return CustomLearner(self.policy, rounds)

    def settings(self) -> dict[str, Any]:
        raise InputError(
            f"{self._name} cannot be written to a file: it has no settings. Define settings(self), which returns a dict of the "
            "constructor's arguments other than arms, loss_range, outside, floor and seed."
        )

    def repr_settings(self) -> dict[str, Any]:
        try:
            return self.policy.settings()
        except InputError:  # it has none
            return {}

    @property
    def _name(self) -> str:
        return type(self.policy).__name__

    def _method(self, name: str, missing: str) -> Any:
        method = getattr(self.policy, name, None)
        if method is None:
            raise InputError(f"{self._name} {missing}.")
        return method
