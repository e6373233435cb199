"""Curves over time, from a tally's buckets."""

from typing import NamedTuple

import numpy as np

from ...types import Floats
from .bands import ERROR, intervals
from .numbers import UpdateTally

Line = list[float | None]


class AverageCurve(NamedTuple):
    """An average until each time, with its band; None if there are no updates yet."""

    name: str
    value: Line
    low: Line
    high: Line


def times(tally: UpdateTally) -> list[int]:
    """Return the end of each bucket in microseconds since 1970; for the last bucket the time of its last update."""
    ends = [(each.index + 1) * tally.width for each in tally.buckets]
    if ends and tally.recent:
        ends[-1] = min(ends[-1], tally.recent[-1][0])
    return ends


def policy_curve(tally: UpdateTally, name: str) -> AverageCurve:
    """Return the policy's average reward per decision, until each time."""
    rows = np.array([each.totals[0] for each in tally.buckets], dtype=np.float64)
    value = np.array([each.totals[1] for each in tally.buckets])
    return _curve(tally, name, value, rows, _sums(tally, 0), ERROR)


def uniform_curve(tally: UpdateTally, name: str) -> AverageCurve:
    """Return the estimated average reward of uniform play, until each time."""
    rows = np.array([each.totals[0] for each in tally.buckets], dtype=np.float64)
    value = np.array([each.totals[2] for each in tally.buckets])
    return _curve(tally, name, value, rows, _sums(tally, 1), ERROR)


def arm_curve(tally: UpdateTally, name: str, index: int, error: float) -> AverageCurve:
    """Return the estimated average reward of always playing one arm. `error` is the probability that its band is ever wrong."""

    def at(values: Floats) -> float:
        return float(values[index]) if index < len(values) else 0.0

    rows = np.array([at(each.totals[3]) for each in tally.buckets])
    value = np.array([at(each.totals[4]) for each in tally.buckets])
    sums = None
    if all(each.arms is not None for each in tally.buckets):
        empty = np.zeros_like(tally.own)
        sums = np.array([each.arms[index] if index < len(each.arms) else empty for each in tally.buckets])
    return _curve(tally, name, value, rows, sums, error)


def _sums(tally: UpdateTally, which: int) -> Floats | None:
    return np.array([each.sums[which] for each in tally.buckets]) if tally.buckets else None


def _curve(tally: UpdateTally, name: str, value: Floats, rows: Floats, sums: Floats | None, error: float) -> AverageCurve:
    some = rows > 0
    mean = np.where(some, value / np.maximum(rows, 1.0), np.nan)
    if sums is None or tally.scale is None or not len(rows):
        nothing: Line = [None] * len(rows)
        return AverageCurve(name, _plain(tally.unscaled(mean)), nothing, nothing)
    low, high = intervals(sums, rows, error)
    return AverageCurve(name, *(_plain(tally.unscaled(np.where(some, each, np.nan))) for each in (mean, low, high)))


def means(tally: UpdateTally) -> Line:
    """Return the average reward within each bucket."""
    return _plain(tally.unscaled(np.array([each.reward / each.rows for each in tally.buckets])))


def shares(tally: UpdateTally) -> list[list[float]]:
    """Return each arm's share of the updates in each bucket."""
    rows = []
    for each in tally.buckets:
        played = np.zeros(tally.arms.count)
        played[: len(each.played)] = each.played
        rows.append((played / each.rows).tolist())
    return rows


def positions(tally: UpdateTally) -> list[int]:
    """Return the index of each bucket, the first at 0. There may be gaps."""
    return [each.index - tally.buckets[0].index for each in tally.buckets]


def _plain(values: Floats) -> Line:
    return [None if value != value else float(value) for value in values.tolist()]
