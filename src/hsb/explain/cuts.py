"""The best cut of a set of contexts in two, by the arms played there: CART's, with the Gini criterion.

A cut has weights L_m and R_m of each arm m on its sides; the best maximises sum L_m^2 / L + sum R_m^2 / R. Numbers are cut at a
threshold, categories into two sets: those with the largest shares of one of the arms, and the rest (Breiman et al., 1984).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..types import Floats, Ints
from .columns import LEAST, Column, Part, Side

SLACK = 0.02  # the share of a cut's gain that rounding its threshold may cost
ARMS_TRIED = 6  # arms, the most played, by whose shares categories are sorted


class Cut(NamedTuple):
    """A column and its two sides."""

    column: int
    left: Side
    right: Side


def best_cut(
    part: Part, columns: Sequence[Column], edges: Sequence[Floats | None], X: Floats, y: Ints, w: Floats
) -> Cut | None:
    """Return the best cut of a part with coded rows X, arms y and weights w; None if all rows are equal.

    `edges`: the only thresholds that a column may be cut at, or None. O(rows * columns * arms).
    """
    sets = [j for j, column in enumerate(columns) if column.kind == "category"]
    rest = [j for j, column in enumerate(columns) if column.kind != "category"]
    value, cut = -math.inf, None
    if rest:
        value, cut = _threshold(part, columns, edges, rest, X, y, w)
    for j in sets:
        other, candidate = _subset(j, part[j], X[:, j], y, w)
        if candidate is not None and other > value * (1.0 + 1e-12):
            value, cut = other, candidate
    return cut


def _threshold(
    part: Part, columns: Sequence[Column], edges: Sequence[Floats | None], which: list[int], X: Floats, y: Ints, w: Floats
) -> tuple[float, Cut | None]:
    """Return the best threshold of all columns of numbers and flags, rounded."""
    order = np.argsort(X[:, which], axis=0, kind="stable")
    V = np.take_along_axis(X[:, which], order, axis=0)
    scores, uncut = _scores(y[order], w[order])
    scores[V[:-1] >= V[1:]] = -np.inf
    if not len(scores) or scores.max() == -np.inf:
        return -math.inf, None
    i, k = divmod(int(np.argmax(scores)), len(which))
    best = float(scores[i, k])
    indices = np.flatnonzero(scores[:, k] > -np.inf)
    far = scores[indices, k] < best - SLACK * (best - uncut)
    here = int(np.searchsorted(indices, i))
    below, above = np.flatnonzero(far[:here]), np.flatnonzero(far[here:])
    first = indices[int(below[-1]) + 1 if len(below) else 0]
    last = indices[here + int(above[0]) - 1 if len(above) else -1]
    j, side = which[k], part[which[k]]
    end = columns[j].high if columns[j].kind == "number" else None  # it belongs to the side below
    highest = float(V[last + 1, k]) if end is None else min(float(V[last + 1, k]), math.nextafter(end, -math.inf))
    t = threshold(float(V[first, k]), highest, edges[j])
    if isinstance(side, frozenset):
        return best, Cut(j, frozenset(c for c in side if c < t), frozenset(c for c in side if c >= t))
    return best, Cut(j, (side[0], t), (t, side[1]))


def _scores(y: Ints, w: Floats) -> tuple[Floats, float]:
    """Return the criterion of cutting after each row but the last, for sorted rows, a column each; and the criterion of no cut."""
    along = np.cumsum(w, axis=0)
    left, total = along[:-1], along[-1:]
    right = np.maximum(total - left, 1e-300)
    scores, uncut = np.zeros(left.shape), 0.0
    for arm in np.unique(y[:, :1]):
        with_it = np.cumsum(w * (y == arm), axis=0)
        L, all_of_it = with_it[:-1], with_it[-1:]
        scores += L**2 / left + (all_of_it - L) ** 2 / right
        uncut += float(all_of_it[0, 0] ** 2 / total[0, 0])
    return scores, uncut


def _subset(j: int, side: Side, codes: Floats, y: Ints, w: Floats) -> tuple[float, Cut | None]:
    """Return the best cut of a category's codes into two sets; codes without rows go to the heavier side."""
    assert isinstance(side, frozenset)
    here, index = np.unique(codes, return_inverse=True)
    if len(here) < 2:
        return -math.inf, None
    arms, which = np.unique(y, return_inverse=True)
    counts = np.bincount(index * len(arms) + which, weights=w, minlength=len(here) * len(arms)).reshape(len(here), -1)
    value, cut = -math.inf, None
    for m in np.argsort(-counts.sum(axis=0), kind="stable")[:ARMS_TRIED]:
        order = np.argsort(counts[:, m] / counts.sum(axis=1), kind="stable")
        left = np.cumsum(counts[order], axis=0)[:-1]
        right = counts.sum(axis=0) - left
        scores = (left**2).sum(axis=1) / left.sum(axis=1) + (right**2).sum(axis=1) / right.sum(axis=1)
        i = int(np.argmax(scores))
        if scores[i] > value:
            value = float(scores[i])
            low, high = (frozenset(map(int, here[part])) for part in (order[: i + 1], order[i + 1 :]))
            others = side - low - high
            cut = Cut(j, low, high | others) if right[i].sum() >= left[i].sum() else Cut(j, low | others, high)
    return value, cut


def threshold(low: float, high: float, edges: Floats | None = None) -> float:
    """Return the roundest number in (low, high] near the middle; with `edges`, one of them.

    >>> threshold(0.4871, 0.5312), threshold(1834.0, 2177.0), threshold(-math.inf, 3.0) == LEAST
    (0.5, 2000.0, True)
    >>> threshold(0.3, 0.8, np.array([0.0, 0.25, 0.375, 0.5, 0.625, 1.0]))
    0.5
    """
    if edges is not None:
        among = edges[(edges > low) & (edges <= high)]
        if len(among):
            return float(min(among, key=lambda edge: (len(f"{abs(edge):.9g}"), abs(2.0 * edge - low - high))))
    if low == -math.inf:
        return LEAST  # missing on one side, every number on the other
    if low < 0.0 <= high:
        return 0.0
    middle = low + (high - low) / 2.0
    start = math.ceil(math.log10(max(abs(low), abs(high), 1e-300)))
    for step in (part * 10.0**digits for digits in range(start, max(start - 17, -300), -1) for part in (1.0, 0.5, 0.2)):
        number = float(f"{round(middle / step) * step:.15g}")
        if low < number <= high:
            return number
    return high
