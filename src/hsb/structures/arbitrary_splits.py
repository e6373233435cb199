"""Example 1: arbitrary splitting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import whole
from ..errors import BudgetError
from ..kernels.header import SUBSETS
from ..spaces import Space
from ..state import Member, make_graph
from ..types import Ints
from .base import Cost, Structure, check_cells, no_stop, plain_code, spelled, use_space

MOST_LEAVES = 14


class ArbitrarySplits(Structure):
    """Nodes are the non-empty sets of leaves; a set splits into any two parts (Example 1).

    Psi = 2, H_S = 2^(N-1) - 1, A_R = M - 1 whatever the regions. A round visits 2^(N-1) sets and 3^(N-1) - 2^(N-1) splits,
    so N is limited to 14.

    >>> ArbitrarySplits(leaves=6).cost
    Cost(nodes=32, groups=211)
    """

    def __init__(self, *, leaves: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        self.space, self.features = use_space(space, features)
        self.leaves = whole("leaves", leaves, 1)
        check_cells(type(self).__name__, self.leaves, self.space, self.features)
        if self.leaves > MOST_LEAVES:
            raise BudgetError(
                f"ArbitrarySplits(leaves={self.leaves}) would visit {spelled(self.cost.nodes)} sets and {spelled(self.cost.groups)} splits "
                f"in every round; the limit is {MOST_LEAVES} leaves. Use hsb.Lexicographic or hsb.BinaryTree for more."
            )
        self.max_group = min(2, self.leaves)
        self.max_groups = 2 ** (self.leaves - 1) - 1

    @property
    def cost(self) -> Cost:
        """Sets that contain a leaf, and their splits."""
        sets = 2 ** (self.leaves - 1)
        return Cost(sets, 3 ** (self.leaves - 1) - sets)

    def splits(self, regions: int, arms: int) -> int:
        """A_R = M - 1: all leaves of one arm can be gathered in one set."""
        return arms - 1

    def members(self, arms: int, stop: float | None) -> list[Member]:
        """All sets, numbered by their bit masks; 0 is no set."""
        no_stop(self, stop)
        counts = np.array([0] + [2 ** (mask.bit_count() - 1) for mask in range(1, 2**self.leaves)])
        cost = self.cost
        return [make_graph(SUBSETS, [self.leaves], counts, cost.nodes, cost.groups, arms)]

    def codes(self) -> list[Ints]:
        """Equal cells, numbered."""
        return [plain_code(self.leaves, self.features)]

    def parameters(self) -> dict[str, Any]:
        """leaves."""
        return {"leaves": self.leaves}
