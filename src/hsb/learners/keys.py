"""How a context becomes a key: the words that the members of a state, or a table of cells, are found by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import is_number
from ..errors import InputError
from ..policy.rows import rows_of
from ..structures import Structure
from ..structures.base import code as code_of
from ..structures.spaces import numbers
from ..types import Floats, Ints

_NOWHERE = object()  # no context is this object


class Nowhere:
    """For policies that do not look at the context: there is one cell, number 0."""

    def __init__(self) -> None:
        self.key: Ints = np.zeros(1, dtype=np.int64)
        self.located: Any = _NOWHERE

    def locate(self, context: Any) -> int:
        """Nothing to do; nothing is ever clipped."""
        return 0

    def check(self, contexts: ArrayLike) -> tuple[NDArray[Any], int]:
        """Any table."""
        return np.zeros((rows_of(contexts), 1)), 0

    def keys(self, points: NDArray[Any]) -> Ints:
        """Zeros."""
        return np.zeros((len(points), 1), dtype=np.int64)

    def copy(self) -> Nowhere:
        """One of its own."""
        return Nowhere()


def cells(structure: Structure, depth: int) -> Ints:
    """The code (`engine/kernels/keys.py`) of halvings of the features in turn, `depth` of them, by number: what an advisor looks at.

    >>> from hsb import BinaryTree
    >>> tree = BinaryTree(depth=2)
    >>> Keys(tree, [cells(tree, 3)]).keys(np.array([[0.9]]))[:, 0]
    array([7])
    """
    from ..engine.kernels.keys import CELLS, NUMBER

    features = structure.finest.features
    return code_of(CELLS, features, 1 << depth) if len(features) == 1 else code_of(NUMBER, features, 2, depth)


def places(structure: Structure, words: int) -> Ints:
    """The code of what a panel sees, in so many words of a key."""
    from ..engine.kernels.keys import NUMBERS

    return code_of(NUMBERS, structure.finest.features, words)


class Keys:
    """The keys of several members over one space, side by side in one row: those of the codes in `beside`, then the structure's own."""

    def __init__(self, structure: Structure, beside: Sequence[Ints] = ()) -> None:
        self.space, self.given = structure.space, (structure, beside)
        from ..engine.kernels.keys import NUMBERS

        words = [int(code[-1]) if code[0] == NUMBERS else 1 for code in beside] + structure.key_words()
        begins = np.cumsum([0, *words]).tolist()
        self.codes = list(zip([*beside, *structure.codes()], begins, words, strict=False))  # how, and which words of a key
        self.key: Ints = np.zeros(begins[-1], dtype=np.int64)
        self._point = np.zeros(self.space.features)
        self._quick = None if self.space.features > 1 else _shifts(self.codes)
        self.located: Any = _NOWHERE
        """The context whose key is in `key`, where it is a number, which cannot have changed since."""

    def locate(self, context: Any) -> int:
        """Put the context's key into `key`, where it stays; how many contexts had to be clipped, 0 or 1."""
        self.located = _NOWHERE
        if self._quick is not None and is_number(context):
            try:
                point = self.space.unit_point(float(context))
            except OverflowError:
                point = math.nan
            if point == point:
                for at, count, shift in self._quick:
                    cell = int(point * count)
                    self.key[at] = (cell if cell < count else count - 1) << shift
                self.located = context
                return 0
        elif self.space.features > 1 and self._several(context):
            return 0
        row = numbers("Contexts", context)
        points, clipped = self.space.check(row.reshape(1, -1) if row.ndim <= 1 else row)
        if len(points) != 1:
            raise InputError(f"One context at a time here; given {len(points)}. hsb.simulate takes whole tables.")
        self.key[:] = self.keys(points)[0]
        return clipped

    def _several(self, context: Any) -> bool:
        """The quick way for several features; False where the slow one is needed, to clip or to explain what is wrong."""
        point = self._point
        if isinstance(context, np.ndarray):
            if context.shape != (len(point),) or context.dtype.kind not in "iuf":
                return False
        elif not isinstance(context, list | tuple) or len(context) != len(point) or not all(map(is_number, context)):
            return False
        try:
            point[:] = context
        except OverflowError:
            return False
        from ..engine.kernels.keys import locate

        low, high = self.space.ends()
        return all(locate(code, low, high, point, self.key, at, words) for code, at, words in self.codes)

    def check(self, contexts: ArrayLike) -> tuple[Floats, int]:
        """A whole table, inside the space, and how many rows were clipped."""
        return self.space.check(contexts)

    def keys(self, points: Floats) -> Ints:
        """The keys of checked contexts, one row each."""
        from ..engine.kernels.keys import encode

        keys = np.zeros((len(points), len(self.key)), dtype=np.int64)
        for code, at, words in self.codes:
            encode(code, *self.space.ends(), points, keys, at, words)
        return keys

    def copy(self) -> Keys:
        """One of its own."""
        return Keys(*self.given)


def _shifts(codes: Sequence[tuple[Ints, int, int]]) -> list[tuple[int, int, int]] | None:
    """For codes of one feature, which word of a key is which cell of how many, shifted by how much; None where that is not all."""
    from ..engine.kernels import keys

    shifts = []
    for code, at, words in codes:
        how, rest = int(code[0]), code[3:].tolist()
        if how == keys.CELLS:
            shifts.append((at, rest[0], 0))
        elif how == keys.PATH and rest[0] == 2 and words == 1:
            shifts.append((at, 1 << rest[1], rest[3] - rest[1]))
        elif how == keys.GRID:
            shifts.append((at, 1 << rest[0], 0))
        elif how != keys.NOTHING:
            return None
    return shifts
