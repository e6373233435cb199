"""A policy that somebody wrote: two methods, `distribution` and `update`, are its algorithm."""

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


class Own(Learner):
    """The learner of a policy that defines `distribution(context)` and `update(context, index, loss, propensity)` itself.

    What is learned are the policy's own attributes. `update` is Python code: if an interrupt comes while it runs, the round does not count.
    """

    any_context = True

    def __init__(self, policy: Policy, seen: int = 0) -> None:
        self.policy, self._seen = policy, seen

    def of(self, policy: Policy) -> Own:
        """The same for a copy of the policy."""
        return Own(policy, self._seen)

    @property
    def seen(self) -> int:
        return self._seen

    def read(self, context: Any) -> tuple[Any, int]:
        return context, 0

    def choose(self, seen: Any, mask: Masks | None, u: float) -> Choice:
        p = np.empty(len(self.policy.arm_set))
        self.fill(seen, mask, p)
        arm = min(int(np.searchsorted(np.cumsum(p), u * p.sum(), side="right")), len(p) - 1)
        arm = arm if p[arm] > 0.0 else int(np.argmax(p))
        return arm, min(float(p[arm]), 1.0), -1.0

    def fill(self, seen: Any, mask: Masks | None, p: Floats) -> None:
        distribution = self._method(
            "distribution", "must say what it plays: define distribution(self, context), a number for each arm"
        )
        p[:] = distribution_of(distribution(seen), len(p), f"{self._name}.distribution")
        if mask is not None:
            p *= mask
            if not p.any():
                p[:] = mask
        p /= p.sum()

    def learn(self, seen: Any, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> None:
        update = self._method("update", "must say how it learns: define update(self, context, index, loss, propensity)")
        update(seen, arm, loss, probability)
        self._seen += 1

    def check(self, contexts: Any) -> tuple[Any, int]:
        n = rows_of(contexts)
        if isinstance(contexts, np.ndarray):
            return contexts, 0
        table = np.empty(n, dtype=object)
        for t, context in enumerate(contexts):
            table[t] = context
        return table, 0

    def with_arm(self, arm: Hashable, features: Any = None) -> Own:
        raise InputError(f"{self._name} cannot take another arm while running. Make a new one with all the arms.")

    def copy(self) -> Own:
        return self

    def to_arrays(self) -> Arrays:
        return {name: value for name, value in vars(self.policy).items() if isinstance(value, np.ndarray) and name[0] != "_"}

    def from_arrays(self, arrays: Arrays, rounds: int) -> Own:
        take_arrays(self.to_arrays(), arrays)
        return Own(self.policy, rounds)

    def settings(self) -> dict[str, Any]:
        raise InputError(
            f"{self._name} cannot be written to a file: it does not say its settings. Define settings(self), a dict of the "
            "constructor's arguments beside arms, loss_range, outside, floor and seed."
        )

    def shown(self) -> dict[str, Any]:
        try:
            return self.policy.settings()
        except InputError:  # it does not say them
            return {}

    @property
    def _name(self) -> str:
        return type(self.policy).__name__

    def _method(self, name: str, needed: str) -> Any:
        method = getattr(self.policy, name, None)
        if method is None:
            raise InputError(f"{self._name} {needed}.")
        return method
