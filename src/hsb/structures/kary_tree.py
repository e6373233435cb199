"""Examples 2 and 3: binary and K-ary trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arguments import whole
from ..errors import BudgetError, InputError
from ..quantise import WORD, digit_bits, halvings, key_words, leaf_numbers
from ..spaces import Cells, Space
from ..state import Member, make_tree
from ..types import Floats, Ints
from .base import Cost, Structure, code, tree_box, use_space

MOST_CHILDREN = 4096
MOST_DEPTH = 4000
FEATURE_BITS = 52  # finer cells than 2^-52 cannot be told apart in a double


class KaryTree(Structure):
    """A tree whose nodes divide into k equal parts, `depth` times, features taken in turn (Example 3).

    N = k^depth leaves, Psi = k, H_S = 1, A_R = (R-1) depth. A round costs O(depth) nodes; memory grows with the nodes visited. A
    large tree is path-compressed: a round then costs O(log rounds) nodes whatever the depth. Each feature may be divided until
    its cells are 2^-52 wide.

    >>> KaryTree(k=3, depth=4).leaves
    81
    """

    def __init__(self, *, k: int, depth: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        self.space, self.features = use_space(space, features)
        self.k = whole("k", k, 2)
        if self.k > MOST_CHILDREN:
            raise BudgetError(
                f"k={self.k}: a node may have at most {MOST_CHILDREN:,} children. Use more levels and a smaller k."
            )
        self.depth = whole("depth", depth, 0)
        self._check()
        self.leaves = self.k**self.depth
        self.max_group, self.max_groups = self.k, min(1, self.depth)
        if isinstance(self.space, Cells) and self.space.n != self.leaves:
            raise InputError(
                f"{type(self).__name__} has {self.leaves} leaves but space=Cells({self.space.n}). Give both the same number."
            )

    def _check(self) -> None:
        most = math.floor(FEATURE_BITS / math.log2(self.k))
        if max(halvings(self.depth, len(self.features))) > most:
            raise InputError(
                f"depth={self.depth} would divide a feature more than {most} times, finer than a double can tell. "
                f"With {len(self.features)} feature{'s' * (len(self.features) > 1)} and k={self.k} depth may be "
                f"at most {most * len(self.features)}."
            )
        if self.depth > MOST_DEPTH:
            raise BudgetError(
                f"depth={self.depth}: a tree may have at most {MOST_DEPTH} levels. Look at fewer features, or less finely."
            )

    @property
    def takes_stop(self) -> bool:
        """Yes: every node but the leaves has one group."""
        return True

    @property
    def cost(self) -> Cost:
        """depth + 1 nodes, one group each but the leaf's."""
        return Cost(self.depth + 1, self.depth)

    def splits(self, regions: int, arms: int) -> int:
        """A_R = (R-1) log_k N."""
        return (regions - 1) * self.depth

    def members(self, arms: int, stop: float | None) -> list[Member]:
        """One tree."""
        return [make_tree(self.k, self.depth, arms, 0.5 if stop is None else stop)]

    def codes(self) -> list[Ints]:
        """The path from the root."""
        from ..kernels.keys import PATH

        bits = digit_bits(self.k)
        return [code(PATH, self.features, self.k, self.depth, bits, WORD // bits)]

    def key_words(self) -> list[int]:
        """As many as the path needs."""
        return [key_words(self.k, self.depth)]

    def leaf_code(self) -> Ints:
        """The path as a number."""
        from ..kernels.keys import CELLS, NUMBER

        if len(self.features) == 1:
            return code(CELLS, self.features, self.leaves)
        return code(NUMBER, self.features, self.k, self.depth)

    def scalar_keys(self, point: float) -> list[int] | None:
        """One shift, for a binary tree on one feature."""
        if self.k != 2 or self.space.features != 1:
            return None
        return [min(int(point * self.leaves), self.leaves - 1) << (WORD - self.depth)]

    def leaf(self, points: Floats) -> Ints:
        """Leaf numbers; only where they fit a word."""
        if self.leaves > 2**62:
            raise InputError(f"{self.leaves} leaves are too many to number; use a depth of at most 62 bits for this.")
        return leaf_numbers(points[:, list(self.features)], self.k, self.depth)

    def region(self, leaf: int) -> list[tuple[float, float]]:
        """Bounds of a leaf."""
        return list(tree_box(leaf, self.depth, self.k, len(self.features)))

    def parameters(self) -> dict[str, Any]:
        """k and depth."""
        return {"k": self.k, "depth": self.depth}
