"""Exponential weights over a list of experts, one by one: the engine behind EXP4 and the mixture of mappings."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import reproducible_math
from ..types import Arrays, Floats, Ints, Masks, Table
from .located import Located
from .rated import Rated


class Weighted(Rated, Located, listed=False):
    """A weight for each expert, that kernels update, at a rate that is constant or falls with the rounds.

    The advice of the located round is row `_row` of `_advice` (`engine/kernels/experts.py` says what that is).
    """

    _kernels: ClassVar[Any]
    _own = ("locator", "_logs", "_weights")
    _advice: NDArray[Any]
    _row: int

    def _start(self, log_prior: Floats, *, horizon: float | None, learning_rate: float | None) -> None:
        """The last step of a constructor."""
        self._set_rate(horizon, learning_rate)
        self._log_prior = log_prior.astype(np.float64)
        self._logs = self._log_prior.copy()
        self._weights = np.empty(len(self._logs))
        self._refresh()
        self._kernels.rescale(self._logs, self._weights)

    def _locate(self, context: Any, *, count: bool) -> None:
        super()._locate(context, count=count)
        self._row = int(self.locator.key[0])

    def _rows(self, points: Table) -> tuple[NDArray[Any], Ints]:
        """The advice for a part of a table, and which row of it each round has; here, where experts are mappings of cells."""
        return self._advice, np.ascontiguousarray(self.locator.keys(points)[:, 0])

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        return self._kernels.decide(self._logs, self._weights, self._advice, self._row, offered, self._p, u)  # type: ignore[no-any-return]

    def _fill(self, offered: Masks, p: Floats) -> None:
        self._kernels.mix(self._logs, self._weights, self._advice, self._row, offered, p)

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        x = self.rate * loss / propensity
        self._commit(self._kernels.learn, self._logs, self._weights, self._advice, self._row, offered, index, x)

    def _flatten(self, r: float) -> dict[str, Any]:
        logs = (1.0 - r) * self._log_prior + r * (self._logs - self._logs.max())
        weights = self._weights.copy()
        self._kernels.rescale(logs, weights)
        return {"_logs": logs, "_weights": weights}

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        advice, which = self._rows(points)
        table = self._kernels.Table(advice, which, masks, losses, us)
        for part in self._stretches(len(us)):
            given = (self._logs, self._weights, table, self.rate, self._p, arms, chances, part.start, part.stop)
            self._commit(self._kernels.play, *given, rounds=part.stop)

    @property
    def weights(self) -> Floats:
        """The experts' weights at present: an array in their order, with the sum 1.

        >>> import hsb
        >>> hsb.Exp4(3, arms=2, learning_rate=0.1, prior=[1, 1, 2]).weights
        array([0.25, 0.25, 0.5 ])
        """
        weights: Floats = reproducible_math.exps(self._logs - self._logs.max())
        return np.asarray(weights / weights.sum())

    def _refresh(self) -> None:
        super()._refresh()
        from ..engine.kernels import experts

        type(self)._kernels = experts
        self._p = np.empty(len(self.arms))

    def to_arrays(self) -> Arrays:
        return {**super().to_arrays(), "logs": self._logs, "weights": self._weights}

    def take_arrays(self, arrays: Arrays) -> None:
        super().take_arrays({**arrays, **Rated.to_arrays(self)})
        if (self._logs > 1e-9).any():
            raise ValueError("its weights are above 1")
        seen = self._weights > 0.0
        if (self._weights < 0.0).any() or not self._weights.sum() >= self._kernels.LOW:
            raise ValueError("its weights must be at least 0, and not all of them")
        if np.abs(np.log(self._weights[seen]) - self._logs[seen]).max() > 1e-3 or (self._logs[~seen] > -690.0).any():
            raise ValueError("its weights are not those of its logarithms")
