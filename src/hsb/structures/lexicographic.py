"""Example 4: the lexicographic splitting graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..spaces import Space
from .grouped_lexicographic import GroupedLexicographic


class Lexicographic(GroupedLexicographic):
    """Nodes are intervals of the ordered leaves; an interval splits at any place (Example 4).

    Psi = 2, H_S = N-1, A_R = R-1: the cheapest encoding of regions that are intervals. Memory O(N^2 M), a round O(N^3) at most.

    >>> Lexicographic(leaves=64).max_groups
    63
    """

    def __init__(self, *, leaves: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        super().__init__(leaves=leaves, groups=2, space=space, features=features)

    def example(self, arms: int, regions: int) -> tuple[float, float, bool]:
        cost = 2 * regions * math.log(self.leaves * arms)
        return cost, cost, True

    def parameters(self) -> dict[str, Any]:
        return {"leaves": self.leaves}
