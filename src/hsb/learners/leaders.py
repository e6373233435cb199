"""Learners that keep a table of total losses, a row for each leaf, and follow its best mapping: perturbed, explored, or known."""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np

from ..policy.learner import Choice, Learner, Memo, Played, take_arrays
from ..theory.leaders import log_mappings, noise_cost
from ..types import Arrays, Floats, Ints, Masks
from .keys import NoContext
from .leaf_totals import LeafTotals, best_mapping
from .masks import EVERY_ARM, masks_of

DRAWS = 1000  # for probabilities that are counted
MOST_NOISE = 1e100  # beyond any use; its sums stay finite
MOST_REDRAWS = 1 << 52  # no decision takes as many
EXPLORED, TO_EXPLOIT, SEEN = range(3)  # words of Epoch-Greedy's counts


@cache
def _kernels() -> Any:
    """The compiled rounds, imported on first use: Numba takes long to load."""
    from ..engine.kernels import leaders

    return leaders


# -- CSB-FTPL --------------------------------------------------------------------------------------------------------------


class Perturbation(NamedTuple):
    """The mean size of the noise in each round, and the most redraws. B is `cost`, as in `hsb.theory.noise_cost`, M is `arms`."""

    arms: int
    cost: float
    horizon: float | None
    mean: float | None
    """The size in every round; None if it grows: sqrt(4 M t / B) in round t."""
    resamples: int | None

    @classmethod
    def of(cls, table: LeafTotals, *, horizon: float | None, mean: float | None, resamples: int | None) -> Self:
        """The noise for a table of totals; with a horizon T its size is sqrt(2 M T / B)."""
        arms, cost = table.arms, noise_cost(leaves=table.structure.leaves, arms=table.arms, regions=table.regions)
        if horizon is not None:
            mean = min(math.sqrt(2.0 * arms * horizon / cost), MOST_NOISE) if cost else 1.0
        return cls(arms, cost, horizon, mean, resamples)

    def for_table(self, table: LeafTotals) -> Self:
        """The same settings for a table with more arms."""
        return self.of(table, horizon=self.horizon, mean=self.mean, resamples=self.resamples)

    def size(self, t: Any) -> Any:
        """The mean size in round t, or in an array of rounds. With one arm there is nothing to choose, and any noise will do."""
        if self.mean is not None:
            return self.mean
        return np.sqrt(4.0 * self.arms * t / self.cost) if self.cost else 1.0

    def redraws(self, t: Any) -> Any:
        """The most redraws in round t, or in an array of rounds."""
        if self.resamples is not None:
            return min(self.resamples, MOST_REDRAWS)
        if self.horizon is not None:
            return math.ceil(min(math.sqrt(self.arms * self.horizon), MOST_REDRAWS))
        if self.mean is not None:
            return max(1, math.ceil(min(self.mean * math.sqrt(self.cost / 2.0), MOST_REDRAWS)))
        return np.ceil(np.sqrt(self.arms * t))


