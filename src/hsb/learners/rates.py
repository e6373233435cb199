"""`Rates`: a learner's rate, which is constant, set by a horizon, or falling. Immutable: a fall makes another value."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, Protocol, Self

from ..errors import InputError, quoted
from ..theory import constant_rate
from ..theory.checks import check_at_least_zero, check_horizon
from ..theory.confident import FALL
from ..theory.schedule import BaselineShift, Phase, Schedule

LearningRate = float | Literal["confident"] | None


class Prior(Protocol):
    """A class of mappings or experts, with prior weights, that a rate is set for."""

    def bound(self, arms: int) -> float:
        """Return A, an upper bound on ln(1/beta) of the mappings that set the rate."""

    def schedule(self, arms: int, learning_rate: LearningRate) -> Schedule:
        """Return the schedule: constant, or falling without a constant `learning_rate`."""


class Rates(NamedTuple):
    """A schedule, its present phase, and the rate, which never rises once something has been learned."""

    learning_rate: LearningRate
    """The constant rate; None if the rate falls, "confident" if it falls with the excess."""
    horizon: float | None
    schedule: Schedule
    phase: Phase
    rate: float
    """The rate of the next update."""

    @classmethod
    def begin(cls, prior: Prior, arms: int, *, horizon: float | None, learning_rate: LearningRate) -> Self:
        """Make the rates of a fresh learner from the arguments of its policy's constructor."""
        constant: LearningRate = "confident"
        if not is_confident(learning_rate):
            number = number_or_none(learning_rate)
            constant = constant_rate(prior.bound(arms), arms=arms, horizon=horizon, learning_rate=number)
        elif horizon is not None:
            raise InputError("Give horizon= or learning_rate=, not both: the horizon is only used to set the rate.")
        schedule = prior.schedule(arms, constant)
        phase = schedule.phase(0)
        return cls(constant, None if horizon is None else float(horizon), schedule, phase, phase.rate)

    def for_arms(self, prior: Prior, arms: int, rounds: int, late: float = 0.0) -> Self:
        """Return the rates for another number of arms, after `rounds` rounds. A constant rate from a horizon is computed again."""
        constant = self.learning_rate
        if self.horizon is not None:
            new_rate = constant_rate(prior.bound(arms), arms=arms, horizon=self.horizon, learning_rate=None)
            assert new_rate is not None  # a horizon has a rate
            constant = min(new_rate, self.rate) if rounds > 0 else new_rate
        return self._replace(learning_rate=constant, schedule=prior.schedule(arms, constant)).at(rounds, late)

    @property
    def excess_limit(self) -> float:
        """The excess above which the rate falls; 0 if it does not depend on the excess."""
        return 0.0 if self.schedule.patience is None else self.schedule.patience / self.rate

    def at(self, rounds: int, late: float = 0.0, *, excess: float = 0.0) -> Self:
        """Return the rates in effect after `rounds` rounds with this excess. `late` rounds are added for late feedback."""
        phase = self.schedule.phase(int(rounds + late))
        after = self._replace(phase=phase, rate=min(phase.rate, self.rate) if rounds > 0 else phase.rate)
        while after.schedule.patience is not None and excess > after.excess_limit:
            after = after._replace(rate=after.rate / FALL)
        return after

    def bound(
        self,
        cost: float,
        horizon: float | None,
        *,
        arms: int,
        floor: float,
        implicit: bool = False,
        delay: float = 0.0,
        shift: BaselineShift | None = None,
    ) -> float:
        """Return the schedule's bound against mappings with ln(1/beta) = cost, over `horizon` rounds; default: its own horizon."""
        horizon = self.horizon if horizon is None else horizon
        if horizon is None:
            raise InputError(
                "regret_bound needs a horizon, the number of rounds: this policy has none. Use regret_bound(horizon)."
            )
        check_horizon(horizon)
        check_at_least_zero("delay", delay)
        if delay == math.inf:
            raise InputError(
                "delay must be a finite number of rounds; given infinity. Feedback that never comes is never learned."
            )
        return self.schedule.bound(cost, arms=arms, horizon=horizon, implicit=implicit, floor=floor, delay=delay, shift=shift)

    def from_file(self, rate: Any) -> Self:
        """Return these with the rate of a file; ValueError if it is not a rate."""
        if rate.shape != (1,) or not 0.0 < rate[0] < math.inf:
            raise ValueError("its rate must be a positive number")
        return self._replace(rate=float(rate[0]))

    def settings(self) -> dict[str, Any]:
        """Return the settings that a file holds."""
        return {"horizon": self.horizon, "learning_rate": self.learning_rate if self.horizon is None else None}


def is_confident(learning_rate: LearningRate) -> bool:
    """Return whether the rate is "confident"; InputError for any other text."""
    if isinstance(learning_rate, str) and learning_rate != "confident":
        raise InputError(f"learning_rate must be a positive number, None or 'confident'; given {quoted(learning_rate)}.")
    return isinstance(learning_rate, str)


def number_or_none(learning_rate: LearningRate) -> float | None:
    """Return a constant rate or None; InputError for "confident", which only the default has."""
    if isinstance(learning_rate, str):
        raise InputError(
            "learning_rate='confident' is for the default, HSB(arms=...) or HSB(structure, arms=...) with drift='auto'. "
            "Leave drift out, or give a number."
        )
    return learning_rate
