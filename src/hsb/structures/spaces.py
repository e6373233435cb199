"""Spaces of contexts: a box of real features, or numbered cells.

A space checks a context and turns it into coordinates in [0, 1]; a structure turns those into a cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..checks import LARGEST, one_of, whole
from ..errors import InputError, quoted
from ..types import Floats


class Box:
    """Contexts with n real features, feature j in [low[j], high[j]]. For one feature `low` and `high` may be numbers.

    `outside`: the treatment of a context outside the box. "error" (the default) raises `InputError`; "clip" moves it to the nearest point of
    the box and counts it in the policy's `clipped`. NaN always raises; with "clip", infinities are clipped.

    >>> Box([18, 0], [90, 1])
    Box([18.0, 0.0], [90.0, 1.0])
    """

    def __init__(
        self, low: float | Sequence[float], high: float | Sequence[float], *, outside: Literal["error", "clip"] = "error"
    ) -> None:
        self.low = np.atleast_1d(numbers("low", low)).copy()
        self.high = np.atleast_1d(numbers("high", high)).copy()
        if self.low.ndim != 1 or self.low.shape != self.high.shape or self.low.size == 0:
            raise InputError(
                f"Box needs one low and one high per feature; given {self.low.size} low and {self.high.size} high. "
                "Write Box([0, 0], [1, 1]) for two features."
            )
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise InputError("Box needs finite bounds; given infinity or NaN. Choose bounds and outside='clip'.")
        for j in range(self.low.size):
            if not math.isfinite(float(self.high[j]) - float(self.low[j])):
                raise InputError(
                    f"Box is too wide in feature {j}: high - low must be finite. Choose bounds that contexts can reach."
                )
            if not self.low[j] < self.high[j]:
                raise InputError(
                    f"Box needs low < high in every feature; feature {j} has low {self.low[j]} and high {self.high[j]}."
                )
        self.outside = one_of("outside", outside, ("error", "clip"))
        self.features = int(self.low.size)
        self._low0, self._high0 = float(self.low[0]), float(self.high[0])
        self._width0 = self._high0 - self._low0

    @staticmethod
    def unit(features: int = 1) -> Box:
        """Return the box of `features` features from 0 to 1: the unit interval, square, cube, ...

        >>> Box.unit(2)
        Box([0.0, 0.0], [1.0, 1.0])
        """
        features = whole("features", features, 1)
        return Box([0.0] * features, [1.0] * features)

    def unit_point(self, context: float) -> float:
        """Return the coordinate in [0, 1] of a one-feature context; NaN if `check` must handle it."""
        return (context - self._low0) / self._width0 if self._low0 <= context <= self._high0 else math.nan

    def check(self, contexts: ArrayLike) -> tuple[Floats, int]:
        """Return a batch of contexts as an array (T, features) within the box, and the number of clipped ones. Raises `InputError`."""
        points = _as_rows(contexts, self.features)
        if ((points >= self.low) & (points <= self.high)).all():
            return points, 0
        if np.isnan(points).any():
            t, j = np.argwhere(np.isnan(points))[0]
            raise InputError(
                f"{_which(t, points)}feature {j} is NaN. Contexts must be numbers: drop the row or fill the value."
            )
        beyond = (points < self.low) | (points > self.high)
        if self.outside == "error":
            t, j = np.argwhere(beyond)[0]
            raise InputError(
                f"{_which(t, points)}feature {j} is {float(points[t, j])}, outside [{self.low[j]}, {self.high[j]}]. "
                "Give the structure a wider space=hsb.Box(low, high), or Box(..., outside='clip') to clip and count."
            )
        return np.clip(points, self.low, self.high), int(beyond.any(axis=1).sum())

    def to_unit(self, points: Floats) -> Floats:
        """Return the coordinates in [0, 1] of checked contexts."""
        return np.asarray((points - self.low) / (self.high - self.low))

    def ends(self) -> tuple[Floats, Floats]:
        """Return the points with coordinates 0 and 1."""
        return self.low, self.high

    def bounds(self, feature: int, start: float, end: float) -> tuple[float, float]:
        """Return the part of a feature's range between the fractions start and end."""
        low, high = self.low[feature], self.high[feature]
        return float(low + start * (high - low)), float(low + end * (high - low))

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain data, a part of a structure's `to_dict`."""
        return {"space": "Box", "low": self.low.tolist(), "high": self.high.tolist(), "outside": self.outside}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        clip = ", outside='clip'" if self.outside == "clip" else ""
        return f"Box({self.low.tolist()}, {self.high.tolist()}{clip})"


