"""The state of the advisor that stands beside a mixture (`kernels/advisor.py`), and how contexts reach it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .kernels import header as h
from .members import Member, aligned_zeros
from .structures import OneOf, Structure
from .structures.base import Cost, code
from .types import Floats, Ints

DEEPEST = 10  # levels: 1024 cells
MOST_WORDS = 1 << 22  # with many arms it looks less closely
_HEAD, _ROW = 8, 6  # words before the scratch, words of a row before its arms: as in kernels/advisor.py


def depth_for(structure: Structure, arms: int) -> int:
    """How many halvings of the space an advisor looks at: as many as the structure, within reason."""
    depth = min(DEEPEST, max(0, math.ceil(math.log2(structure.leaves))))
    while depth > 0 and (2 << depth) * (_ROW + 4 * arms) > MOST_WORDS:
        depth -= 1
    return depth


def make_advisor(depth: int, arms: int) -> Member:
    """An advisor that knows nothing, for 2^depth cells."""
    row0 = -(-(_HEAD + 5 * arms + 4 * (depth + 1)) // 8) * 8
    stride = _ROW + 4 * arms
    I = np.zeros(h.HEADER, dtype=np.int64)
    I[h.KIND], I[h.ARMS], I[h.DEPTH], I[h.STRIDE], I[h.ROW0] = h.ADVISOR, arms, depth, stride, row0
    from .kernels import advised

    F = aligned_zeros(row0 + (2 << depth) * stride)
    advised.restart(F)
    return Member(F, I)


def widen_advisor(member: Member) -> Member:
    """The same with one more arm, never played."""
    F, I = member
    wider = make_advisor(int(I[h.DEPTH]), int(I[h.ARMS]) + 1)
    wider.F[:_HEAD] = F[:_HEAD]
    old = F[I[h.ROW0] :].reshape(-1, int(I[h.STRIDE]))
    wider.F[wider.I[h.ROW0] :].reshape(-1, int(wider.I[h.STRIDE]))[:, : old.shape[1]] = old
    return wider


class WithAdvisor(Structure, listed=False):
    """A structure's keys, and one more: the advisor's cell, by halving the same features in turn.

    >>> from hsb import BinaryTree
    >>> [key.tolist() for key in WithAdvisor(BinaryTree(depth=2), 3).keys(np.array([[0.9]]))][1]
    [[7]]
    """

    def __init__(self, structure: Structure, depth: int) -> None:
        self.of, self.depth = structure, depth
        self.space, self.leaves = structure.space, structure.leaves
        inside = structure
        while isinstance(inside, OneOf):
            inside = max(inside.structures, key=lambda part: part.leaves)
        self.features = inside.features

    @property
    def cost(self) -> Cost:
        """The structure's; the advisor's is beside it."""
        return self.of.cost

    def splits(self, regions: int, arms: int) -> int:
        """The structure's."""
        return self.of.splits(regions, arms)

    def members(self, arms: int, stop: float | None) -> list[Member]:
        """The structure's."""
        return self.of.members(arms, stop)

    def parameters(self) -> dict[str, Any]:
        """The structure's."""
        return self.of.parameters()

    def codes(self) -> list[Ints]:
        """The structure's, then the advisor's."""
        from .kernels.keys import CELLS, NUMBER

        if len(self.features) == 1:
            return [*self.of.codes(), code(CELLS, self.features, 1 << self.depth)]
        return [*self.of.codes(), code(NUMBER, self.features, 2, self.depth)]

    def key_words(self) -> list[int]:
        """The structure's, then one."""
        return [*self.of.key_words(), 1]

    def scalar_keys(self, point: float) -> list[int] | None:
        """The structure's, then the cell."""
        keys = self.of.scalar_keys(point)
        return None if keys is None else [*keys, min(int(point * (1 << self.depth)), (1 << self.depth) - 1)]

    def leaf(self, points: Floats) -> Ints:
        """The structure's."""
        return self.of.leaf(points)
