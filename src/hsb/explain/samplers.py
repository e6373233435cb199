"""Sources of contexts for explanations: anywhere in a box, or similar to a sample.

A source draws possible contexts (`draw`), contexts independent of those (`fresh`), typical contexts (`likely`), and contexts within a
part (`within`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import InputError, quoted
from ..types import Floats
from .columns import LEAST, MISSING, Column, Part, Parts, Side, coded, holds, inside
from .lookup import Lookup

FEW = 32  # a column with at most this number of different numbers takes only these
MOST_ROWS = 1 << 13  # of a sample that are used
ENOUGH = 8  # rows of a sample in a part, to draw whole rows from


class Everywhere:
    """Contexts uniform in a box; numbered cells equally likely."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self.whole: Part = tuple(column.everything for column in columns)

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n contexts."""
        return self.within(self.whole, n, rng)

    fresh = likely = draw

    def within(self, part: Part, n: int, rng: np.random.Generator) -> Floats:
        """Draw n contexts within a part."""
        low, high = np.array(part, dtype=np.float64).T
        points = np.minimum(low + rng.random((n, len(low))) * (high - low), np.nextafter(high, low))
        return np.asarray(np.where([column.whole for column in self.columns], np.floor(points), points))

    def shares(self, regions: Sequence[Parts]) -> Floats:
        """Return each region's share of the space."""
        whole = np.array(self.whole, dtype=np.float64)
        boxes = np.array([box for boxes in regions for box in boxes], dtype=np.float64)
        sizes = (np.diff(boxes, axis=2) / np.diff(whole, axis=1)).prod(axis=(1, 2))
        return np.bincount([i for i, boxes in enumerate(regions) for _ in boxes], sizes).astype(np.float64)


