"""Uniform play: to collect data, and as a yardstick."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..policy import Policy
from ..policy.rows import rows_of
from ..types import Floats, Ints, Masks, Table


class Uniform(Policy):
    """Every offered arm with the same probability, always. It learns nothing, and its logs are the best ones to evaluate others on.

    Contexts may be anything and are not looked at. Arguments as in `hsb.HSB`.

    >>> import hsb
    >>> hsb.Uniform(arms=4).probabilities("any context", available=[0, 2])
    array([0.5, 0. , 0.5, 0. ])
    """

    guarantee: ClassVar[str] = "None: it does not learn."

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return {}  # it looks at none, so any will do

    def _locate(self, context: Any, *, count: bool) -> None:
        pass

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        choices = np.flatnonzero(offered) if len(offered) else np.arange(len(self.arms))
        return int(choices[min(int(u * len(choices)), len(choices) - 1)]), 1.0 / len(choices)

    def _fill(self, offered: Masks, p: Floats) -> None:
        p[:] = 1.0 if not len(offered) else offered
        p /= p.sum()

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        pass

    def check(self, contexts: ArrayLike) -> tuple[Table, int]:
        return np.zeros((rows_of(contexts), 1)), 0

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        if masks.shape[1] == 0:
            arms[:] = np.minimum((us * len(self.arms)).astype(np.int64), len(self.arms) - 1)
            chances[:] = 1.0 / len(self.arms)
            self._commit(bool, rounds=len(us))
            return
        counts = masks.sum(axis=1, dtype=np.int64)
        nth = np.minimum((us * counts).astype(np.int64), counts - 1)
        arms[:] = np.argmax(np.cumsum(masks, axis=1, dtype=np.int64) > nth[:, None], axis=1)
        chances[:] = 1.0 / counts
        self._commit(bool, rounds=len(us))

    def settings(self) -> dict[str, Any]:
        return {}

    def _widen(self) -> None:
        pass
