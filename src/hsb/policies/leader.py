"""Policies that keep a table of total losses, a row per leaf, and follow its best mapping."""

from typing import Any, ClassVar, Self

import numpy as np

from ..checks import whole
from ..errors import BudgetError
from ..files.memory_limit import afford
from ..learners.keys import Keys
from ..structures.leaves import Divided, Leaves
from ..types import Arms, Arrays, Floats, Ints, Outside, Range, Seed
from .located import Located

MOST_TOTAL = 1e300  # one loss counts 1e280 at most
MOST_TOTALS = 1 << 27  # 1 GiB
MOST_WORK = 1 << 28  # likewise, for the choices of the dynamic programme


class Leader(Located, listed=False):
    """The totals, the class of mappings (all, or those with at most `regions` regions) and the best one of them."""

    _kernels: ClassVar[Any]
    _own: ClassVar[tuple[str, ...]] = ("locator", "totals")

    def __init__(
        self,
        structure: Divided,
        *,
        arms: Arms,
        regions: int | None,
        loss_range: Range,
        reward_range: Range | None,
        outside: Outside,
        floor: float,
        seed: Seed,
    ) -> None:
        super().__init__(arms=arms, loss_range=loss_range, reward_range=reward_range, outside=outside, floor=floor, seed=seed)
        self.structure = Leaves(structure)
        self.locator = Keys(self.structure)
        self.regions = None if regions is None else whole("regions", regions, 1)
        check_budget(self.structure.leaves, len(self.arms), self._runs())
        self.totals: Floats = np.zeros((self.structure.leaves, len(self.arms)))

    @property
    def mapping(self) -> Ints:
        """The best mapping so far: for each leaf the number of its arm, in `arms`. Ties go to the lowest."""
        return best_mapping(self.totals, self.regions)[0]

    @property
    def _leaf(self) -> int:
        return int(self.locator.key[0])

    def _runs(self) -> int:
        """At most so many regions; 0 where each leaf is by itself."""
        return 0 if self.regions is None or self.regions >= self.structure.leaves else self.regions

    def _refresh(self) -> None:
        super()._refresh()
        from ..engine.kernels import leaders, oracle

        type(self)._kernels = leaders
        self._work = oracle.workspace(self.structure.leaves, len(self.arms), self._runs())

    def _widen(self) -> None:
        """A new arm begins where the best mapping stands: in each leaf, with the total of the arm that is played there.

        Played everywhere it has lost as much as the best mapping, so that what is seen from here on decides between them. At 0 it would
        beat every arm that ever lost, however good; at the mean of a leaf's arms it might lag behind for ever. (Where regions are few, using it
        saves some: then it comes a little ahead, by what more regions would have saved.)
        """
        check_budget(self.structure.leaves, len(self.arms) + 1, self._runs())
        best = np.take_along_axis(self.totals, self.mapping[:, None], axis=1)
        self.totals = np.concatenate((self.totals, best), axis=1)

    def take_arrays(self, arrays: Arrays) -> None:
        super().take_arrays(arrays)
        if not ((self.totals >= 0.0) & (self.totals <= MOST_TOTAL)).all():
            raise ValueError("its totals are not sums of losses")

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        return cls(Leaves.from_plain(settings.pop("structure")), **settings, **common)


def best_mapping(totals: Floats, regions: int | None) -> tuple[Ints, float]:
    """The best mapping of a table of totals, with at most `regions` regions if given, and what it loses.

    >>> best_mapping(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]), None)
    (array([0, 1, 0]), 0.0)
    >>> best_mapping(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]), 2)
    (array([0, 1, 1]), 1.0)
    """
    from ..engine.kernels import oracle

    leaves, arms = totals.shape
    check_budget(leaves, arms, 0 if regions is None or regions >= leaves else regions)
    if regions is None or regions >= leaves:
        return totals.argmin(axis=1), float(totals.min(axis=1).sum())
    if regions == 1:
        sums = totals.sum(axis=0)
        return np.full(leaves, sums.argmin()), float(sums.min())
    mapping = np.zeros(leaves, dtype=np.int64)
    return mapping, float(oracle.best_regions(totals, oracle.workspace(leaves, arms, regions), mapping))


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
