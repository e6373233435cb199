"""The region of a context among many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..types import Floats, Ints
from .columns import MISSING, Column, Parts

AT_ONCE = 1 << 22  # comparisons


class Lookup:
    """The boxes of regions, column by column."""

    def __init__(self, columns: Sequence[Column], regions: Sequence[Parts]) -> None:
        self.columns = tuple(columns)
        self.region: Ints = np.array([i for i, boxes in enumerate(regions) for _ in boxes], dtype=np.int64)
        boxes = [box for boxes in regions for box in boxes]
        self.sides: list[tuple[Floats, Floats] | NDArray[np.bool_] | None] = []
        for j, column in enumerate(self.columns):
            sides = [box[j] for box in boxes]
            if all(side == column.everything for side in sides):
                self.sides.append(None)
            elif column.kind == "number":
                low, high = np.array(sides, dtype=np.float64).T
                self.sides.append(
                    (low, np.where(high == column.high, np.inf, high))
                )  # the end of a column belongs to the last side
            else:
                codes = range(MISSING, max(2, len(column.labels)))
                self.sides.append(np.array([[code in side for code in codes] for side in sides], dtype=bool))

    def find(self, table: Floats) -> Ints:
        """Return the first region that contains each coded row, -1 if no region does."""
        regions = np.full(len(table), -1, dtype=np.int64)
        step = max(1, AT_ONCE // max(1, len(self.region)))
        for start in range(0, len(table), step):
            rows = table[start : start + step]
            held = np.ones((len(rows), len(self.region)), dtype=bool)
            for column, sides, values in zip(self.columns, self.sides, rows.T, strict=True):
                if isinstance(sides, tuple):
                    if column.low is not None and column.high is not None:
                        values = np.clip(values, column.low, column.high)  # ends may be rounded
                    held &= (values[:, None] >= sides[0]) & (values[:, None] < sides[1])
                elif sides is not None:
                    held &= sides[:, values.astype(np.int64) - MISSING].T
            any_of_them = held.any(axis=1)
            regions[start : start + step][any_of_them] = self.region[np.argmax(held[any_of_them], axis=1)]
        return regions
