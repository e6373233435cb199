"""Variants of VI-A that change often, in some contexts only, or in an arm that is no longer played."""

from collections.abc import Iterator

import numpy as np

from ..checks import is_number, whole
from ..errors import InputError, quoted
from ..types import Floats, Ints
from .base import Problem, RandomProblem
from .paper import SuddenChange, shift_models, waves_and_line


class LocalChange(SuddenChange):
    """`Stationary`; after the share `at` of the rounds the arms change places, but only in contexts below `below`.

    >>> LocalChange()
    LocalChange(at=0.5, below=0.25)
    """

    def __init__(self, *, at: float = 0.5, below: float = 0.25) -> None:
        super().__init__(at=at)
        if not is_number(below) or not 0.0 < below <= 1.0:
            raise InputError(f"below must lie in (0, 1]: contexts below it change; given {quoted(below)}.")
        self.below = float(below)

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        return shift_models(waves_and_line(contexts), (when >= self.change(rounds)) & (contexts[:, 0] < self.below))


class Changes(RandomProblem):
    """`Stationary`, whose arms are permuted at random `count` times, after equal numbers of rounds.

    `model`, a number, is the seed of the permutations.

    >>> round(Changes(count=3).best_loss(1000), 4)  # that of Stationary
    0.1957
    """

    def __init__(self, *, count: int = 10, model: int = 0) -> None:
        self.count = whole("count", count, 0, 10**6)
        super().__init__(arms=3, model=model)

    def _draw(self, rng: np.random.Generator) -> None:
        orders = [rng.permutation(3)]
        while len(orders) <= self.count:
            order = rng.permutation(3)
            if (order != orders[-1]).any():
                orders.append(order)
        self._orders = np.array(orders)

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        starts = np.arange(self.count + 1) * rounds // (self.count + 1)
        phase = np.searchsorted(starts, when, side="right") - 1
        return np.take_along_axis(waves_and_line(contexts), self._orders[phase], axis=1)


class HiddenImprovement(Problem):
    """Three arms are expected to lose 0.3, 0.5 and 0.6, whatever the context; after half of the rounds the second loses 0.1.

    A policy that then plays only the first arm never sees the change.

    >>> round(HiddenImprovement().best_loss(1000), 12)
    0.2
    """

    def __init__(self) -> None:
        super().__init__(arms=3)

    def expected(self, contexts: Floats, when: Ints, rounds: int) -> Floats:
        losses = np.tile([0.3, 0.5, 0.6], (len(contexts), 1))
        losses[when >= rounds // 2, 1] = 0.1
        return losses

    def _phases(self, rounds: int) -> Iterator[tuple[int, float]]:
        half = rounds // 2
        yield 0, half / rounds
        yield half, 1.0 - half / rounds
