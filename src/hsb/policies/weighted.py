"""Exponential weights over a list of experts, one by one: the engine behind EXP4 and the mixture of mappings."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import theory
from ..errors import InputError
from ..types import Arrays, Floats, Ints, Masks
from .located import Located


class Weighted(Located, listed=False):
    """A weight for each expert, that kernels update, at a rate that is constant or falls with the rounds.

    `_locate` leaves the advice of the round in row `_row` of `_advice` (`kernels/experts.py` says what that is).
    """

    _advice: NDArray[Any]
    _row: int

    def _start(self, log_prior: Floats, *, horizon: float | None, learning_rate: float | None) -> None:
        """The last step of a constructor."""
        self.learning_rate = theory.constant_rate(
            self._prior_bound(), arms=len(self.arms), horizon=horizon, learning_rate=learning_rate
        )
        self.horizon = None if horizon is None else float(horizon)
        self._logs = log_prior.astype(np.float64)
        self._weights = np.empty(len(self._logs))
        self._refresh()
        self._kernels.rescale(self._logs, self._weights)

    # -- what the two differ in --------------------------------------------------------------------------------------

    @abstractmethod
    def _prior_bound(self) -> float:
        """ln(1/beta), at most, of the experts that the rate is meant for."""

    @abstractmethod
    def _rows(self, points: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
        """The advice for a part of a table, and which row of it each round has."""

    # -- a round -----------------------------------------------------------------------------------------------------

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        found: tuple[int, float] = self._kernels.decide(self._logs, self._weights, self._advice, self._row, offered, self._p, u)
        return found

    def _fill(self, offered: Masks, p: Floats) -> None:
        self._kernels.mix(self._logs, self._weights, self._advice, self._row, offered, p)

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        rate = self.learning_rate if self.learning_rate is not None else float(self._anytime(self.rounds + 1.0))
        x = rate * loss / propensity
        self._kernels.learn(self._logs, self._weights, self._advice, self._row, offered, index, x)

    def _play(
        self, points: NDArray[Any], masks: Masks, losses: Floats, us: Floats, played: Any, chances: Floats, to_come: int
    ) -> None:
        n, first = len(us), self.rounds + 1
        if self.learning_rate is not None:
            rates = np.full(n, self.learning_rate)
        else:
            rates = self._anytime(np.arange(first, first + n, dtype=np.float64))
        advice, which = self._rows(points)
        self._kernels.play(self._logs, self._weights, advice, which, masks, self._p, losses, us, rates, played, chances)

    def _anytime(self, t: Any) -> Any:
        """The rate of round t, or of an array of rounds: sqrt(ln(1/beta) / (M t))."""
        return np.sqrt(self._cost / t)

    # -- the whole policy --------------------------------------------------------------------------------------------

    @property
    def weights(self) -> Floats:
        """The experts' weights at present: a distribution, in their order.

        >>> import hsb
        >>> hsb.Exp4(3, arms=2, learning_rate=0.1, prior=[1, 1, 2]).weights
        array([0.25, 0.25, 0.5 ])
        """
        found: Floats = np.exp(self._logs - self._logs.max())
        found /= found.sum()
        return found

    def _bound(self, horizon: float | None) -> float:
        """Theorem 1 against every expert that the rate is meant for; infinite for a falling rate."""
        if self.learning_rate is None:
            return float("inf")
        horizon = self.horizon if horizon is None else horizon
        if horizon is None:
            raise InputError("Over how many rounds? Give regret_bound(horizon): this policy was made without one.")
        return theory.mixture_bound(self._prior_bound(), learning_rate=self.learning_rate, arms=len(self.arms), horizon=horizon)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        super()._refresh()
        if not hasattr(self, "_kernels"):
            from ..kernels import experts

            self._kernels = experts
        cost, arms = self._prior_bound(), len(self.arms)
        self._cost = cost / arms
        if self.horizon is not None:
            self.learning_rate = theory.constant_rate(cost, arms=arms, horizon=self.horizon, learning_rate=None)

    def _rate_settings(self) -> dict[str, Any]:
        return {"horizon": self.horizon, "learning_rate": self.learning_rate if self.horizon is None else None}

    def _detach(self) -> None:
        self._logs, self._weights = self._logs.copy(), self._weights.copy()

    def _arrays(self) -> Arrays:
        return {"logs": self._logs, "weights": self._weights}

    def _set_arrays(self, arrays: Arrays) -> None:
        super()._set_arrays(arrays)
        seen = self._weights > 0.0
        if (self._weights < 0.0).any() or not self._weights.sum() >= self._kernels.LOW:
            raise ValueError("its weights must be at least 0, and not all of them")
        if np.abs(np.log(self._weights[seen]) - self._logs[seen]).max() > 1e-3 or (self._logs[~seen] > -690.0).any():
            raise ValueError("its weights are not those of its logarithms")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_kernels"}