class SimilarContexts:
    """Contexts similar to a sample: its rows, with numbers moved a little, and mixtures of columns from different rows.

    A quarter of the sample is reserved for `fresh`.
    """

    def __init__(self, columns: Sequence[Column], sample: Floats) -> None:
        shuffled = sample[np.random.default_rng(0).permutation(len(sample))[:MOST_ROWS]]
        self.columns, self.sample = tuple(columns), shuffled
        held = np.arange(len(shuffled)) % 4 == 3
        self.kept = shuffled[held] if held.any() else shuffled
        self.rows = shuffled[~held]
        self.codes = coded(columns, self.rows)
        self.values = [_between(column, self.codes[:, j]) for j, column in enumerate(columns)]

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n contexts: one half rows of the sample, the other half mixed."""
        return self._half_mixed(self.rows, n, rng)

    def fresh(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n contexts in the same way from the reserved rows."""
        return self._half_mixed(self.kept, n, rng)

    def likely(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n rows of the sample, not mixed."""
        return self._jitter(self.sample[rng.integers(len(self.sample), size=n)], rng)

    def _half_mixed(self, rows: Floats, n: int, rng: np.random.Generator) -> Floats:
        mixed = np.take_along_axis(rows, rng.integers(len(rows), size=(n, rows.shape[1])), axis=0)
        return self._jitter(np.where(np.arange(n)[:, None] % 2, rows[rng.integers(len(rows), size=n)], mixed), rng)

    def within(self, part: Part, n: int, rng: np.random.Generator) -> Floats:
        """Draw n mixed rows within the part; one half are whole rows, if enough rows of the sample lie there."""
        points = np.stack([self._column(j, side, n, rng) for j, side in enumerate(part)], axis=1)
        there = np.flatnonzero(inside(part, self.columns, self.codes))
        if len(there) >= ENOUGH:
            points[::2] = self.rows[rng.choice(there, size=len(points[::2]))]
        moved = self._jitter(points, rng)
        return np.where(inside(part, self.columns, coded(self.columns, moved))[:, None], moved, points)

    def shares(self, regions: Sequence[Parts]) -> Floats:
        """Return each region's share of the sample."""
        where = Lookup(self.columns, regions).find(coded(self.columns, self.sample))
        return np.bincount(where, minlength=len(regions)) / len(where)

    def _column(self, j: int, side: Side, n: int, rng: np.random.Generator) -> Floats:
        """Draw values of the sample within a side; any value of the side if the sample has no value there."""
        column, codes = self.columns[j], self.codes[:, j]
        there = np.flatnonzero(holds(side, column, codes))
        if len(there):
            return np.asarray(self.rows[rng.choice(there, size=n), j])
        if isinstance(side, frozenset):
            some = rng.choice(sorted(side), size=n).astype(np.float64)
            return np.where(some == MISSING, np.nan, some)
        if side[1] == LEAST:
            return np.full(n, np.nan)
        low, high = max(side[0], float(codes[codes > -np.inf].min(initial=0.0))), min(side[1], float(codes.max(initial=0.0)))
        low, high = (low, high) if low < high else (side[0], side[1])
        low, high = (low if math.isfinite(low) else high - 1.0), (high if math.isfinite(high) else low + 1.0)
        values = rng.uniform(low, np.nextafter(high, low), size=n)
        return np.floor(values) if column.whole else values

    def _jitter(self, points: Floats, rng: np.random.Generator) -> Floats:
        """Move numbers to points between their neighbours in the sample, in columns with many numbers."""
        points = points.copy()
        for j, values in enumerate(self.values):
            if values is not None:
                known = np.flatnonzero(~np.isnan(points[:, j]))
                index = np.searchsorted(values, points[known, j]) + rng.integers(-1, 2, size=len(known))
                other = values[np.clip(index, 0, len(values) - 1)]
                moved = points[known, j] + rng.random(len(known)) * (other - points[known, j])
                points[known, j] = np.round(moved) if (values == np.round(values)).all() else moved
        return points


def _between(column: Column, codes: Floats) -> Floats | None:
    """Return a column's different numbers if there are more than `FEW`, else None."""
    values = np.unique(codes[np.isfinite(codes)])
    return values if column.kind == "number" and len(values) > FEW else None


World = Everywhere | SimilarContexts


def describe_columns(columns: Sequence[Column], sample: Floats | None) -> tuple[Column, ...]:
    """Return the columns with facts from a sample: whether values are missing, and the usual range of unbounded numbers.

    >>> describe_columns([Column("age")], np.array([[30.0], [np.nan], [40.0]]))[0].missing
    True
    """
    if sample is None or np.ndim(sample) != 2 or np.shape(sample)[1] != len(columns):
        return tuple(columns)
    described = []
    for column, values in zip(columns, np.asarray(sample, dtype=np.float64).T, strict=True):
        known = values[np.isfinite(values)]
        usual = column.usual
        if column.kind == "number" and usual is None and len(known):
            low, high = np.quantile(known, [0.01, 0.99]).tolist()
            usual = (low, high) if low < high else (low - 0.5, high + 0.5)
        missing = column.missing or bool(np.isnan(values).any())
        low, high = column.low, column.high
        if missing and low is not None and high is not None:  # a missing value lies beyond any ends
            column, usual = replace(column, low=None, high=None), (low, high)
        described.append(replace(column, missing=missing, usual=usual))
    return tuple(described)


def world_of(columns: Sequence[Column], sample: Floats | None = None) -> World:
    """Return contexts similar to a sample, or without a sample anywhere between the ends of the columns."""
    if sample is not None:
        rows = np.asarray(sample, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(columns) or not len(rows):
            raise InputError(
                f"A sample of contexts needs at least one row of {len(columns)} numbers; given shape {rows.shape}."
            )
        return SimilarContexts(columns, rows)
    endless = [column.name for column in columns if column.kind != "number" or column.low is None or column.high is None]
    if endless:
        raise InputError(f"The range of {quoted(endless[0])} is unknown. Pass a sample of contexts.")
    return Everywhere(columns)
