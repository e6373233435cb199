"""The learner of LinUCB: a ridge regression of each arm's loss, and optimism about what it does not know."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any

import numpy as np

from ..errors import BudgetError, InputError, quoted
from ..files.memory_limit import afford
from ..policy.learner import Choice, Learner, Memo, Played, take_arrays
from ..structures.spaces import Space, numbers
from ..types import Arrays, Floats, Ints, Masks
from .masks import EVERY_ARM, masks_of

MOST_WORDS = 1 << 28  # of the state: 2 GB


@cache
def _kernels() -> Any:
    """The compiled rounds, imported on first use: Numba takes long to load."""
    from ..engine.kernels import lin_ucb

    return lin_ucb


class Regressions(Learner):
    """A ridge regression for each arm; plays the arm with the least estimate - alpha * width. The view of a context is its coordinates.

    `scaled`: coordinates are in [0, 1], not the numbers themselves. `state` and `updates` have the layout of `engine/kernels/lin_ucb.py`.
    """

    def __init__(
        self, space: Space, arms: int, *, scaled: bool, alpha: float, ridge: float, intercept: bool, rounds: int = 0
    ) -> None:
        self.space, self.scaled, self.alpha, self.ridge, self.intercept = space, scaled, alpha, ridge, intercept
        d = space.features + intercept
        _check_budget(arms, d)
        self.state: Floats = np.zeros((arms, 2 * d + 2, d))
        self.state[:, np.arange(d), np.arange(d)] = ridge
        self.state[:, d + np.arange(d), np.arange(d)] = 1.0 / ridge
        self.updates: Ints = np.zeros(arms, dtype=np.int64)
        self._rounds: Ints = np.array([rounds], dtype=np.int64)
        self._scores, self._work = np.empty(arms), np.zeros((d + 2, d))  # scratch

    @property
    def rounds(self) -> int:
        return self._rounds.item(0)

    def read(self, context: Any) -> tuple[Floats, int]:
        self._refuse_dict(context)
        row = numbers("Contexts", context)
        points, clipped = self.check(row.reshape(1, -1) if row.ndim <= 1 else row)
        if len(points) != 1:
            raise InputError(f"One context at a time here; given {len(points)}. hsb.simulate takes whole tables.")
        return self._coordinates(points)[0], clipped

    def choose(self, view: Floats, mask: Masks | None, u: float) -> Choice:
        arguments = self.state, EVERY_ARM if mask is None else mask, self.alpha, view, self._work, self._scores, u
        arm, probability = _kernels().choose(*arguments)
        return arm, probability, -1.0

    def fill(self, view: Floats, mask: Masks | None, p: Floats) -> None:
        kernels = _kernels()
        kernels.scores(self.state, EVERY_ARM if mask is None else mask, self.alpha, view, self._work, p)
        low, ties = kernels.least(p)
        p[:] = np.where(p == low, 1.0 / ties, 0.0)

    def learn(self, view: Floats, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> None:
        _kernels().update(self.state, self.updates, view, arm, loss, self.ridge, self._work, self._rounds)

    def check(self, contexts: Any) -> tuple[Any, int]:
        if isinstance(contexts, list | tuple) and contexts:
            self._refuse_dict(contexts[0])
        return self.space.check(contexts)

    def _refuse_dict(self, context: Any) -> None:
        if isinstance(context, Mapping):
            d = self.space.features
            raise InputError(
                f"LinUCB takes rows of {d} number{'s' * (d > 1)}, not dicts; given a dict with {quoted(list(context))}. "
                "hsb.HSB(arms=...) takes dicts as they are."
            )

    def read_rows(self, points: Any, start: int) -> Floats:
        return self._coordinates(points[start:])

    def play(self, view: Floats, table: Played, start: int, share: float, to_come: int) -> None:
        rows = slice(start, start + len(view))
        arguments = (
            view,
            masks_of(table.masks, rows),
            table.losses[rows],
            table.us[rows],
            self.alpha,
            self.ridge,
            self._work,
            self._scores,
        )
        _kernels().play(self.state, self.updates, *arguments, table.arms[rows], table.probabilities[rows], self._rounds)

    def _coordinates(self, points: Floats) -> Floats:
        return np.ascontiguousarray(self.space.to_unit(points) if self.scaled else points)

    def with_arm(self, arm: Hashable, features: Any = None) -> Regressions:
        return self._with_arms(len(self.updates) + 1)

    def copy(self) -> Regressions:
        return self._with_arms(len(self.updates))

    def _with_arms(self, arms: int) -> Regressions:
        """Return a copy for this number of arms; new arms have no updates."""
        settings: Any = {"scaled": self.scaled, "alpha": self.alpha, "ridge": self.ridge, "intercept": self.intercept}
        other, known = Regressions(self.space, arms, **settings, rounds=self.rounds), len(self.updates)
        other.state[:known], other.updates[:known] = self.state, self.updates
        return other

    def to_arrays(self) -> Arrays:
        return {"state": self.state, "updates": self.updates}

    def from_arrays(self, arrays: Arrays, rounds: int) -> Regressions:
        take_arrays(self.to_arrays(), arrays)
        d = self.state.shape[2]
        for block in (self.state[:, :d], self.state[:, d : 2 * d]):
            if not np.array_equal(block, block.transpose(0, 2, 1)):
                raise ValueError("its matrices are not symmetric")
        if (self.updates < 0).any() or (self.state[:, np.arange(d), np.arange(d)] < self.ridge).any():
            raise ValueError("its matrices are not those of its ridge")
        self._rounds[0] = rounds
        return self

    def settings(self) -> dict[str, Any]:
        return {
            "features": self.space.to_dict() if self.scaled else self.space.features,
            "alpha": self.alpha,
            "ridge": self.ridge,
            "intercept": self.intercept,
        }

    def repr_settings(self) -> dict[str, Any]:
        features = self.space if self.scaled else self.space.features
        return {"features": features, "alpha": self.alpha, "ridge": self.ridge}


def _check_budget(arms: int, coefficients: int) -> None:
    """Refuse regressions that take more than two gigabytes."""
    words = arms * (2 * coefficients + 2) * coefficients
    if words > MOST_WORDS:
        raise BudgetError(
            f"{arms} arms with {coefficients} coefficients need {words * 8 / 2**30:.1f} GB; the limit is "
            f"{MOST_WORDS * 8 / 2**30:.0f} GB. Use fewer features or fewer arms."
        )
    afford(words)
