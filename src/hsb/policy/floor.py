"""A floor under every offered arm, so that what is logged can be learned from."""

from collections.abc import Hashable
from typing import ClassVar

import numpy as np

from ..types import Floats, Masks

BELOW_ONE = float(np.nextafter(1.0, 0.0))


class Floored:
    """A policy that plays the share `floor` of its decisions uniformly: each offered arm with at least floor / (arms offered).

    It says what it would play otherwise (`_choose`, `_fill`); the propensities of what is played are exact.
    """

    arms: list[Hashable]
    floor: float
    even: float
    """The share that is played uniformly now: `floor`, or more where a policy needs it."""
    floors_tables: ClassVar[bool] = False
    """Does its own `_play` look at `floor`? Else tables are played round by round where there is one."""

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        """The arm for the located context and its propensity, without the floor."""
        raise NotImplementedError

    def _fill(self, offered: Masks, p: Floats) -> None:
        """The distribution over arms for the located context, without the floor, into p."""
        raise NotImplementedError

    def _floored(self, offered: Masks, u: float) -> tuple[int, float]:
        """`_choose`, but the share `floor` of all decisions is uniform over the offered arms; the propensity says so."""
        if self.even == 0.0:
            return self._choose(offered, u)
        among = np.flatnonzero(offered) if len(offered) else np.arange(len(self.arms))
        if u < self.even:
            p = np.empty(len(self.arms))
            self._fill(offered, p)
            index = int(among[min(int(u / self.even * len(among)), len(among) - 1)])
            chance = float(p[index])
        else:
            index, chance = self._choose(offered, min((u - self.even) / (1.0 - self.even), BELOW_ONE))
        return index, min((1.0 - self.even) * chance + self.even / len(among), 1.0)

    def _raised(self, p: Floats, offered: Masks) -> Floats:
        """A distribution, or a table of them with a mask for each row, with the floor."""
        if self.even == 0.0:
            return p
        among = (offered > 0).astype(np.float64) if len(offered) else np.ones(p.shape)
        return np.asarray((1.0 - self.even) * p + self.even * among / among.sum(axis=-1, keepdims=True))
