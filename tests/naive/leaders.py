"""Slow, simple versions of the policies that follow a best mapping, and of their oracles. Contexts are given as leaves."""

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mapping = tuple[int, ...]
WORD = (1 << 64) - 1


def runs(mapping: Sequence[int]) -> int:
    return 1 + sum(a != b for a, b in pairwise(mapping))


def mappings(leaves: int, arms: int, regions: int | None = None) -> Iterator[Mapping]:
    """Return every mapping with at most `regions` regions, in order."""
    for mapping in product(range(arms), repeat=leaves):
        if regions is None or runs(mapping) <= regions:
            yield mapping


def best_mapping(totals: Array, regions: int | None = None) -> tuple[float, Mapping]:
    """The least loss, and the first mapping that has it."""
    return min((sum(float(totals[i, m]) for i, m in enumerate(g)), g) for g in mappings(*totals.shape, regions))


def splitmix64(state: int) -> int:
    """Return the output of splitmix64 in this state."""
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & WORD
    return state ^ (state >> 31)


GAMMA = 0x9E3779B97F4A7C15


def laplace(u: float, number: int) -> float:
    word = splitmix64((splitmix64((int(u * 2**53) + GAMMA) & WORD) + number * GAMMA) & WORD)
    size = -math.log((word >> 11) * 2.0**-53 + 2.0**-54)
    return size if word & 1 else -size


def best_available(row: Array, available: Collection[int] | None) -> int:
    return min(range(len(row)) if available is None else sorted(available), key=lambda m: float(row[m]))


def follow(mapping: Sequence[int], totals: Array, leaf: int, available: Collection[int] | None) -> int:
    return mapping[leaf] if available is None or mapping[leaf] in available else best_available(totals[leaf], available)


class CsbFtpl:
    def __init__(self, leaves: int, arms: int, regions: int | None = None) -> None:
        self.totals, self.regions = np.zeros((leaves, arms)), regions

    def draw(self, leaf: int, available: Collection[int] | None, noise: float, u: float, number: int) -> int:
        """Draw `number` of the decision with that u."""
        leaves, arms = self.totals.shape
        noisy = self.totals.copy()
        if self.regions is None:
            for m in range(arms):
                noisy[leaf, m] += noise * laplace(u, number * arms + m)
            return best_available(noisy[leaf], available)
        for i, m in product(range(leaves), range(arms)):
            noisy[i, m] += noise * laplace(u, (number * leaves + i) * arms + m)
        return follow(best_mapping(noisy, self.regions)[1], noisy, leaf, available)

    def decide(self, leaf: int, available: Collection[int] | None, noise: float, most: int, u: float) -> tuple[int, float]:
        arm = self.draw(leaf, available, noise, u, 0)
        for count in range(1, most):
            if self.draw(leaf, available, noise, u, count) == arm:
                return arm, 1.0 / count
        return arm, 1.0 / most

    def learn(self, leaf: int, arm: int, loss: float, propensity: float) -> None:
        self.totals[leaf, arm] += loss / propensity


class EpochGreedy:
    def __init__(self, leaves: int, arms: int, regions: int | None = None) -> None:
        self.totals, self.regions = np.zeros((leaves, arms)), regions
        self.price = 2 * arms * math.log(len(list(mappings(leaves, arms, regions))))
        self.explored = self.left = 0

    def decide(self, leaf: int, available: Collection[int] | None, u: float) -> tuple[int, float]:
        if self.left:
            return follow(best_mapping(self.totals, self.regions)[1], self.totals, leaf, available), 1.0
        choices = list(range(self.totals.shape[1])) if available is None else sorted(available)
        return choices[int(u * len(choices))], 1.0 / len(choices)

    def learn(self, leaf: int, arm: int, loss: float, propensity: float) -> None:
        if propensity < 1.0:
            self.totals[leaf, arm] += loss / propensity
            self.explored += 1
            self.left += math.floor(math.sqrt(self.explored / self.price))
        elif self.left:
            self.left -= 1
