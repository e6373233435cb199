"""Examples 4 and 5: intervals of ordered leaves, split into two or K consecutive parts."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .. import reproducible_math
from ..checks import whole
from ..engine.state import Member, make_intervals
from ..errors import BudgetError, InputError, quoted
from ..types import Floats, Ints
from .base import Cost, Structure, no_stop, spelled
from .spaces import Space
from .walk import Group, log_sum

MOST_LEAVES = 900  # with two arms, w fits into a double up to some 970 leaves


class GroupedLexicographic(Structure):
    """Nodes are intervals of the ordered leaves, (first, end); one splits into `groups` consecutive parts in every way (Example 5).

    With N = `leaves` and K = `groups`, at least 2: Psi = K, H_S = C(N-1, K-1), A_R = ceil((R-1)/(K-1)) (see `hsb.Structure`). An
    interval shorter than K splits into its single leaves: without that rule, which the paper leaves out, not every mapping could be modelled.
    Memory O(K N^2 + N^2 M); a round costs O(K N^3) multiplications at most, by dynamic programming over the cuts. Needs
    leaves * ln(arms) <= 700, and at most 900 leaves. `space`, `features`: as in `hsb.Structure`.

    >>> GroupedLexicographic(leaves=8, groups=3).max_groups
    21
    """

    resolves = True

    def __init__(self, *, leaves: int, groups: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        super().__init__(leaves=leaves, space=space, features=features)
        self.k = whole("groups", groups, 2)
        self.root = (0, self.leaves)
        if self.leaves > MOST_LEAVES:
            raise BudgetError(
                f"{type(self).__name__}(leaves={spelled(self.leaves)}) would store {spelled(self.leaves**2)} intervals and recompute "
                f"up to a quarter of them each round; the limit is {MOST_LEAVES} leaves. Use hsb.BinaryTree for more."
            )
        self.max_group = min(self.k, self.leaves)
        self.max_groups = max(self._ways(length) for length in range(1, self.leaves + 1))

    def _ways(self, length: int) -> int:
        if length == 1:
            return 0
        return 1 if length < self.k else math.comb(length - 1, self.k - 1)

    def groups(self, node: tuple[int, int]) -> list[Group]:
        """List every choice of cuts, the earliest first."""
        first, end = node
        cuts = combinations(range(first + 1, end), min(self.k, end - first) - 1) if end - first > 1 else ()
        return [tuple(pairwise((first, *chosen, end))) for chosen in cuts]

    def leaves_of(self, node: tuple[int, int]) -> range:
        return range(*node)

    @property
    def cost(self) -> Cost:
        """The number of intervals around the middle leaf, and of all their cuts."""
        nodes = (self.leaves + 1) // 2 * (self.leaves // 2 + 1)
        middle = self.leaves // 2
        ways = sum(self._ways(j - i + 1) for i in range(middle + 1) for j in range(middle, self.leaves))
        return Cost(nodes, ways)

    def splits(self, regions: int, arms: int) -> int:
        return math.ceil((regions - 1) / (self.k - 1))

    def log_beta(self, symbols: Ints, values: Floats, stop: float | None) -> float:
        """Return ln beta at the root: a pass over all intervals, shorter ones first. O(K N^3)."""
        n = len(symbols)
        changes = np.concatenate([[0], np.cumsum(np.diff(symbols) != 0)])  # up to a leaf
        stay = np.where(changes[:, None] == changes, values[symbols], -np.inf)
        log_count = np.array([0.0] + [-math.log(self._ways(length) + 1) for length in range(1, n + 1)])
        return float(tables(stay, log_count, self.k, log_sum)[0][0, n])

    @cached_property
    def log_full(self) -> float:
        """Return the log weight; intervals of one length are alike. O(K N^2)."""
        n, k = self.leaves, min(self.k, self.leaves + 1)
        interval = np.full(n + 1, -np.inf)  # by length
        interval[1] = 0.0
        parts = np.full((k, n + 1), -np.inf)  # by the number of parts less one
        parts[0, 1] = 0.0
        for length in range(2, n + 1):
            for more in range(1, k):
                parts[more, length] = log_sum(interval[1:length] + parts[more - 1, length - 1 : 0 : -1])
            split = parts[k - 1, length] if length >= k else 0.0
            interval[length] = parts[0, length] = split - reproducible_math.ln(self._ways(length) + 1.0)
        return float(interval[n])

    def example(self, arms: int, regions: int) -> tuple[float, float, bool]:
        N, K = self.leaves, self.k
        if N < K:
            raise InputError(f"Example 5 needs at least as many leaves as groups; given {quoted(self)}.")
        first = K * (self.splits(regions, arms) + 1) * reproducible_math.ln((1 + math.comb(N - 1, K - 1)) * arms)
        return first, K * (regions + 2 * K) * reproducible_math.ln(N * arms), True

    def members(self, arms: int, stop: float | None) -> list[Member]:
        no_stop(self, stop)
        counts = [0.0] + [1.0 / (self._ways(length) + 1) for length in range(1, self.leaves + 1)]
        return [make_intervals(self.leaves, self.k, arms, counts)]

    def parameters(self) -> dict[str, Any]:
        return {"leaves": self.leaves, "groups": self.k}


class Lexicographic(GroupedLexicographic):
    """Nodes are intervals of the ordered leaves; an interval splits at any place (Example 4).

    With N = `leaves`: Psi = 2, H_S = N-1, A_R = R-1 (for the letters see `hsb.Structure`): the cheapest encoding of intervals. Memory
    O(N^2 M), a round O(N^3) at most. Limits, `space` and `features`: as in `hsb.GroupedLexicographic`.

    >>> Lexicographic(leaves=64).max_groups
    63
    """

    def __init__(self, *, leaves: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        super().__init__(leaves=leaves, groups=2, space=space, features=features)

    def example(self, arms: int, regions: int) -> tuple[float, float, bool]:
        cost = 2 * regions * reproducible_math.ln(self.leaves * arms)
        return cost, cost, True

    def parameters(self) -> dict[str, Any]:
        return {"leaves": self.leaves}


def tables(stay: Floats, log_count: Floats, K: int, total: Callable[[Floats], Floats]) -> tuple[Floats, list[Floats]]:
    """Return `begin[i, L]`, V of the L leaves from i on, and `ways[k-1][e, L]`, the total over divisions of the L leaves before e into k parts.

        V(i, L) = log_count[L] + total( stay(i, i+L-1),  a first part and K-1 more, cut anywhere )

    `total` is `log_sum` or the maximum, over the last axis. An interval of fewer leaves than K splits into its single leaves. O(K N^3).
    """
    N = len(stay)
    begin = np.full((N + 1, N + 1), -np.inf)
    ways = [np.full((N + 1, N + 1), -np.inf) for _ in range(K - 1 if K <= N else 1)]
    for L in range(1, N + 1):
        starts, ends = slice(0, N - L + 1), slice(L, N + 1)
        first, rest = begin[starts, 1:L], slice(L - 1, 0, -1)
        value = np.diagonal(stay, L - 1)
        if L > 1:
            split = sliding_window_view(np.diagonal(stay), L).sum(axis=1) if L < K else total(first + ways[-1][ends, rest])
            value = total(np.stack([value, split], axis=-1))
        begin[starts, L] = ways[0][ends, L] = log_count[L] + value
        if L > 1:
            for fewer, more in pairwise(ways):
                more[ends, L] = total(first + fewer[ends, rest])
    return begin, ways
