"""Example 2: the binary tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..spaces import Space
from .kary_tree import KaryTree


class BinaryTree(KaryTree):
    """A tree that halves its features in turn, `depth` times (Example 2; the quantiser of Section V).

    N = 2^depth leaves, Psi = 2, H_S = 1, A_R = (R-1) log2 N.

    >>> BinaryTree(depth=10)
    BinaryTree(depth=10)
    """

    def __init__(self, *, depth: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        super().__init__(k=2, depth=depth, space=space, features=features)

    def parameters(self) -> dict[str, Any]:
        return {"depth": self.depth}
