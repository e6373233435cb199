"""Policies that look at a context through a structure: which cell, which path."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import is_number
from ..errors import InputError
from ..policy import Policy
from ..spaces import numbers
from ..structures import Structure
from ..types import Floats, Ints

_NOWHERE = object()  # no context is this object


class Located(Policy, listed=False):
    """A policy over a structure. `self._keys` holds the key of the located context, one array per member of the structure."""

    def __init__(
        self,
        structure: Structure,
        *,
        arms: int | Iterable[Hashable],
        loss_range: tuple[float, float] = (0.0, 1.0),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        if not isinstance(structure, Structure):
            raise InputError(f"{type(self).__name__} needs a structure, e.g. hsb.BinaryTree(depth=10); given {structure!r}.")
        super().__init__(arms=arms, loss_range=loss_range, seed=seed)
        self.structure = structure

    @property
    def _map(self) -> Structure:
        """What turns contexts into keys: the structure, or its leaves alone."""
        return self.structure

    def _refresh(self) -> None:
        super()._refresh()
        self._by = self._map
        self._keys: tuple[Ints, ...] = tuple(np.zeros((1, words), dtype=np.int64) for words in self._map.key_words())
        self._codes = self._map.codes()
        self._point = np.zeros((1, self._map.space.features))
        self._located: Any = _NOWHERE

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_located"}

    def _check_contexts(self, contexts: ArrayLike) -> tuple[Floats, int]:
        return self._map.space.check(contexts)

    def _table_keys(self, points: Floats) -> tuple[Ints, ...]:
        return tuple(np.ascontiguousarray(key) for key in self._map.keys(points))

    def _locate(self, context: Any, *, count: bool) -> None:
        """Put the context's keys where the kernels read them; a number just located is there already."""
        if context is self._located:
            return
        self._located = _NOWHERE
        structure = self._by
        space = structure.space
        if space.features == 1:
            if is_number(context):
                try:
                    point = space.unit_point(float(context))
                except OverflowError:
                    point = math.nan
                keys = structure.scalar_keys(point) if point == point else None
                if keys is not None:
                    for k in range(len(keys)):
                        self._keys[k][0, 0] = keys[k]
                    self._located = context
                    return
        elif self._several(context):
            return
        row = numbers("Contexts", context)
        points, clipped = space.check(row.reshape(1, -1) if row.ndim <= 1 else row)
        if len(points) != 1:
            raise InputError(f"One context at a time here; given {len(points)}. hsb.simulate takes whole tables.")
        if count:
            self.clipped += clipped
        self._keys = tuple(structure.keys(points))

    def _several(self, context: Any) -> bool:
        """The quick way for several features; False where the slow one is needed, to clip or to explain what is wrong."""
        point = self._point
        if isinstance(context, np.ndarray):
            if context.shape != (point.shape[1],) or context.dtype.kind not in "iuf":
                return False
        elif not isinstance(context, list | tuple) or len(context) != point.shape[1] or not all(map(is_number, context)):
            return False
        try:
            point[0] = context
        except OverflowError:
            return False
        from ..kernels.keys import locate

        ends = self._by.space.ends()
        return all(locate(code, *ends, point, key) for code, key in zip(self._codes, self._keys, strict=True))
