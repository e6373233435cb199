"""Mappings of leaves to arms, listed one by one: the experts of EXP4 and of Section III."""

from __future__ import annotations

import math
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import arm_list, whole
from ..errors import BudgetError, InputError
from ..files.memory_limit import afford
from ..types import Arms
from .base import spelled
from .leaves import Divided, Leaves

Plays = NDArray[np.int32]

MOST_MAPPINGS = 1_000_000
MOST_ENTRIES = 1 << 29  # of a table: 2 GB
COUNTED = 64  # regions that are counted: with two arms and more leaves than this there are over 2^63 mappings


class Mappings:
    """A list of mappings, each the arm numbers of all leaves of a structure in order: the experts of `hsb.Exp4`.

    `table` has a row for each mapping and a column for each leaf. `structure` is a structure, an `hsb.Cells`, or the number of equal cells
    that [0, 1] is divided into. `hsb.mappings` lists the mappings of few regions.

    >>> import hsb
    >>> pair = Mappings(hsb.BinaryTree(depth=2), [[0, 0, 0, 0], [0, 0, 1, 1]])
    >>> pair, len(pair)
    (Mappings(BinaryTree(depth=2), 2 mappings), 2)
    """

    def __init__(self, structure: Divided, table: ArrayLike) -> None:
        self.structure = Leaves(structure)
        self._regions: tuple[int, int] | None = None  # arms and regions, if the table can be computed again
        try:
            plays = np.asarray(table)
        except (ValueError, TypeError, OverflowError, MemoryError):
            plays = np.empty(0)
        leaves = self.structure.leaves
        if plays.ndim != 2 or plays.shape[1] != leaves or not len(plays):
            raise InputError(
                f"table needs a row for each mapping, at least one, and a column for each of the {leaves:,} leaves; "
                f"given shape {plays.shape}."
            )
        if plays.dtype.kind not in "iu" or plays.min() < 0 or plays.max() >= 1 << 31:
            least = f" from {plays.min()} to {plays.max()}" if plays.dtype.kind in "iu" else ""
            raise InputError(f"table needs arm numbers, whole and at least 0; given {plays.dtype}{least}.")
        _check_memory(*plays.shape)
        self.rows: Plays = np.ascontiguousarray(plays.T, dtype=np.int32)  # by leaf: a round reads all experts in one cell

    @property
    def table(self) -> Plays:
        """The arm number of each leaf: a read-only array with a row for each mapping and a column for each leaf."""
        table = self.rows.T
        table.flags.writeable = False
        return table

    def plain(self) -> dict[str, Any]:
        """Return plain data that `from_plain` reads."""
        if self._regions is None:
            return {"structure": self.structure.plain(), "table": self.table.tolist()}
        return {"structure": self.structure.plain(), "arms": self._regions[0], "regions": self._regions[1]}

    @staticmethod
    def from_plain(data: dict[str, Any]) -> Mappings:
        """Restore from the data of `plain`."""
        leaves = Leaves.from_plain(data["structure"])
        if "table" in data:
            return Mappings(leaves, data["table"])
        return mappings(leaves, arms=data["arms"], regions=data["regions"], budget=MOST_ENTRIES)

    def __len__(self) -> int:
        return len(self.rows[0])

    def __repr__(self) -> str:
        return f"Mappings({self.structure!r}, {len(self):,} mappings)"


