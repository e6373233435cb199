"""Total losses of every leaf and arm, and their best mapping: what the learners that follow a leader are made of."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from ..checks import whole
from ..errors import BudgetError
from ..files.memory_limit import afford
from ..structures.leaves import Divided, Leaves
from ..types import Floats, Ints
from .keys import Keys, NoContext

MOST_TOTAL = 1e300  # one loss counts 1e280 at most
MOST_TOTALS = 1 << 27  # 1 GiB
MOST_WORK = 1 << 28  # likewise, for the choices of the dynamic programme


class LeafTotals(NamedTuple):
    """Total losses, a row for each leaf and a column for each arm, and the class of mappings: all, or those with at most `regions` regions."""

    structure: Leaves
    keys: Keys | NoContext
    """How a context becomes a leaf."""
    regions: int | None
    totals: Floats

    @classmethod
    def fresh(cls, structure: Divided | None, arms: int, regions: int | None = None) -> Self:
        """Zeros; without a structure there is one leaf, and contexts are not looked at."""
        leaves = Leaves(1 if structure is None else structure)
        most = None if regions is None else whole("regions", regions, 1)
        check_budget(leaves.leaves, arms, _limit(most, leaves.leaves))
        return cls(leaves, NoContext() if structure is None else Keys(leaves), most, np.zeros((leaves.leaves, arms)))

    @property
    def arms(self) -> int:
        """The number of arms."""
        return int(self.totals.shape[1])

    @property
    def limit(self) -> int:
        """The most regions; 0 if each leaf is by itself."""
        return _limit(self.regions, self.structure.leaves)

    def best_mapping(self) -> Ints:
        """For each leaf the index of its arm. Ties go to the lowest."""
        return best_mapping(self.totals, self.regions)[0]

    def workspace(self) -> Any:
        """Room for the kernels that look for the best mapping."""
        from ..engine.kernels import oracle

        return oracle.workspace(self.structure.leaves, self.arms, self.limit)

    def with_column(self, totals: Floats) -> Self:
        """One more arm, with these totals."""
        check_budget(self.structure.leaves, self.arms + 1, self.limit)
        return self._replace(totals=np.ascontiguousarray(np.concatenate((self.totals, totals[:, None]), axis=1)))

    def with_arm(self) -> Self:
        """One more arm, which begins where the best mapping stands: in each leaf, with the total of the arm that is played there.

        Played everywhere it has lost as much as the best mapping, so that what is seen from here on decides between them. At 0 it would
        beat every arm that ever lost, however good; at the mean of a leaf's arms it might lag behind for ever. (If regions are few, using it
        saves some: then it comes a little ahead, by what more regions would have saved.)
        """
        return self.with_column(self.totals[np.arange(self.structure.leaves), self.best_mapping()])

    def copy(self) -> Self:
        """An independent table."""
        return self._replace(keys=self.keys.copy(), totals=self.totals.copy())

    def check_sums(self) -> None:
        """Raise ValueError for totals that no rounds lead to."""
        if not ((self.totals >= 0.0) & (self.totals <= MOST_TOTAL)).all():
            raise ValueError("its totals are not sums of losses")


def best_mapping(totals: Floats, regions: int | None) -> tuple[Ints, float]:
    """The best mapping of a table of totals, with at most `regions` regions if given, and what it loses.

    >>> best_mapping(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]), None)
    (array([0, 1, 0]), 0.0)
    >>> best_mapping(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]), 2)
    (array([0, 1, 1]), 1.0)
    """
    from ..engine.kernels import oracle

    leaves, arms = totals.shape
    limit = _limit(regions, leaves)
    check_budget(leaves, arms, limit)
    if limit == 0:
        return totals.argmin(axis=1), float(totals.min(axis=1).sum())
    if limit == 1:
        sums = totals.sum(axis=0)
        return np.full(leaves, sums.argmin()), float(sums.min())
    mapping = np.zeros(leaves, dtype=np.int64)
    return mapping, float(oracle.best_regions(totals, oracle.workspace(leaves, arms, limit), mapping))


def check_budget(leaves: int, arms: int, regions: int) -> None:
    """Refuse tables, and searches for at most `regions` regions, that take more than about a gigabyte."""
    if leaves * arms > MOST_TOTALS:
        raise BudgetError(
            f"{leaves:,} leaves x {arms} arms are more totals than the {MOST_TOTALS:,} kept at most. Use a coarser structure, or hsb.HSB."
        )
    afford(leaves * arms)
    if leaves * arms * regions > MOST_WORK:
        raise BudgetError(
            f"{leaves:,} leaves x {arms} arms x {regions} regions are more than the {MOST_WORK:,} steps made at most for one mapping. "
            "Use a coarser structure, fewer regions, or regions=None."
        )


def _limit(regions: int | None, leaves: int) -> int:
    """The most regions; 0 if each leaf is by itself."""
    return 0 if regions is None or regions >= leaves else regions
