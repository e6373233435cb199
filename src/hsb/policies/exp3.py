"""EXP3: one distribution over arms, whatever the context."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sized
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import theory
from ..errors import InputError
from ..members import Member
from ..structures.leaves import Leaves
from .mixture import Mixture


class Exp3(Mixture):
    """Exponential weights over the arms with importance-weighted losses; the context may be anything and is not looked at.

    Exactly HSB on a single leaf. With a `horizon` T the rate is sqrt(2 ln M / (T M)); with neither a horizon nor a `learning_rate` it falls
    as sqrt(ln M / (M t)).

    >>> import hsb
    >>> policy = hsb.Exp3(arms=["a", "b"], horizon=1000, seed=0)
    >>> policy.learn(policy.decide(None), reward=1.0)
    >>> round(policy.regret_bound())
    53
    """

    guarantee: ClassVar[str] = "Against every single arm, whatever the losses: sqrt(2 M T ln M), with a horizon."

    def __init__(
        self,
        *,
        arms: int | Iterable[Hashable],
        horizon: float | None = None,
        learning_rate: float | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(Leaves(1), arms=arms, horizon=horizon, learning_rate=learning_rate, loss_range=loss_range, seed=seed)

    def regret_bound(self, horizon: float | None = None) -> float:
        """ln M / rate + M T rate / 2; at the theory's rate, sqrt(2 M T ln M). Infinite for a falling rate.

        >>> import hsb
        >>> round(hsb.Exp3(arms=3, horizon=100_000).regret_bound())
        812
        """
        if self.learning_rate is None:
            return super().regret_bound(horizon)
        return theory.mixture_bound(
            self._prior_bound(), learning_rate=self.learning_rate, arms=len(self.arms), horizon=self._horizon(horizon)
        )

    def _locate(self, context: Any, *, count: bool) -> None:
        pass  # there is one cell, number 0

    def _check_contexts(self, contexts: ArrayLike) -> tuple[NDArray[Any], int]:
        return np.zeros((rows_of(contexts), 1)), 0

    def _table_keys(self, points: NDArray[Any]) -> tuple[NDArray[np.int64], ...]:
        return (np.zeros((len(points), 1), dtype=np.int64),)

    def _fresh(self) -> list[Member]:
        return self.structure.members(len(self.arms), None)

    def _prior_bound(self) -> float:
        return math.log(len(self.arms))

    def _best_cost(self) -> float:
        return self._prior_bound()  # that of every mapping

    def _settings(self) -> dict[str, Any]:
        return {"horizon": self.horizon, "learning_rate": self.learning_rate if self.horizon is None else None}

    def _shown(self) -> dict[str, Any]:
        return {"learning_rate": self.learning_rate}


def rows_of(contexts: Any) -> int:
    """How many contexts a table has, for policies that do not look at them.

    >>> rows_of([None, "anything"])
    2
    """
    if not isinstance(contexts, Sized) or isinstance(contexts, str | bytes) or getattr(contexts, "shape", None) == ():
        raise InputError(f"A table of contexts is needed, one row a round; given {contexts!r}.")
    return len(contexts)
