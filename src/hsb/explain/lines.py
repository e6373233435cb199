"""One column of numbers: the intervals on which one arm is played, exact if the cells are known and within `CLOSE` otherwise."""

from __future__ import annotations

import numpy as np

from ..types import Floats, Ints
from .columns import LEAST, Column, Play, Side
from .cuts import threshold
from .samplers import World

PROBES = 4096
CLOSE = 1e-6  # of the whole length: the accuracy of the points where the arm changes


def intervals(
    column: Column, play: Play, world: World, edges: Floats | None, rng: np.random.Generator
) -> list[tuple[Side, int]]:
    """Return the sides of the column, in order, with the arm played most on each. With `edges`, one query for each cell.

    >>> from .samplers import Everywhere
    >>> age = Column("age", low=18.0, high=90.0)
    >>> intervals(age, lambda rows: np.hstack([rows < 36.2, rows >= 36.2]), Everywhere([age]), None, np.random.default_rng(0))
    [((18.0, 36.2), 0), ((36.2, 90.0), 1)]
    """
    low, high = column.everything
    if edges is None:
        drawn = world.draw(PROBES, rng)
        points = np.unique(drawn[~np.isnan(drawn)])
    else:
        points = (edges[:-1] + edges[1:]) / 2.0
        points = np.floor(points) if column.whole else points
    arms = _arms(play, points)
    changes = np.flatnonzero(arms[1:] != arms[:-1])
    ends = _ends(column, play, points[changes], points[changes + 1], arms[changes]) if edges is None else edges[1:-1][changes]
    sides = list(zip([low, *ends.tolist()], [*ends.tolist(), high], strict=True))
    arms_of_sides: list[tuple[Side, int]] = list(zip(sides, arms[np.append(changes, -1)].tolist(), strict=True))
    if column.missing and (if_missing := int(_arms(play, np.array([np.nan]))[0])) != arms_of_sides[0][1]:
        arms_of_sides[0] = ((LEAST, sides[0][1]), arms_of_sides[0][1])
        arms_of_sides.insert(0, ((low, LEAST), if_missing))
    return arms_of_sides


def _ends(column: Column, play: Play, low: Floats, high: Floats, arms: Ints) -> Floats:
    """Bisect for the points between each low and high where the arm changes; `arms` are those at the lower ends."""
    close = CLOSE * float(high[-1] - low[0]) if len(low) else 0.0
    low, high = low.copy(), high.copy()
    while len(low) and (high - low).max() > max(close, float(column.whole)):
        middle = low + (high - low) / 2.0
        middle = np.floor(middle) if column.whole else middle
        before = _arms(play, middle) == arms
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return np.array([threshold(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)])


def _arms(play: Play, points: Floats) -> Ints:
    return np.asarray(np.argmax(play(points.reshape(-1, 1)), axis=1))