class Cells:
    """Contexts that are cell numbers: 0, 1, ..., n-1. The structure must have `n` leaves; cell k is its leaf k.

    >>> Cells(4)
    Cells(4)
    """

    outside = "error"

    def __init__(self, n: int) -> None:
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= LARGEST:
            raise InputError(f"Cells needs a whole number of cells, at least 1; given {quoted(n)}.")
        self.n = int(n)
        self.features = 1

    def unit_point(self, context: float) -> float:
        """Return the middle of the cell."""
        return (context + 0.5) / self.n if 0 <= context < self.n and context == int(context) else math.nan

    def check(self, contexts: ArrayLike) -> tuple[Floats, int]:
        """Return a batch of cell numbers as an array (T, 1), and 0: nothing is clipped. Raises `InputError`."""
        points = _as_rows(contexts, 1)
        bad = ~((points >= 0) & (points < self.n) & (points == np.floor(points)))
        if bad.any():
            t = int(np.argwhere(bad)[0][0])
            raise InputError(f"{_which(t, points)}given {points[t, 0]}; contexts here are cell numbers 0 .. {self.n - 1}.")
        return points, 0

    def to_unit(self, points: Floats) -> Floats:
        """Return the middles of the cells."""
        return np.asarray((points + 0.5) / self.n)

    def ends(self) -> tuple[Floats, Floats]:
        """Return the points with coordinates 0 and 1: cells have width one, their numbers lie in the middle."""
        return np.array([-0.5]), np.array([self.n - 0.5])

    def bounds(self, feature: int, start: float, end: float) -> tuple[float, float]:
        """Return the first cell, and one past the last."""
        return float(math.ceil(start * self.n - 0.5)), float(math.ceil(end * self.n - 0.5))

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain data, a part of a structure's `to_dict`."""
        return {"space": "Cells", "n": self.n}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and self.n == other.n

    def __hash__(self) -> int:
        return hash(self.n)

    def __repr__(self) -> str:
        return f"Cells({self.n})"


Space = Box | Cells


def space_from_dict(data: dict[str, Any]) -> Space:
    """Return the space that `to_dict` wrote."""
    if data.get("space") == "Cells":
        return Cells(data["n"])
    if data.get("space") == "Box":
        return Box(data["low"], data["high"], outside=data["outside"])
    raise InputError(f"A space is 'Box' or 'Cells'; given {quoted(data.get('space'))}.")


def numbers(name: str, values: ArrayLike) -> Floats:
    """Return the values as float64. Raises `InputError` for text, dates, complex numbers and ragged lists."""
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        raise InputError(f"{name} must not have masked entries. Drop the rows or fill the values.")
    try:
        array = np.asarray(values)
        if array.dtype.kind in "iufb":
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError, MemoryError):
        pass  # raises below
    raise InputError(
        f"{name} must be numbers, real and finite, all rows of one length; given {shortened(values)}. "
        "Encode categories as numbers first."
    )


def shortened(value: object) -> str:
    """Shorten a value for a message."""
    text = quoted(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _as_rows(contexts: ArrayLike, features: int) -> Floats:
    points = numbers("Contexts", contexts)
    if features == 1 and points.ndim <= 1:
        points = points.reshape(-1, 1)
    if points.ndim != 2 or points.shape[1] != features:
        raise InputError(
            f"Contexts need {features} feature{'s' * (features > 1)} each, shape (rounds, {features}); given shape {points.shape}."
        )
    return points


def _which(t: int, points: Floats) -> str:
    return f"Context {t}: " if len(points) > 1 else "Context: "
