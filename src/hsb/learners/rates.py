"""At which rate a learner learns: constant, from a horizon, or falling. A value; when the rate falls, there is another one."""

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
    """What a rate is meant for: a class of mappings, or experts, and their prior weights."""

    def bound(self, arms: int) -> float:
        """A, an upper bound on ln(1/beta) of the mappings that the rate is meant for."""

    def schedule(self, arms: int, learning_rate: LearningRate) -> Schedule:
        """The rates: constant, or falling if `learning_rate` is None or "confident"."""


class Rates(NamedTuple):
    """A schedule, the phase of it that the learner is in, and the rate. The rate never rises once something was learned."""

    learning_rate: LearningRate
    """The constant rate; None if the rate falls, "confident" if it falls by what was seen."""
    horizon: float | None
    schedule: Schedule
    phase: Phase
    rate: float
    """At which the next round is learned."""

    @classmethod
    def begin(cls, prior: Prior, arms: int, *, horizon: float | None, learning_rate: LearningRate) -> Self:
        """The rates of a fresh learner, from what its policy's constructor is given."""
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
        """The rates for another number of arms, after `rounds` rounds: a constant rate that came from a horizon is another one."""
        constant = self.learning_rate
        if self.horizon is not None:
            found = constant_rate(prior.bound(arms), arms=arms, horizon=self.horizon, learning_rate=None)
            assert found is not None  # a horizon has a rate
            constant = min(found, self.rate) if rounds > 0 else found
        return self._replace(learning_rate=constant, schedule=prior.schedule(arms, constant)).turned(rounds, late)

    @property
    def excess_limit(self) -> float:
        """The excess above which the rate falls; 0 if it does not follow the excess."""
        return 0.0 if self.schedule.patience is None else self.schedule.patience / self.rate

    def turned(self, rounds: int, late: float = 0.0, *, excess: float = 0.0) -> Self:
        """The phase that `rounds` rounds and their excess have come to, and its rate.

        `late` rounds count on top, for feedback that came late.
        """
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
        """What the schedule proves against mappings with ln(1/beta) = cost, over `horizon` rounds or those it was made for."""
        horizon = self.horizon if horizon is None else horizon
        if horizon is None:
            raise InputError(
                "regret_bound needs a horizon, the number of rounds: this policy has none. Use regret_bound(horizon)."
            )
        check_horizon(horizon)
        check_at_least_zero("delay", delay)
        if delay == math.inf:
            raise InputError(
                "delay must be a number of rounds; given infinity. Feedback that never comes is never learned from."
            )
        return self.schedule.bound(cost, arms=arms, horizon=horizon, implicit=implicit, floor=floor, delay=delay, shift=shift)

    def from_file(self, rate: Any) -> Self:
        """With the rate that a file holds; ValueError if that is none."""
        if rate.shape != (1,) or not 0.0 < rate[0] < math.inf:
            raise ValueError("its rate must be a positive number")
        return self._replace(rate=float(rate[0]))

    def settings(self) -> dict[str, Any]:
        """What a file says of them."""
        return {"horizon": self.horizon, "learning_rate": self.learning_rate if self.horizon is None else None}


def is_confident(learning_rate: LearningRate) -> bool:
    """Is it to follow what was seen? InputError if it is text that says something else."""
    if isinstance(learning_rate, str) and learning_rate != "confident":
        raise InputError(f"learning_rate must be a positive number, None or 'confident'; given {quoted(learning_rate)}.")
    return isinstance(learning_rate, str)


def number_or_none(learning_rate: LearningRate) -> float | None:
    """A constant rate, or none; InputError if it is to follow what was seen, which only the default does."""
    if isinstance(learning_rate, str):
        raise InputError(
            "learning_rate='confident' is for the default, HSB(arms=...) or HSB(structure, arms=...) with drift='auto'. "
            "Leave drift out, or give a number."
        )
    return learning_rate
