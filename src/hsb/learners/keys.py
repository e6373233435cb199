"""Keys of contexts: the words by which a state's members, or a table of cells, are indexed."""

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

_NONE_YET = object()  # no context is this object


class NoContext:
    """Keys for learners that ignore contexts: there is one cell, number 0."""

    def read(self, context: Any) -> tuple[Ints, int]:
        """Return the same key for every context, and 0: nothing is clipped."""
        return _ONLY, 0

    def check(self, contexts: ArrayLike) -> tuple[NDArray[Any], int]:
        """Accept any table."""
        return np.zeros((rows_of(contexts), 1)), 0

    def keys(self, points: NDArray[Any]) -> Ints:
        """Return zeros."""
        return np.zeros((len(points), 1), dtype=np.int64)

    def copy(self) -> NoContext:
        """Return an independent copy."""
        return self


_ONLY: Ints = np.zeros(1, dtype=np.int64)


def cells(structure: Structure, depth: int) -> Ints:
    """The code (`kernels/keys.py`) of halvings of the features in turn, `depth` of them, by number: what an advisor looks at.

    >>> from hsb import BinaryTree
    >>> tree = BinaryTree(depth=2)
    >>> Keys(tree, [cells(tree, 3)]).keys(np.array([[0.9]]))[:, 0]
    array([7])
    """
    from ..engine.kernels.keys import CELLS, NUMBER

    features = structure.finest.features
    return code_of(CELLS, features, 1 << depth) if len(features) == 1 else code_of(NUMBER, features, 2, depth)


def columns(structure: Structure, words: int) -> Ints:
    """The code of what an ensemble of models sees, in `words` words of a key."""
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
        self.words = begins[-1]
        self._blank: Ints = np.zeros(self.words, dtype=np.int64)
        self._point = np.zeros(self.space.features)
        self._quick = None if self.space.features > 1 else _shifts(self.codes)
        self._unit_point = self.space.unit_point
        self._last: tuple[Any, tuple[Ints, int]] = (
            _NONE_YET,
            (_ONLY, 0),
        )  # a number, which cannot have changed since, and its key

    def read(self, context: Any) -> tuple[Ints, int]:
        """The context's key, and 1 if the context was clipped to the space, else 0."""
        last, result = self._last
        if context is last:
            return result
        key, quick = self._blank.copy(), self._quick
        if quick is not None and (type(context) is float or is_number(context)):
            try:
                point = self._unit_point(context if type(context) is float else float(context))
            except OverflowError:
                point = math.nan
            if point == point:
                for offset, count, shift in quick:
                    cell = int(point * count)
                    key[offset] = (cell if cell < count else count - 1) << shift
                result = key, 0
                self._last = context, result
                return result
        elif self.space.features > 1 and self._several(context, key):
            return key, 0
        row = numbers("Contexts", context)
        points, clipped = self.space.check(row.reshape(1, -1) if row.ndim <= 1 else row)
        if len(points) != 1:
            raise InputError(f"One context at a time here; given {len(points)}. hsb.simulate takes whole tables.")
        return self.keys(points)[0], clipped

    def _several(self, context: Any, key: Ints) -> bool:
        """Fill the key of several features quickly; False if the slow way is needed, to clip or to explain what is wrong."""
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
        return all(locate(code, low, high, point, key, offset, words) for code, offset, words in self.codes)

    def check(self, contexts: ArrayLike) -> tuple[Floats, int]:
        """A whole table, inside the space, and how many rows were clipped."""
        return self.space.check(contexts)

    def keys(self, points: Floats) -> Ints:
        """The keys of checked contexts, one row each."""
        from ..engine.kernels.keys import encode

        keys = np.zeros((len(points), self.words), dtype=np.int64)
        for code, offset, words in self.codes:
            encode(code, *self.space.ends(), points, keys, offset, words)
        return keys

    def copy(self) -> Keys:
        """Return an independent copy."""
        return Keys(*self.given)


def _shifts(codes: Sequence[tuple[Ints, int, int]]) -> list[tuple[int, int, int]] | None:
    """Return (word, number of cells, shift) for each code of one feature; None if there are other codes."""
    from ..engine.kernels import keys

    shifts = []
    for code, offset, words in codes:
        how, rest = int(code[0]), code[3:].tolist()
        if how == keys.CELLS:
            shifts.append((offset, rest[0], 0))
        elif how == keys.PATH and rest[0] == 2 and words == 1:
            shifts.append((offset, 1 << rest[1], rest[3] - rest[1]))
        elif how == keys.GRID:
            shifts.append((offset, 1 << rest[0], 0))
        elif how != keys.NOTHING:
            return None
    return shifts
