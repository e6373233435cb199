"""Example 1: arbitrary splitting."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from .. import reproducible_math
from ..engine.kernels.words.graph import SUBSETS
from ..engine.state import Member, make_graph
from ..errors import BudgetError
from .base import Cost, Structure, no_stop, spelled
from .spaces import Space
from .walk import Group, Layer, log_sum

MOST_LEAVES = 14


class ArbitrarySplits(Structure):
    """Nodes are the non-empty sets of leaves, bit masks; a set splits into any two parts (Example 1).

    With N = `leaves`: Psi = 2, H_S = 2^(N-1) - 1, A_R = M - 1 for any number of regions (for the letters see `hsb.Structure`). A round visits
    2^(N-1) sets and 3^(N-1) - 2^(N-1) splits, so N is at most 14. `space`, `features`: as in `hsb.Structure`.

    >>> ArbitrarySplits(leaves=6).cost
    Cost(nodes=32, groups=211)
    """

    resolves = True

    def __init__(self, *, leaves: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        super().__init__(leaves=leaves, space=space, features=features)
        if self.leaves > MOST_LEAVES:
            large = self.leaves > 10_000  # whose powers would take too long to compute
            many = "far too many" if large else f"{spelled(self.cost.nodes)} sets and {spelled(self.cost.groups)}"
            raise BudgetError(
                f"ArbitrarySplits(leaves={self.leaves}) would visit {many} splits in every round; the limit is {MOST_LEAVES} "
                f"leaves. Use hsb.Lexicographic or hsb.BinaryTree for more."
            )
        self.inputs = 2**self.leaves  # 0 is not a set
        self.root = self.inputs - 1
        self.max_group = min(2, self.leaves)
        self.max_groups = 2 ** (self.leaves - 1) - 1

    def groups(self, node: int) -> list[Group]:
        """List the splits: smaller first parts first, then in the order of their leaves."""
        low, *others = self.leaves_of(node)
        parts = [sum(1 << leaf for leaf in (low, *some)) for n in range(len(others)) for some in combinations(others, n)]
        return [(part, node ^ part) for part in parts]

    def options(self, node: int) -> list[Group]:
        """List the splits by falling first part (`engine/kernels/locate.py`)."""
        return sorted(self.groups(node), reverse=True)

    def leaves_of(self, node: int) -> list[int]:
        return [leaf for leaf in range(self.leaves) if node >> leaf & 1]

    def number(self, node: int) -> int:
        return node

    def layers(self) -> Iterator[Layer]:
        """Yield sets by size: one of n leaves has 2^(n-1) - 1 splits, one for each choice among its leaves but the lowest."""
        for size in range(1, self.leaves + 1):
            sets = np.array(list(combinations(range(self.leaves), size)))
            masks = (1 << sets).sum(axis=1)
            chosen = np.arange(2 ** (size - 1) - 2, -1, -1)[:, None] >> np.arange(size - 1) & 1
            parts = (1 << sets[:, :1]) + (1 << sets[:, 1:]) @ chosen.T
            yield Layer(masks, np.stack([parts, masks[:, None] ^ parts], axis=-1), sets[:, : int(size == 1)])

    @property
    def cost(self) -> Cost:
        sets = 2 ** (self.leaves - 1)
        return Cost(sets, 3 ** (self.leaves - 1) - sets)

    def splits(self, regions: int, arms: int) -> int:
        """Return A_R = M - 1: one set can hold all leaves of an arm."""
        return arms - 1

    @cached_property
    def log_full(self) -> float:
        """Return the log weight. Sets of equal size are alike; C(n-1, i-1) splits of n leaves give i of them to the part with the lowest."""
        value = [0.0, 0.0]
        for n in range(2, self.leaves + 1):
            ways = [reproducible_math.ln(math.comb(n - 1, i - 1)) + value[i] + value[n - i] for i in range(1, n)]
            value.append(float(log_sum(np.array(ways))) - (n - 1) * reproducible_math.ln(2.0))
        return value[self.leaves]

    def example(self, arms: int, regions: int) -> tuple[float, float, bool]:
        N, M, ln = self.leaves, arms, reproducible_math.ln
        return 2 * M * ((N - 1) * ln(2) + ln(M)), 2 * M * N * ln(M), M >= 2

    def members(self, arms: int, stop: float | None) -> list[Member]:
        no_stop(self, stop)
        counts = np.array([0] + [2 ** (mask.bit_count() - 1) for mask in range(1, 2**self.leaves)])
        return [make_graph(SUBSETS, [self.leaves], counts, *self.cost, arms)]

    def parameters(self) -> dict[str, Any]:
        return {"leaves": self.leaves}
