"""Every available arm with the same probability, always."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..policy.learner import Choice, Learner, Memo, Played
from ..policy.rows import rows_of
from ..types import Arrays, Floats, Masks


class UniformPlay(Learner):
    """It counts rounds and learns nothing. The view of a context is None."""

    def __init__(self, arms: int, rounds: int = 0) -> None:
        self.arms, self._rounds = arms, rounds

    @property
    def rounds(self) -> int:
        return self._rounds

    def read(self, context: Any) -> tuple[None, int]:
        return None, 0

    def choose(self, view: Any, mask: Masks | None, u: float) -> Choice:
        choices = np.arange(self.arms) if mask is None else np.flatnonzero(mask)
        return int(choices[min(int(u * len(choices)), len(choices) - 1)]), 1.0 / len(choices), -1.0

    def fill(self, view: Any, mask: Masks | None, p: Floats) -> None:
        p[:] = 1.0 if mask is None else mask
        p /= p.sum()

    def learn(self, view: Any, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> None:
        self._rounds += 1

    def check(self, contexts: Any) -> tuple[Any, int]:
        return np.zeros((rows_of(contexts), 1)), 0

    def read_rows(self, points: Any, start: int) -> int:
        return len(points) - start

    def play(self, view: int, table: Played, start: int, share: float, to_come: int) -> None:
        rows = slice(start, start + view)
        us = table.us[rows]
        if table.masks is None:
            table.arms[rows] = np.minimum((us * self.arms).astype(np.int64), self.arms - 1)
            table.probabilities[rows] = 1.0 / self.arms
        else:
            masks = table.masks[rows]
            counts = masks.sum(axis=1, dtype=np.int64)
            nth = np.minimum((us * counts).astype(np.int64), counts - 1)
            table.arms[rows] = np.argmax(np.cumsum(masks, axis=1, dtype=np.int64) > nth[:, None], axis=1)
            table.probabilities[rows] = 1.0 / counts
        self._rounds += view

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return {}  # it looks at none, so any will do

    def with_arm(self, arm: Hashable, features: Any = None) -> UniformPlay:
        return UniformPlay(self.arms + 1, self._rounds)

    def copy(self) -> UniformPlay:
        return UniformPlay(self.arms, self._rounds)

    def to_arrays(self) -> Arrays:
        return {}

    def from_arrays(self, arrays: Arrays, rounds: int) -> UniformPlay:
        return UniformPlay(self.arms, rounds)

    def settings(self) -> dict[str, Any]:
        return {}
