"""Averages of a log's terms with bootstrap intervals, in bounded memory: from groups of rows.

An estimate is a ratio sum(S) / sum(N) over rows: N is 1 for an average, the weight for a self-normalised one. Row i belongs to group
i mod GROUPS: up to GROUPS rows each row is a group; for more rows the bootstrap draws groups, which are as independent as the rows.
"""

from functools import lru_cache

import numpy as np

from ...types import Floats

GROUPS = 2048
DRAWS = 999  # so that the 25th and the 975th are the 2.5% and 97.5% points


class GroupSums:
    """Sums of columns of terms, by group."""

    def __init__(self, columns: int) -> None:
        self.rows = 0
        self.groups = np.zeros((GROUPS, columns))

    def add(self, terms: Floats) -> None:
        """Add rows of terms, (n, columns)."""
        begin = 0
        while begin < len(terms):
            group = self.rows % GROUPS
            part = terms[begin : begin + GROUPS - group]
            self.groups[group : group + len(part)] += part
            self.rows += len(part)
            begin += len(part)

    def merge(self, later: "GroupSums") -> None:
        """Add the sums of the rows that follow; their groups, counted from 0, are rotated to their position here.

        >>> whole, first, rest = GroupSums(1), GroupSums(1), GroupSums(1)
        >>> terms = np.arange(5000.0)[:, None]
        >>> whole.add(terms), first.add(terms[:3000]), rest.add(terms[3000:]), first.merge(rest)
        (None, None, None, None)
        >>> np.array_equal(whole.groups, first.groups)
        True
        """
        self.groups += np.roll(later.groups, self.rows % GROUPS, axis=0)
        self.rows += later.rows

    @property
    def totals(self) -> Floats:
        """The sum of each column."""
        return np.asarray(self.groups.sum(axis=0))

    @property
    def used(self) -> Floats:
        """The groups that have rows."""
        return self.groups[: min(self.rows, GROUPS)]


@lru_cache(maxsize=1)
def draws(groups: int, seed: int, stream: int = 0) -> Floats:
    """Draw resamples: how often each group is in each, (DRAWS, groups). The streams of a seed are independent of each other."""
    rng = np.random.default_rng([seed, 0x6F70, *[stream] * (stream > 0)])
    chosen = rng.integers(0, groups, (DRAWS, groups)) + groups * np.arange(DRAWS)[:, None]
    return np.bincount(chosen.ravel(), minlength=DRAWS * groups).reshape(DRAWS, groups).astype(np.float64)


def studentised(N: Floats, S: Floats, drawn: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the ends of bootstrap-t intervals of sum(S) / sum(N), one for each column of S. N: (groups, 1), S: (groups, columns).

    A resample whose spread is 0, or which has no weight, counts as arbitrarily far on both sides: if few rows matter, the interval is
    infinite rather than too short.

    >>> rng = np.random.default_rng(0)
    >>> low, high = studentised(np.ones((400, 1)), rng.normal(size=(400, 1)), draws(400, 0))
    >>> bool(low[0] < 0 < high[0] < low[0] + 0.25)
    True
    """
    return ends(*resampled(N, S, drawn), confidence)


def resampled(N: Floats, S: Floats, drawn: Floats) -> tuple[Floats, Floats, Floats]:
    """Return for each column of S: the ratio, its standard error, and its t in every resample, (DRAWS, columns); NaN if undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        centre, spread = _centre(N.sum(axis=0), S.sum(axis=0), (N * N).sum(axis=0), (N * S).sum(axis=0), (S * S).sum(axis=0))
        again, spreads = _centre(drawn @ N, drawn @ S, drawn @ (N * N), drawn @ (N * S), drawn @ (S * S))
        return centre, spread, t_values(again, spreads, centre, spread)


def t_values(again: Floats, spreads: Floats, centre: Floats, spread: Floats) -> Floats:
    """Return the distance of resamples from the centre, each in its own standard errors; NaN for a resample without spread."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (again - centre) / spreads
        return np.where(~(spreads > 1e-9 * spread) | ~np.isfinite(t), np.nan, t)


def ends(centre: Floats, spread: Floats, t: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals from the result of `resampled`: equally many resamples lie beyond each end; NaN counts on both sides."""
    first = max(round((DRAWS + 1) * (1.0 - confidence) / 2) - 1, 0)
    upper = np.sort(np.where(np.isnan(t), np.inf, t), axis=0)[DRAWS - 1 - first]
    lower = np.sort(np.where(np.isnan(t), -np.inf, t), axis=0)[first]
    with np.errstate(invalid="ignore"):
        low, high = centre - upper * spread, centre - lower * spread
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def too_fine(confidence: float) -> bool:
    """Are there too few resamples for this confidence?

    >>> too_fine(0.95), too_fine(0.9995)
    (False, True)
    """
    return (DRAWS + 1) * (1.0 - confidence) / 2 < 0.999


def _centre(n: Floats, s: Floats, nn: Floats, ns: Floats, ss: Floats) -> tuple[Floats, Floats]:
    """Return the ratio and its standard error, from sums over groups."""
    ratio = s / n
    return ratio, np.sqrt(np.maximum(ss - 2 * ratio * ns + ratio * ratio * nn, 0.0)) / n
