"""The models of Sections VI-A and VI-B."""

import math

import numpy as np
from numpy.typing import NDArray

from ..checks import is_number
from ..errors import InputError, quoted
from ..types import Floats, Ints
from .base import Problem

SHIFT = [1, 2, 0]  # after the change arm 1 has the model of arm 2, arm 2 that of arm 3, and arm 3 that of arm 1


class Stationary(Problem):
    """The model of Section VI-A: one feature s in [0, 1], three arms that lose 1 with probability 1/2 + sin(2 pi s)/2, sin(pi s) and s.

    >>> Stationary().sample(100_000, seed=0).losses.mean().round(2)
    np.float64(0.55)
    """

    def __init__(self) -> None:
        super().__init__(arms=3)

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return waves_and_line(contexts)


class SuddenChange(Problem):
    """The model of Section VI-B: `Stationary`, whose arms swap models after the share `at` of the rounds, between 0 and 1.

    >>> SuddenChange().change(100_000)
    25000
    """

    def __init__(self, *, at: float = 0.25) -> None:
        super().__init__(arms=3)
        if not is_number(at) or not 0.0 < at < 1.0:
            raise InputError(f"at must lie between 0 and 1, the share of rounds before the change; given {quoted(at)}.")
        self.at = float(at)

    def change(self, rounds: int) -> int:
        """Return the first round, from 0, that has the new model, if there are `rounds` rounds."""
        return math.floor(self.at * rounds + 1e-9)

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return shift_models(waves_and_line(contexts), when >= self.change(rounds))


class SortedContexts(Stationary):
    """`Stationary` with contexts in increasing order: what a policy learned in small contexts never helps again.

    >>> contexts = SortedContexts().sample(100, seed=0).contexts
    >>> bool((contexts[1:] >= contexts[:-1]).all())
    True
    """

    def _contexts(self, rng: np.random.Generator, rounds: int) -> Floats:
        return np.sort(rng.random((rounds, 1)), axis=0)


def waves_and_line(contexts: Floats) -> Floats:
    """Return the expected losses of VI-A's three models, shape (T, 3), at contexts of shape (T, 1)."""
    s = contexts[:, 0]
    return np.column_stack([0.5 + 0.5 * np.sin(2 * np.pi * s), np.sin(np.pi * s), s])


def shift_models(expected: Floats, rows: NDArray[np.bool_]) -> Floats:
    """Swap the arms' models in some rows, in place; return the table."""
    expected[rows] = expected[rows][:, SHIFT]
    return expected
