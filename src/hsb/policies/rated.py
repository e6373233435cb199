"""Policies that learn at a rate: constant, from a horizon, or falling."""

import math
from typing import Any

from ..errors import InputError
from ..policy import Policy
from ..theory import constant_rate
from ..theory.schedule import Constant, Falling, Schedule, Stretch


class Rated(Policy, listed=False):
    """A policy with a schedule, made anew whenever the arms change: a rate that came from a horizon is then another one."""

    learning_rate: float | None
    horizon: float | None
    schedule: Schedule
    _stretch: Stretch

    def _set_rate(self, horizon: float | None, learning_rate: float | None) -> None:
        """What a constructor is given; the last step before `_refresh`."""
        cost, arms = self._prior_bound(), len(self.arms)
        self.learning_rate = constant_rate(cost, arms=arms, horizon=horizon, learning_rate=learning_rate)
        self.horizon = None if horizon is None else float(horizon)

    def _prior_bound(self) -> float:
        """A, an upper bound on ln(1/beta) of the mappings that the rate is meant for."""
        raise NotImplementedError

    def _scheduled(self) -> Schedule:
        """The schedule for the present number of arms."""
        if self.learning_rate is None:
            return Falling(self._prior_bound() / len(self.arms))
        return Constant(self.learning_rate)

    def _refresh(self) -> None:
        super()._refresh()
        if self.horizon is not None:
            self._set_rate(self.horizon, None)
        self.schedule = self._scheduled()
        self._stretch = self.schedule.stretch(self.rounds)

    def _bound(self, cost: float, horizon: float | None) -> float:
        """What the schedule proves against mappings with ln(1/beta) = cost, over `horizon` rounds or those it was made for."""
        if self.schedule.falls:
            return math.inf
        horizon = self.horizon if horizon is None else horizon
        if horizon is None:
            raise InputError("Over how many rounds? Give regret_bound(horizon): this policy was made without one.")
        return self.schedule.bound(cost, arms=len(self.arms), horizon=horizon)

    def _rate_settings(self) -> dict[str, Any]:
        return {"horizon": self.horizon, "learning_rate": self.learning_rate if self.horizon is None else None}
