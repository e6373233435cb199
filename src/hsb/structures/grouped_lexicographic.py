"""Example 5: intervals of ordered leaves, split into K consecutive parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arguments import whole
from ..errors import BudgetError
from ..spaces import Space
from ..state import Member, make_intervals
from ..types import Ints
from .base import Cost, Structure, check_cells, no_stop, plain_code, spelled, use_space

MOST_LEAVES = 900  # with two arms w stays within a double for any rounds up to some 970


class GroupedLexicographic(Structure):
    """Nodes are intervals of the ordered leaves; an interval splits into `groups` consecutive parts in every way (Example 5).

    Psi = K, H_S = C(N-1, K-1), A_R = ceil((R-1)/(K-1)). An interval shorter than K splits into its single leaves: without that
    rule, which the paper leaves out, not every mapping could be modelled. Memory O(K N^2 + N^2 M); a round costs
    O(K N^3) multiplications at most, by dynamic programming over the cuts. Needs leaves * ln(arms) <= 700, and at most 900 leaves.

    >>> GroupedLexicographic(leaves=8, groups=3).max_groups
    21
    """

    def __init__(self, *, leaves: int, groups: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        leaves = whole("leaves", leaves, 1)
        self.space, self.features = use_space(space, features)
        self.leaves = leaves
        self.groups = whole("groups", groups, 2)
        if self.leaves > MOST_LEAVES:
            raise BudgetError(
                f"{type(self).__name__}(leaves={spelled(self.leaves)}) would keep {spelled(self.leaves**2)} intervals and recompute "
                f"up to a quarter of them each round; the limit is {MOST_LEAVES} leaves. Use hsb.BinaryTree for more."
            )
        check_cells(type(self).__name__, self.leaves, self.space, self.features)
        self.max_group = min(self.groups, self.leaves)
        self.max_groups = max(self._ways(length) for length in range(1, self.leaves + 1))

    def _ways(self, length: int) -> int:
        if length == 1:
            return 0
        return 1 if length < self.groups else math.comb(length - 1, self.groups - 1)

    @property
    def cost(self) -> Cost:
        """The intervals around the middle leaf, and all their cuts."""
        nodes = (self.leaves + 1) // 2 * (self.leaves // 2 + 1)
        middle = self.leaves // 2
        ways = sum(self._ways(j - i + 1) for i in range(middle + 1) for j in range(middle, self.leaves))
        return Cost(nodes, ways)

    def splits(self, regions: int, arms: int) -> int:
        """A_R = ceil((R-1)/(K-1))."""
        return math.ceil((regions - 1) / (self.groups - 1))

    def members(self, arms: int, stop: float | None) -> list[Member]:
        """All intervals."""
        no_stop(self, stop)
        counts = [0.0] + [1.0 / (self._ways(length) + 1) for length in range(1, self.leaves + 1)]
        return [make_intervals(self.leaves, self.groups, arms, counts)]

    def codes(self) -> list[Ints]:
        """Equal cells, numbered."""
        return [plain_code(self.leaves, self.features)]

    def parameters(self) -> dict[str, Any]:
        """leaves and groups."""
        return {"leaves": self.leaves, "groups": self.groups}
