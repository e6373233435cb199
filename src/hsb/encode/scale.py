"""Features to the unit cube: by their range, or by their ranks."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from ..errors import InputError
from ..types import Floats
from .base import Streamed

Outside = Literal["clip", "error"]


class _Scale(Streamed, listed=False):
    """What both share: what happens to rows outside of the range that the head had."""

    def __init__(self, *, outside: Outside = "clip") -> None:
        super().__init__()
        if outside not in ("clip", "error"):
            raise InputError(f"outside must be 'clip' or 'error'; given {outside!r}.")
        self.outside = outside
        self.low: Floats = np.zeros(0)
        self.high: Floats = np.zeros(0)

    def _widen(self, table: Floats, first: bool) -> None:
        if first:
            self.low, self.high = np.full(table.shape[1], np.inf), np.full(table.shape[1], -np.inf)
        self.low, self.high = np.minimum(self.low, table.min(axis=0)), np.maximum(self.high, table.max(axis=0))

    def _inside(self, table: Floats) -> Floats:
        outside = (table < self.low) | (table > self.high)
        if not outside.any():
            return table
        beyond = outside.any(axis=1)
        if self.outside == "error":
            t = int(np.argmax(beyond))
            j = int(np.argmax((table[t] < self.low) | (table[t] > self.high)))
            raise InputError(
                f"Row {t}, feature {j} is {table[t, j]}, outside [{self.low[j]}, {self.high[j]}], the range fitted on. "
                "Fit on more rows, or use outside='clip'."
            )
        self.clipped += int(beyond.sum())
        return np.clip(table, self.low, self.high)


class MinMax(_Scale):
    """Each feature's range in the head becomes [0, 1]; a feature that did not vary becomes 1/2.

    Rows outside that range are moved to its ends and counted in `clipped` (`outside="clip"`), or refused (`"error"`).

    >>> scale = MinMax().fit(np.array([[10.0], [20.0]]))
    >>> scale.transform([[12.5], [99.0]]).ravel().tolist(), scale.clipped
    ([0.25, 1.0], 1)
    """

    def _begin(self) -> None:
        pass

    def _add(self, table: Floats, *, first: bool) -> None:
        self._widen(table, first)

    def _end(self) -> None:
        pass

    def _transform(self, table: Floats) -> Floats:
        width = self.high - self.low
        varied = width > 0.0
        scaled = (self._inside(table) - self.low) / np.where(varied, width, 1.0)
        return np.asarray(np.where(varied, np.minimum(scaled, 1.0), 0.5))

    def _plain(self) -> dict[str, Any]:
        return {"low": self.low.tolist(), "high": self.high.tolist(), "outside": self.outside}

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        found = cls(outside=data["outside"])
        found.low, found.high = np.array(data["low"], dtype=np.float64), np.array(data["high"], dtype=np.float64)
        if found.low.ndim != 1 or found.low.shape != found.high.shape or not (found.low <= found.high).all():
            raise InputError("A MinMax needs one low and one high per feature, low <= high.")
        found.features = len(found.low)
        return found


class Quantiles(_Scale):
    """Each feature becomes the share of the head that lies below it: equal cells of the unit cube then hold equally many rows.

    Ranks are taken at `knots` points of at most `sample` rows of the head, evenly drawn, and interpolated; equal rows get the middle of their
    ranks. Outside the head's range as in `MinMax`.

    >>> scale = Quantiles().fit(np.array([[1.0], [2.0], [4.0], [100.0], [1000.0]]))
    >>> scale.transform([[4.0], [2000.0]]).ravel().tolist(), scale.clipped
    ([0.5, 1.0], 1)
    """

    def __init__(self, *, knots: int = 1025, sample: int = 1 << 17, outside: Outside = "clip") -> None:
        super().__init__(outside=outside)
        for name, value, least in (("knots", knots, 2), ("sample", sample, 2)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise InputError(f"{name} must be a whole number of at least {least}; given {value!r}.")
        self.knots, self.sample = int(knots), int(sample)
        self.points: list[Floats] = []  # by feature: increasing values
        self.ranks: list[Floats] = []  # and the share of the head below each

    def _begin(self) -> None:
        self._rng = np.random.default_rng(0)
        self._kept = np.zeros((0, 0))
        self._tags = np.zeros(0)

    def _add(self, table: Floats, *, first: bool) -> None:
        self._widen(table, first)
        # The rows with the smallest tags: an even draw of the head, however long, in bounded memory.
        tags = self._rng.random(len(table))
        self._kept = table.copy() if first else np.vstack([self._kept, table])
        self._tags = np.append(self._tags, tags)
        if len(self._tags) > self.sample:
            keep = np.argpartition(self._tags, self.sample)[: self.sample]
            self._kept, self._tags = self._kept[keep], self._tags[keep]

    def _end(self) -> None:
        self.points, self.ranks = [], []
        at = np.linspace(0.0, 1.0, self.knots)
        for j in range(self._kept.shape[1]):
            values = np.quantile(self._kept[:, j], at)
            values[0], values[-1] = self.low[j], self.high[j]
            points, first, count = np.unique(values, return_index=True, return_counts=True)
            self.points.append(points)
            self.ranks.append((at[first] + at[first + count - 1]) / 2)
        del self._kept, self._tags, self._rng

    def _transform(self, table: Floats) -> Floats:
        inside = self._inside(table)
        return np.column_stack(
            [
                np.interp(inside[:, j], points, ranks)
                for j, (points, ranks) in enumerate(zip(self.points, self.ranks, strict=True))
            ]
        )

    def _plain(self) -> dict[str, Any]:
        plain = [[points.tolist(), ranks.tolist()] for points, ranks in zip(self.points, self.ranks, strict=True)]
        return {"features": plain, "outside": self.outside}

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        found = cls(outside=data["outside"])
        for points, ranks in data["features"]:
            found.points.append(np.array(points, dtype=np.float64))
            found.ranks.append(np.array(ranks, dtype=np.float64))
            both = (found.points[-1], found.ranks[-1])
            if both[0].shape != both[1].shape or not len(both[0]) or any((np.diff(part) < 0.0).any() for part in both):
                raise InputError("A Quantiles needs for each feature increasing points and as many increasing ranks.")
        found.low = np.array([points[0] for points in found.points])
        found.high = np.array([points[-1] for points in found.points])
        found.features = len(found.points)
        return found
