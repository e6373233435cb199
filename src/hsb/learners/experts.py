"""Exponential weights over a list of experts, one by one: the learner of EXP4 and of the mixture of mappings."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Generic, Self, TypeVar

import numpy as np

from .. import reproducible_math
from ..policy.learner import Choice, Learner, Memo, Played, take_arrays
from ..types import Arrays, Floats, Ints, Masks
from .advice import Advised, AdvisedRows, ExpertAdvice, MappingAdvice
from .expert_priors import ExpertsPrior, MappingsPrior
from .masks import EVERY_ARM, masks_of
from .rates import Rates

PriorKind = TypeVar("PriorKind", ExpertsPrior, MappingsPrior)


class Experts(Learner, Generic[PriorKind]):
    """A weight for each expert, at a rate that is constant or falls with the rounds. The view of a context is a row of advice.

    `logs` are the logarithms of the weights and `scaled` the weights, both up to a common factor (`engine/kernels/experts.py`).
    `counted` has one number, the rounds learned.
    """

    any_context = True

    def __init__(
        self,
        prior: PriorKind,
        source: ExpertAdvice | MappingAdvice,
        arms: int,
        rates: Rates,
        logs: Floats,
        scaled: Floats,
        counted: Ints,
    ) -> None:
        from ..engine.kernels import experts  # loads Numba: on first use

        self._kernels = experts
        self.prior: PriorKind = prior
        self.source, self.arms, self.rates = source, arms, rates
        self.logs, self.scaled, self.counted = logs, scaled, counted
        self._p = np.empty(arms)  # scratch

    @classmethod
    def fresh(
        cls, prior: PriorKind, arms: list[Hashable], *, horizon: float | None, learning_rate: float | None, who: str
    ) -> Self:
        """Make a learner that has learned nothing. Functions return labels of `arms`; `who` names the policy in messages."""
        rates = Rates.begin(prior, len(arms), horizon=horizon, learning_rate=learning_rate)
        logs, scaled = prior.logs.copy(), np.empty(len(prior.logs))
        learner = cls(prior, prior.source(arms, who), len(arms), rates, logs, scaled, np.zeros(1, dtype=np.int64))
        learner._kernels.rescale(logs, scaled)
        return learner

    @property
    def weights(self) -> Floats:
        """The experts' weights, with the sum 1."""
        weights: Floats = reproducible_math.exps(self.logs - self.logs.max())
        return np.asarray(weights / weights.sum())

    # -- a round -------------------------------------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        return int(self.counted.item(0))

    def read(self, context: Any) -> tuple[Advised, int]:
        return self.source.read(context)

    def recall(self, context: Any, memo: Memo | None) -> tuple[Advised, int]:
        return self.source.read(context)

    def choose(self, view: Advised, mask: Masks | None, u: float) -> Choice:
        available = EVERY_ARM if mask is None else mask
        arm, probability = self._kernels.decide(self.logs, self.scaled, view.advice, view.row, available, self._p, u)
        return arm, probability, -1.0

    def fill(self, view: Advised, mask: Masks | None, p: Floats) -> None:
        self._kernels.mix(self.logs, self.scaled, view.advice, view.row, EVERY_ARM if mask is None else mask, p)

    def learn(self, view: Advised, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> None:
        x, available = self.rates.rate * loss / probability, EVERY_ARM if mask is None else mask
        self._kernels.learn(self.logs, self.scaled, self.counted, view.advice, view.row, available, arm, x)

    def settle(self, view: Any, rounds: int) -> Self | None:
        return self._at(self.rates.at(rounds)) if rounds >= self.rates.phase.until else None

    def _at(self, rates: Rates) -> Self:
        """Return a copy at these rates; if the rate falls, the weights are flattened."""
        other = self.copy()
        if self.rounds > 0 and rates.rate < self.rates.rate:
            r = rates.rate / self.rates.rate
            other.logs = (1.0 - r) * self.prior.logs + r * (self.logs - self.logs.max())
            self._kernels.rescale(other.logs, other.scaled)
        other.rates = rates
        return other

    # -- tables --------------------------------------------------------------------------------------------------------

    def check(self, contexts: Any) -> tuple[Any, int]:
        return self.source.check(contexts)

    def read_row(self, row: Any) -> Advised:
        return self.source.read_row(row)

    def read_rows(self, points: Any, start: int) -> AdvisedRows:
        return self.source.read_rows(points[start : start + math.ceil(self.rates.phase.until) - self.rounds])

    def play(self, view: AdvisedRows, table: Played, start: int, share: float, to_come: int) -> None:
        rows = slice(start, start + len(view.rows))
        part = self._kernels.Table(view.advice, view.rows, masks_of(table.masks, rows), table.losses[rows], table.us[rows])
        out = table.arms[rows], table.probabilities[rows]
        self._kernels.play(self.logs, self.scaled, self.counted, part, self.rates.rate, self._p, *out)

    # -- what is proved ------------------------------------------------------------------------------------------------

    def bound(self, horizon: float | None, *, floor: float) -> float:
        """A bound on the regret against the experts that the rate is meant for."""
        return self.rates.bound(self.prior.worst_cost, horizon, arms=self.arms, floor=floor)

    # -- arms, copies, files -------------------------------------------------------------------------------------------

    def with_arm(self, arm: Hashable, features: Any = None) -> Self:
        arms, source = self.arms + 1, self.source.with_arm(arm)
        wider = type(self)(self.prior, source, arms, self.rates, self.logs, self.scaled, self.counted)
        return wider._at(self.rates.for_arms(self.prior, arms, self.rounds))

    def copy(self) -> Self:
        arrays = self.logs.copy(), self.scaled.copy(), self.counted.copy()
        return type(self)(self.prior, self.source.copy(), self.arms, self.rates, *arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.prior, self.source, self.arms, self.rates, self.logs, self.scaled, self.counted)

    def to_arrays(self) -> Arrays:
        return {"rate": np.array([self.rates.rate]), "logs": self.logs, "weights": self.scaled}

    def from_arrays(self, arrays: Arrays, rounds: int) -> Self:
        arrays = dict(arrays)
        rates, logs, scaled = self.rates.from_file(arrays.pop("rate")), self.logs.copy(), self.scaled.copy()
        take_arrays({"logs": logs, "weights": scaled}, arrays)
        _check_weights(logs, scaled, self._kernels.LOW)
        before = type(self)(self.prior, self.source, self.arms, rates, logs, scaled, np.array([rounds], dtype=np.int64))
        return before._at(rates.for_arms(self.prior, self.arms, rounds))

    def settings(self) -> dict[str, Any]:
        return {**self.prior.settings(), **self.rates.settings()}

    def repr_settings(self) -> dict[str, Any]:
        return {**self.prior.repr_settings(), "learning_rate": self.rates.learning_rate}


def _check_weights(logs: Floats, scaled: Floats, low: float) -> None:
    """Raise ValueError for weights from a file that no rounds lead to; `low` is the lowest sum of weights."""
    if (logs > 1e-9).any():
        raise ValueError("its weights are above 1")
    positive = scaled > 0.0
    if (scaled < 0.0).any() or not scaled.sum() >= low:
        raise ValueError("its weights must be at least 0, and not all of them")
    if np.abs(np.log(scaled[positive]) - logs[positive]).max() > 1e-3 or (logs[~positive] > -690.0).any():
        raise ValueError("its weights are not those of its logarithms")
