"""Features to the unit cube: by their range, or by their ranks."""

from typing import Any, Literal, Self

import numpy as np

from ...checks import one_of, whole
from ...errors import InputError
from ...types import Floats
from .base import Gathered, Streamed

Outside = Literal["clip", "error"]


class _Range:
    """The range of each feature."""

    def __init__(self, features: int) -> None:
        self.low, self.high = np.full(features, np.inf), np.full(features, -np.inf)

    def add(self, table: Floats) -> None:
        self.low, self.high = np.minimum(self.low, table.min(axis=0)), np.maximum(self.high, table.max(axis=0))


class _Sample:
    """The range of each feature, and a uniform sample of at most `size` rows of the head, in bounded memory."""

    def __init__(self, features: int, size: int) -> None:
        self.range, self.size = _Range(features), size
        self.rows, self.tags = np.zeros((0, features)), np.zeros(0)
        self.rng = np.random.default_rng(0)

    def add(self, table: Floats) -> None:
        self.range.add(table)
        self.tags = np.append(self.tags, self.rng.random(len(table)))
        self.rows = np.vstack([self.rows, table])
        if len(self.tags) > self.size:  # the rows with the smallest tags
            chosen = np.argpartition(self.tags, self.size)[: self.size]
            self.rows, self.tags = self.rows[chosen], self.tags[chosen]


class _Scale(Streamed[Gathered], listed=False):
    """The base class of both encoders: `outside` decides about rows outside the range of the head."""

    def __init__(self, *, outside: Outside = "clip") -> None:
        super().__init__()
        self.outside: Outside = one_of("outside", outside, ("clip", "error"))
        self.low: Floats = np.zeros(0)
        self.high: Floats = np.zeros(0)

    def _inside(self, table: Floats) -> Floats:
        outside = (table < self.low) | (table > self.high)
        if not outside.any():
            return table
        beyond = outside.any(axis=1)
        if self.outside == "error":
            t = int(np.argmax(beyond))
            j = int(np.argmax(outside[t]))
            where = f"outside [{self.low[j]}, {self.high[j]}], the range of the head"
            raise InputError(f"Row {t}, feature {j} is {table[t, j]}, {where}. Fit on more rows, or use outside='clip'.")
        self.clipped += int(beyond.sum())
        return np.clip(table, self.low, self.high)


class MinMax(_Scale[_Range]):
    """Each feature's range in the head becomes [0, 1]; a feature that did not vary becomes 1/2.

    Rows outside that range are moved to its ends and counted in `clipped` (`outside="clip"`), or refused (`"error"`).

    >>> scale = MinMax().fit(np.array([[10.0], [20.0]]))
    >>> scale.transform([[12.5], [99.0]]).ravel().tolist(), scale.clipped
    ([0.25, 1.0], 1)
    """

    def _summary(self, table: Floats) -> _Range:
        return _Range(table.shape[1])

    def _use(self, summary: _Range) -> None:
        self.low, self.high = summary.low, summary.high

    def _transform(self, table: Floats) -> Floats:
        with np.errstate(over="ignore"):
            part = np.where(self.high - self.low < np.inf, 1.0, 0.5)  # a range that would overflow a double is halved
        low = part * self.low
        width = part * self.high - low
        varied = width > 0.0
        scaled = (part * self._inside(table) - low) / np.where(varied, width, 1.0)
        return np.asarray(np.where(varied, np.minimum(scaled, 1.0), 0.5))

    def _plain(self) -> dict[str, Any]:
        return {"low": self.low.tolist(), "high": self.high.tolist(), "outside": self.outside}

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        low, high = np.array(data["low"], dtype=np.float64), np.array(data["high"], dtype=np.float64)
        if low.ndim != 1 or low.shape != high.shape or not (low <= high).all():
            raise InputError("A MinMax needs one low and one high per feature, low <= high.")
        scale = cls(outside=data["outside"])
        scale.low, scale.high, scale.features = low, high, len(low)
        return scale


class Quantiles(_Scale[_Sample]):
    """Each feature becomes the share of the head below it: equal parts of [0, 1] then have equally many rows.

    Ranks are taken at `knots` points of at most `sample` rows of the head, evenly drawn, and interpolated; equal rows get the middle of their
    ranks. `outside` is as in `MinMax`.

    >>> scale = Quantiles().fit(np.array([[1.0], [2.0], [4.0], [100.0], [1000.0]]))
    >>> scale.transform([[4.0], [2000.0]]).ravel().tolist(), scale.clipped
    ([0.5, 1.0], 1)
    """

    def __init__(self, *, knots: int = 1025, sample: int = 1 << 17, outside: Outside = "clip") -> None:
        super().__init__(outside=outside)
        self.knots, self.sample = whole("knots", knots, 2), whole("sample", sample, 2)
        self.points: list[Floats] = []  # by feature: increasing values
        self.ranks: list[Floats] = []  # and the share of the head below each

    def _summary(self, table: Floats) -> _Sample:
        return _Sample(table.shape[1], self.sample)

    def _use(self, summary: _Sample) -> None:
        low, high = summary.range.low, summary.range.high
        points_of, ranks_of = [], []
        levels = np.linspace(0.0, 1.0, self.knots)
        for j in range(len(low)):
            values = np.quantile(summary.rows[:, j], levels)
            values[0], values[-1] = low[j], high[j]
            points, first, count = np.unique(values, return_index=True, return_counts=True)
            points_of.append(points)
            ranks_of.append((levels[first] + levels[first + count - 1]) / 2)
        self.low, self.high, self.points, self.ranks = low, high, points_of, ranks_of

    def _transform(self, table: Floats) -> Floats:
        features = zip(self._inside(table).T, self.points, self.ranks, strict=True)
        return np.column_stack([np.interp(column, points, ranks) for column, points, ranks in features])

    def _plain(self) -> dict[str, Any]:
        plain = [[points.tolist(), ranks.tolist()] for points, ranks in zip(self.points, self.ranks, strict=True)]
        return {"features": plain, "outside": self.outside}

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        scale = cls(outside=data["outside"])
        for pair in data["features"]:
            points, ranks = (np.array(part, dtype=np.float64) for part in pair)
            if points.shape != ranks.shape or not len(points) or (np.diff([points, ranks]) < 0.0).any():
                raise InputError("A Quantiles needs for each feature increasing points and as many increasing ranks.")
            scale.points.append(points)
            scale.ranks.append(ranks)
        scale.low = np.array([points[0] for points in scale.points])
        scale.high = np.array([points[-1] for points in scale.points])
        scale.features = len(scale.points)
        return scale
