"""Slow, simple versions of the policies over lists of experts.

All weights are logarithms. Sleeping experts stay and the awake ones keep their total; the kernels scale the other way round.
"""

import math
from collections.abc import Collection, Sequence
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Available = Collection[int] | None


def one_hot(arms: Sequence[int], count: int) -> Array:
    """Advice of one arm each, as distributions."""
    result = np.zeros((len(arms), count))
    for k, arm in enumerate(arms):
        result[k, arm] = 1.0
    return result


class Exp4:
    """EXP4 for losses; advice is a distribution for each expert, an array (K, M)."""

    def __init__(self, prior: npt.ArrayLike) -> None:
        self.log_w = np.log(np.asarray(prior, dtype=np.float64))

    @property
    def weights(self) -> Array:
        result: Array = np.exp(self.log_w - np.logaddexp.reduce(self.log_w))
        return result

    def awake(self, advice: Array, available: Available) -> tuple[npt.NDArray[np.bool_], Array]:
        """Return the experts that advise an available arm, and the advice of each over the available arms."""
        among = (
            np.ones(advice.shape[1])
            if available is None
            else np.isin(np.arange(advice.shape[1]), list(available)).astype(float)
        )
        mass = (advice * among).sum(axis=1)
        shares = np.zeros_like(advice)
        shares[mass > 0] = (advice * among)[mass > 0] / mass[mass > 0, None]
        return mass > 0, shares

    def probabilities(self, advice: Array, available: Available = None) -> Array:
        awake, shares = self.awake(advice, available)
        if not awake.any():
            return np.isin(np.arange(advice.shape[1]), list(available or [])) / len(available or [0])
        weights = np.exp(self.log_w[awake] - np.logaddexp.reduce(self.log_w[awake]))
        result: Array = weights @ shares[awake]
        return result / result.sum()

    def learn(self, advice: Array, arm: int, x: float, available: Available = None) -> None:
        awake, shares = self.awake(advice, available)
        if awake.any():
            before = np.logaddexp.reduce(self.log_w[awake])
            self.log_w[awake] -= x * shares[awake, arm]
            self.log_w[awake] += before - np.logaddexp.reduce(self.log_w[awake])


def few_regions(leaves: int, arms: int, regions: int) -> set[tuple[int, ...]]:
    """Every mapping whose arm changes in fewer than `regions` places."""
    return {g for g in product(range(arms), repeat=leaves) if sum(a != b for a, b in pairwise(g)) < regions}


def number_of_mappings(leaves: int, arms: int, regions: int) -> int:
    """Cuts, times arms that differ from piece to piece."""
    return sum(math.comb(leaves - 1, r - 1) * arms * (arms - 1) ** (r - 1) for r in range(1, regions + 1))