def mappings(structure: Divided, *, arms: Arms, regions: int, budget: int = MOST_MAPPINGS) -> Mappings:
    """List every mapping of at most `regions` regions once: the O((NM)^R) experts of Section I-A.

    Regions are runs of consecutive leaves, so a mapping of R regions changes its arm in R - 1 places. `structure` is as in `hsb.Mappings`,
    with N leaves; `arms` as in `hsb.HSB`, M of them. More than `budget` mappings raise `BudgetError` before any is listed.

    >>> import hsb
    >>> few = mappings(hsb.BinaryTree(depth=2), arms=2, regions=2)
    >>> few.table.tolist()
    [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 1], [1, 0, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1], [1, 1, 1, 0]]
    """
    cells = Leaves(structure)
    count_arms = len(arm_list(arms))
    regions = whole("regions", regions, 1)
    budget = whole("budget", budget, 1)
    counted = min(regions, cells.leaves, COUNTED) if count_arms > 1 else 1
    count = number_of_mappings(cells.leaves, arms=count_arms, regions=counted)
    if count > budget:
        more = "More than " if counted < min(regions, cells.leaves) else ""
        raise BudgetError(
            f"{more}{spelled(count)} mappings of at most {regions} regions on {cells.leaves:,} leaves with {count_arms} arms, all of which "
            f"EXP4 looks at in every round; the budget is {budget:,}. Use fewer regions or leaves, a larger budget=, or hsb.HSB, "
            "which never lists them."
        )
    _check_memory(count, cells.leaves)
    parts = [_of_regions(cells.leaves, count_arms, r) for r in range(1, counted + 1)]
    listed = Mappings(cells, np.concatenate(parts, axis=1).T)
    listed._regions = (count_arms, regions)
    return listed


def number_of_mappings(leaves: int, *, arms: int, regions: int) -> int:
    """Return the number of mappings of at most `regions` regions: the sum over r <= R of C(N-1, r-1) M (M-1)^(r-1).

    >>> number_of_mappings(1024, arms=3, regions=3), number_of_mappings(4, arms=3, regions=4) == 3**4
    (6279177, True)
    """
    most = min(regions, leaves)
    return sum(math.comb(leaves - 1, r - 1) * arms * (arms - 1) ** (r - 1) for r in range(1, most + 1))


def every_mapping(structure: Divided, *, arms: int) -> Mappings:
    """List all M^N mappings of N leaves, in the order of their numbers in base M. The caller has checked the count.

    >>> every_mapping(2, arms=2).table.tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    cells = Leaves(structure)
    _check_memory(arms**cells.leaves, cells.leaves)
    numbers = np.arange(arms**cells.leaves, dtype=np.int64)
    powers = arms ** np.arange(cells.leaves - 1, -1, -1, dtype=np.int64)
    return Mappings(cells, np.stack([(numbers // power % arms).astype(np.int32) for power in powers]).T)


def _of_regions(leaves: int, arms: int, regions: int) -> Plays:
    """List the mappings of exactly `regions` regions: a row for each leaf, a column for each mapping, by cuts, then arms."""
    cuts = np.fromiter(chain.from_iterable(combinations(range(1, leaves), regions - 1)), dtype=np.int32)
    cuts = cuts.reshape(math.comb(leaves - 1, regions - 1), regions - 1)
    piece = np.zeros((leaves, len(cuts)), dtype=np.int32)
    for column in cuts.T:
        piece += np.arange(leaves)[:, None] >= column
    plays = np.arange(arms, dtype=np.int32)[None, :]  # the arms of the pieces, a column for each choice
    for _ in range(regions - 1):
        last = plays[-1]
        step = np.arange(1, arms)  # the next arm is any other
        following = ((last[:, None] + step) % arms).astype(np.int32)
        plays = np.concatenate([np.repeat(plays, arms - 1, axis=1), following.reshape(1, -1)])
    return plays[piece].reshape(leaves, -1)


def _check_memory(count: int, leaves: int) -> None:
    afford(count)  # the experts' weights; a file has only the number of regions of the mappings
    if count * leaves > MOST_ENTRIES:
        raise BudgetError(
            f"A table of {spelled(count)} mappings on {leaves:,} leaves takes {count * leaves * 4 / 1e9:,.1f} GB; "
            f"the limit is {MOST_ENTRIES * 4 / 1e9:.1f} GB. Use fewer regions or leaves, or hsb.HSB."
        )