class PerturbedLeader(Learner):
    """The best mapping of totals with fresh noise, and redraws that estimate 1 / its probability. The view of a context is its leaf."""

    def __init__(self, table: LeafTotals, noise: Perturbation, rounds: int = 0) -> None:
        self.table, self.noise = table, noise
        self._rounds: Ints = np.array([rounds], dtype=np.int64)
        self._work = table.workspace()

    @property
    def rounds(self) -> int:
        return self._rounds.item(0)

    def read(self, context: Any) -> tuple[int, int]:
        key, clipped = self.table.keys.read(context)
        return key.item(0), clipped

    def choose(self, view: int, mask: Masks | None, u: float) -> Choice:
        t, available = self.rounds + 1, EVERY_ARM if mask is None else mask
        noise, most = float(self.noise.size(t)), int(self.noise.redraws(t))
        arm, count = _kernels().perturbed(self.table.totals, view, available, noise, most, self._work, u)
        return arm, 1.0 / count, -1.0

    def fill(self, view: int, mask: Masks | None, p: Floats) -> None:
        totals, available, noise = (
            self.table.totals,
            EVERY_ARM if mask is None else mask,
            float(self.noise.size(self.rounds + 1)),
        )
        if self.table.limit:
            _kernels().count_draws(totals, view, available, noise, DRAWS, self._work, p)
        else:
            from ..engine.kernels import laplace

            laplace.least(totals[view], available, noise, p)

    def learn(self, view: int, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> None:
        _kernels().learn_perturbed(self.table.totals, view, arm, loss, probability, self._rounds)

    def check(self, contexts: Any) -> tuple[Any, int]:
        return self.table.keys.check(contexts)

    def read_rows(self, points: Any, start: int) -> Ints:
        return self.table.keys.keys(points[start:])

    def play(self, view: Ints, table: Played, start: int, share: float, to_come: int) -> None:
        n, rows = len(view), slice(start, start + len(view))
        t = np.arange(self.rounds + 1, self.rounds + 1 + n)
        noises, mosts = np.full(n, self.noise.size(t)), np.full(n, self.noise.redraws(t), dtype=np.int64)
        arguments = masks_of(table.masks, rows), table.losses[rows], table.us[rows], noises, mosts, self._work
        _kernels().play_perturbed(
            self.table.totals, view, *arguments, table.arms[rows], table.probabilities[rows], self._rounds
        )

    def with_arm(self, arm: Hashable, features: Any = None) -> PerturbedLeader:
        table = self.table.with_arm()
        return PerturbedLeader(table, self.noise.for_table(table), self.rounds)

    def copy(self) -> PerturbedLeader:
        return PerturbedLeader(self.table.copy(), self.noise, self.rounds)

    def to_arrays(self) -> Arrays:
        return {"totals": self.table.totals}

    def from_arrays(self, arrays: Arrays, rounds: int) -> PerturbedLeader:
        take_arrays(self.to_arrays(), arrays)
        self.table.check_sums()
        return PerturbedLeader(self.table, self.noise, rounds)

    def settings(self) -> dict[str, Any]:
        noise = self.noise
        return {
            "structure": self.table.structure.plain(),
            "horizon": noise.horizon,
            "noise": noise.mean if noise.horizon is None else None,
            "regions": self.table.regions,
            "resamples": noise.resamples,
        }

    def repr_settings(self) -> dict[str, Any]:
        return {"structure": self.table.structure, "noise": self.noise.mean, "regions": self.table.regions}


# -- Epoch-Greedy ----------------------------------------------------------------------------------------------------------


class EpochLeader(Learner):
    """The best mapping of the totals of explored rounds, played ever longer between them. The view of a context is its leaf."""

    def __init__(self, table: LeafTotals, counts: Ints | None = None) -> None:
        self.table = table
        self.counts: Ints = np.zeros(3, dtype=np.int64) if counts is None else counts
        self.log_count = log_mappings(leaves=table.structure.leaves, arms=table.arms, regions=table.regions)
        self.price = 2.0 * table.arms * self.log_count or math.inf  # with one arm there is nothing to explore
        self._work = table.workspace()
        self.mapping = self._best()

    def _best(self) -> Ints:
        """The best mapping, with the ties that the kernels find."""
        if not self.table.limit:
            return self.table.best_mapping()
        from ..engine.kernels import oracle

        mapping: Ints = np.zeros(self.table.structure.leaves, dtype=np.int64)
        oracle.best_regions(self.table.totals, self._work, mapping)
        return mapping

    @property
    def rounds(self) -> int:
        return self.counts.item(SEEN)

    def read(self, context: Any) -> tuple[int, int]:
        key, clipped = self.table.keys.read(context)
        return key.item(0), clipped

    def choose(self, view: int, mask: Masks | None, u: float) -> Choice:
        available = EVERY_ARM if mask is None else mask
        arm, probability = _kernels().explore_or_exploit(self.mapping, self.table.totals, self.counts, view, available, u)
        return arm, probability, -1.0

    def fill(self, view: int, mask: Masks | None, p: Floats) -> None:
        p[:] = 0.0
        if self.counts[TO_EXPLOIT]:
            p[_kernels().play(self.mapping, self.table.totals, view, EVERY_ARM if mask is None else mask)] = 1.0
        else:
            p[:] = 1.0 if mask is None else mask
            p /= p.sum()

    def learn(self, view: int, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> None:
        arguments = self.mapping, self.table.totals, self.counts, view, arm, loss, probability, self.price, self._work
        _kernels().learn_epoch(*arguments)

    def check(self, contexts: Any) -> tuple[Any, int]:
        return self.table.keys.check(contexts)

    def read_rows(self, points: Any, start: int) -> Ints:
        return self.table.keys.keys(points[start:])

    def play(self, view: Ints, table: Played, start: int, share: float, to_come: int) -> None:
        rows = slice(start, start + len(view))
        arguments = view, masks_of(table.masks, rows), table.losses[rows], table.us[rows], self.price, self._work
        _kernels().play_epochs(
            self.mapping, self.table.totals, self.counts, *arguments, table.arms[rows], table.probabilities[rows]
        )

    def with_arm(self, arm: Hashable, features: Any = None) -> EpochLeader:
        return EpochLeader(self.table.with_arm(), self.counts.copy())

    def copy(self) -> EpochLeader:
        return EpochLeader(self.table.copy(), self.counts.copy())

    def to_arrays(self) -> Arrays:
        return {"totals": self.table.totals, "counts": self.counts[:SEEN]}

    def from_arrays(self, arrays: Arrays, rounds: int) -> EpochLeader:
        take_arrays(self.to_arrays(), arrays)
        self.table.check_sums()
        if ((self.counts < 0) | (self.counts > 2**53)).any():
            raise ValueError("its counts are not those of rounds")
        return EpochLeader(self.table, np.array([*self.counts[:SEEN], rounds], dtype=np.int64))

    def settings(self) -> dict[str, Any]:
        return {"structure": self.table.structure.plain(), "regions": self.table.regions}

    def repr_settings(self) -> dict[str, Any]:
        return {"structure": self.table.structure, "regions": self.table.regions, "explored": int(self.counts[EXPLORED])}


# -- the best mapping in hindsight -----------------------------------------------------------------------------------------


class FixedMapping(Learner):
    """A mapping that is played for ever. It counts rounds and learns nothing. The view of a context is its leaf."""

    def __init__(self, table: LeafTotals, mapping: Ints, average_loss: float = math.nan, rounds: int = 0) -> None:
        self.table, self.mapping, self.average_loss, self._rounds = table, mapping, average_loss, rounds

    def best_for(self, points: Any, losses: Floats, regions: int | None, *, low: float, unit: float) -> FixedMapping:
        """The successor that plays the best mapping for a table of losses at checked contexts; leaves without any get the best arm overall.

        A loss l of the table stands for low + unit * l.
        """
        table, leaf = self.table.copy(), self.table.keys.keys(points)[:, 0]
        np.add.at(table.totals, leaf, losses)
        mapping = best_mapping(table.totals, regions)[0]
        if regions is None:
            visited = np.bincount(leaf, minlength=table.structure.leaves) > 0
            mapping[~visited] = best_mapping(table.totals, 1)[0][0]
        return FixedMapping(table, mapping, low + unit * float(losses[np.arange(len(leaf)), mapping[leaf]].mean()))

    @property
    def rounds(self) -> int:
        return self._rounds

    def read(self, context: Any) -> tuple[int, int]:
        key, clipped = self.table.keys.read(context)
        return key.item(0), clipped

    def choose(self, view: int, mask: Masks | None, u: float) -> Choice:
        return _kernels().play(self.mapping, self.table.totals, view, EVERY_ARM if mask is None else mask), 1.0, -1.0

    def fill(self, view: int, mask: Masks | None, p: Floats) -> None:
        p[:] = 0.0
        p[self.choose(view, mask, 0.0)[0]] = 1.0

    def learn(self, view: int, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> None:
        self._rounds += 1

    def check(self, contexts: Any) -> tuple[Any, int]:
        return self.table.keys.check(contexts)

    def read_rows(self, points: Any, start: int) -> Ints:
        return self.table.keys.keys(points[start:])

    def play(self, view: Ints, table: Played, start: int, share: float, to_come: int) -> None:
        rows = slice(start, start + len(view))
        _kernels().play_known(self.mapping, self.table.totals, view, masks_of(table.masks, rows), table.arms[rows])
        table.probabilities[rows] = 1.0
        self._rounds += len(view)

    def with_arm(self, arm: Hashable, features: Any = None) -> FixedMapping:
        """The mapping stays; the new arm, of which nothing is known, comes last if its arm is not available."""
        return FixedMapping(
            self.table.with_column(self.table.totals.max(axis=1)), self.mapping, self.average_loss, self._rounds
        )

    def copy(self) -> FixedMapping:
        return FixedMapping(self.table.copy(), self.mapping.copy(), self.average_loss, self._rounds)

    def to_arrays(self) -> Arrays:
        return {"totals": self.table.totals, "mapping": self.mapping}

    def from_arrays(self, arrays: Arrays, rounds: int) -> FixedMapping:
        take_arrays(self.to_arrays(), arrays)
        self.table.check_sums()
        if not ((self.mapping >= 0) & (self.mapping < self.table.arms)).all():
            raise ValueError("its mapping names arms that it does not have")
        return FixedMapping(self.table, self.mapping, self.average_loss, rounds)

    def settings(self) -> dict[str, Any]:
        blind = isinstance(self.table.keys, NoContext)
        return {
            "structure": None if blind else self.table.structure.plain(),
            "average_loss": None if math.isnan(self.average_loss) else self.average_loss,
        }

    def repr_settings(self) -> dict[str, Any]:
        blind = isinstance(self.table.keys, NoContext)
        return {"structure": None if blind else self.table.structure, "average_loss": self.average_loss}
