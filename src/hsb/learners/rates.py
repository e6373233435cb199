"""At which rate a learner learns: constant, from a horizon, or falling. A value; when the rate falls, there is another one."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol, Self

from ..errors import InputError
from ..theory import constant_rate
from ..theory.checks import check_at_least_zero, check_horizon
from ..theory.schedule import Schedule, Stretch


class Prior(Protocol):
    """What a rate is meant for: a class of mappings, or experts, and their prior weights."""

    def bound(self, arms: int) -> float:
        """A, an upper bound on ln(1/beta) of the mappings that the rate is meant for."""

    def schedule(self, arms: int, learning_rate: float | None) -> Schedule:
        """The rates: constant, or falling if `learning_rate` is None."""


class Rates(NamedTuple):
    """A schedule, the phase of it that the learner is in, and the rate. The rate never rises once something was learned."""

    learning_rate: float | None
    """The constant rate; None if the rate falls."""
    horizon: float | None
    schedule: Schedule
    phase: Stretch
    rate: float
    """At which the next round is learned."""

    @classmethod
    def begin(cls, prior: Prior, arms: int, *, horizon: float | None, learning_rate: float | None) -> Self:
        """The rates of a fresh learner, from what its policy's constructor is given."""
        constant = constant_rate(prior.bound(arms), arms=arms, horizon=horizon, learning_rate=learning_rate)
        schedule = prior.schedule(arms, constant)
        phase = schedule.stretch(0)
        return cls(constant, None if horizon is None else float(horizon), schedule, phase, phase.rate)

    def for_arms(self, prior: Prior, arms: int, rounds: int, late: float = 0.0) -> Self:
        """The rates for another number of arms, after `rounds` rounds: a constant rate that came from a horizon is another one."""
        constant = self.learning_rate
        if self.horizon is not None:
            constant = constant_rate(prior.bound(arms), arms=arms, horizon=self.horizon, learning_rate=None)
            if rounds > 0 and constant is not None:
                constant = min(constant, self.rate)
        return self._replace(learning_rate=constant, schedule=prior.schedule(arms, constant)).turned(rounds, late)

    def turned(self, rounds: int, late: float = 0.0) -> Self:
        """The phase that `rounds` rounds have come to, and its rate. `late` rounds count on top, for feedback that came late."""
        phase = self.schedule.stretch(int(rounds + late))
        return self._replace(phase=phase, rate=min(phase.rate, self.rate) if rounds > 0 else phase.rate)

    def bound(
        self,
        cost: float,
        horizon: float | None,
        *,
        arms: int,
        floor: float,
        implicit: bool = False,
        delay: float = 0.0,
        lean: float = 0.0,
    ) -> float:
        """What the schedule proves against mappings with ln(1/beta) = cost, over `horizon` rounds or those it was made for."""
        horizon = self.horizon if horizon is None else horizon
        if horizon is None:
            raise InputError("Over how many rounds? Give regret_bound(horizon): this policy was made without one.")
        check_horizon(horizon)
        check_at_least_zero("delay", delay)
        if delay == math.inf:
            raise InputError(
                "delay must be a number of rounds; given infinity. Feedback that never comes is never learned from."
            )
        return self.schedule.bound(cost, arms=arms, horizon=horizon, implicit=implicit, floor=floor, delay=delay, lean=lean)

    def from_file(self, rate: Any) -> Self:
        """With the rate that a file holds; ValueError if that is none."""
        if rate.shape != (1,) or not 0.0 < rate[0] < math.inf:
            raise ValueError("its rate must be a positive number")
        return self._replace(rate=float(rate[0]))

    def settings(self) -> dict[str, Any]:
        """What a file says of them."""
        return {"horizon": self.horizon, "learning_rate": self.learning_rate if self.horizon is None else None}
