"""The refit of an encoder: it freezes shift and scale of numbers, and the edges of their cells."""

import math

import numpy as np

from ..engine.kernels import inputs as at
from ..engine.kernels.inputs import (
    CELLS,
    COUNT,
    EDGE,
    EDGES,
    HIGH,
    LOW,
    M2,
    MAX,
    MEAN,
    MIN,
    OUTSIDE,
    SCALE,
    SETTLED,
    SHIFT,
    SINCE,
)
from ..types import Floats, Ints
from .layout import RawInputLayout

SETTLE = 64  # rows after which a number that shares its column is scaled, once
MOST = 0.5  # of the last values of a number may lie outside
NOISE = 1e-14  # a standard deviation below this part of the mean is a rounding error: the number is constant


def refit(layout: RawInputLayout) -> tuple[Floats, Floats]:
    """Freeze new scales and edges. Return (a, c): z becomes a * z + c, column by column, up to clipping.

    A shared column cannot be moved like that: its numbers are scaled once, after `SETTLE` rows.
    """
    a, c = np.ones(layout.columns), np.zeros(layout.columns)
    rows, away = int(layout.head[at.ROWS]), set(strayed_inputs(layout).tolist())
    for s in range(layout.inputs):
        row = layout.F[s]
        if s in away:
            begin_again(row, layout.recent[s], rows)
        kind = layout.I[s, at.KIND]
        if kind in (at.NUMBER, at.FLAG):
            p = int(layout.I[s, at.COLUMN])
            if layout.alone(p):
                a[p], c[p] = rescale(row)
            elif row[SETTLED] < SETTLE <= row[COUNT]:
                rescale(row)
        if kind == at.NUMBER:
            is_new = rows < 2.0 * row[SINCE]  # most of the sample is from before
            cut = edges(layout.recent[s] if is_new else layout.reservoir[s])
            layout.I[s, EDGES] = len(cut)
            row[EDGE : EDGE + len(cut)] = cut
            row[EDGE + len(cut) :] = 0.0
            row[[LOW, HIGH]] = row[[MIN, MAX]]
    return a, c


def strayed_inputs(layout: RawInputLayout) -> Ints:
    """Return the numbers most of whose last values lay outside the range at the time when the edges were set."""
    rows = slice(layout.inputs)
    return np.flatnonzero((layout.I[rows, at.KIND] == at.NUMBER) & (layout.F[rows, OUTSIDE] > MOST))


def begin_again(row: Floats, recent: Floats, rows: int) -> None:
    """Restart the statistics of a number that strayed, from its last values."""
    values = np.clip(recent[np.isfinite(recent)], -at.HUGE, at.HUGE)
    mean = float(values.mean())
    row[[COUNT, MEAN, M2, OUTSIDE]] = len(values), mean, float(((values - mean) ** 2).sum()), 0.0
    row[[MIN, MAX, SINCE]] = values.min(), values.max(), rows


def rescale(row: Floats) -> tuple[float, float]:
    """Set shift and scale to the mean and the standard deviation so far. Return (a, c): scaled values become a * z + c."""
    count, mean = float(row[COUNT]), float(row[MEAN])
    scale = math.sqrt(row[M2] / count) if count >= 2 else 0.0
    if not scale > NOISE * abs(mean):
        return 1.0, 0.0
    previous, shift = float(row[SCALE]), float(row[SHIFT])
    row[SHIFT], row[SCALE], row[SETTLED] = mean, scale, count
    return (previous / scale, (shift - mean) / scale) if previous > 0.0 else (1.0, 0.0)


def edges(sample: Floats) -> Floats:
    """Return at most CELLS - 1 ascending edges from a sample, in which NaN is a missing value (`engine/kernels/encode.py`).

    >>> import numpy as np
    >>> edges(np.array([3.0, 1.0, np.nan, 1.0]))
    array([2.])
    """
    from ..engine.kernels import encode

    values, cut = np.sort(sample[~np.isnan(sample)]), np.empty(CELLS - 1)
    return cut[: encode.edges(values, cut)]
