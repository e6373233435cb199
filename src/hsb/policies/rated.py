"""Policies that learn at a rate: constant, from a horizon, or falling."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import reproducible_math
from ..errors import InputError
from ..policy import Policy
from ..theory import constant_rate
from ..theory.checks import check_at_least_zero, check_horizon
from ..theory.schedule import Constant, Falling, Schedule, Stretch
from ..types import Arrays


class Rated(Policy, listed=False):
    """A policy with a schedule, made anew whenever the arms change: a rate that came from a horizon is then another one.

    The rate at which it learns never rises once it has learned something, and when it falls, what was learned is flattened (`_flatten`).
    """

    learning_rate: float | None
    horizon: float | None
    schedule: Schedule
    rate: float
    """At which the next round is learned."""
    _stretch: Stretch
    _late = 0.0  # rounds that the schedule counts on top of those learned, for feedback that came late

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
            return Falling(self._prior_bound(), arms=len(self.arms))
        return Constant(self.learning_rate)

    def _flatten(self, r: float) -> dict[str, Any]:
        """The rate falls by the factor r: the attributes that change, what was learned copied and flattened."""
        raise NotImplementedError

    def _turn(self, rounds: int) -> None:
        """After `rounds` rounds: the stretch that they have come to, all of it in one step."""
        self._go_on()
        stretch = self.schedule.stretch(int(rounds + self._late))
        rate, found = stretch.rate, {}
        if rounds > 0 and rate != self.rate:
            rate = min(rate, self.rate)
            if rate < self.rate:
                found = self._flatten(rate / self.rate)
        self._ahead = found | {"rate": rate, "_stretch": stretch, "_due": math.ceil(stretch.until - self._late)}
        self._go_on()

    def _go_on(self) -> None:
        """Be what the new stretch makes of it. Where that is interrupted, it is done again."""
        if self._ahead is not None:
            for name, value in self._ahead.items():
                setattr(self, name, value)
            self._ahead = None

    def _catch_up(self) -> None:
        self._go_on()
        if self.rounds + self._late >= self._stretch.until:
            self._turn(self.rounds)

    def _stretches(self, n: int) -> Iterator[slice]:
        """The next n rounds cut where rate or drift change; in between, the turn."""
        done, before = 0, self.rounds
        while done < n:
            stop = min(n, math.ceil(self._stretch.until - self._late) - before)
            yield slice(done, stop)
            done = stop
            self.rounds = before + done
            if self.rounds + self._late >= self._stretch.until:
                self._turn(self.rounds)

    def _refresh(self) -> None:
        super()._refresh()
        self._go_on()
        if self.horizon is not None:
            self._set_rate(self.horizon, None)
            if self.rounds > 0 and self.learning_rate is not None:
                self.learning_rate = min(self.learning_rate, self.rate)
        self.schedule = self._scheduled()
        self._turn(self.rounds)

    def _bound(
        self, cost: float, horizon: float | None, *, implicit: bool = False, delay: float = 0.0, lean: float = 0.0
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
        arms = len(self.arms)
        return self.schedule.bound(
            cost, arms=arms, horizon=horizon, implicit=implicit, floor=self.floor, delay=delay, lean=lean
        )

    def to_arrays(self) -> Arrays:
        return {"rate": np.array([self.rate])}

    def resume(self, arrays: Arrays, *, rounds: int, **rest: Any) -> None:
        arrays = dict(arrays)
        rate = arrays.pop("rate", np.array([self._rate_before(rounds)]))
        if rate.shape != (1,) or not 0.0 < rate[0] < math.inf:
            raise ValueError("its rate must be a positive number")
        self.rate = float(rate[0])
        super().resume(arrays, rounds=rounds, **rest)

    def _rate_before(self, rounds: int) -> float:
        """The rate at which a policy learned whose file is of format 3 or less: it did not say."""
        if self.learning_rate is None:
            return math.sqrt(max(self._prior_bound(), reproducible_math.ln(2.0)) / (len(self.arms) * max(rounds, 1)))
        return self.learning_rate

    def _rate_settings(self) -> dict[str, Any]:
        return {"horizon": self.horizon, "learning_rate": self.learning_rate if self.horizon is None else None}
