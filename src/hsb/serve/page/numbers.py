"""The page's numbers: pure functions of the journal's rows, and sums that add rows a part at a time.

An `UpdateTally` has sums over a policy's updates, in the order of its stream. The estimate of another rule's reward weights updates by
1 / propensity, so what the policy learned meanwhile does not bias it. `bands` has the intervals.
"""

import json
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...evaluate.off_policy.betting import STAKES
from ...types import Floats
from ..core.requests import count_arms, is_baseline
from ..core.rows import DecisionRow, RowKind, StreamRow
from .bands import ERROR, bets, controlled, differences, evidence, honesty, intervals

MOST_BUCKETS = 96
FEW_ARMS = 20  # arms at most, for a band of each at every time
RECENT = 2000  # last updates, for rates
CLOSE = 1e-9  # how far a weight may be from 1 if arms are drawn uniformly
TINY = 1e-300  # instead of 0, if there is no floor
FINEST = 1_000_000  # initial microseconds of a bucket


class Band(NamedTuple):
    """An estimate and its interval; `low` and `high` are None if there is no interval.

    Estimates are unbiased weighted averages: early on one may lie outside its interval and outside the range of rewards. They are not clipped:
    clipped, a rule's value and the difference between policy and rule would be inconsistent.
    """

    value: float | None
    low: float | None
    high: float | None


NOTHING = Band(None, None, None)


class Updates(NamedTuple):
    """Columns of updates."""

    at: Any  # when learned
    decided: Any  # when decided
    arm: Any
    p: Any
    reward: Any
    available: Any  # (n, arms)
    among: Any  # the number of available arms
    alike: Any  # the number of them in the group of the arm played: 1, unless arms come with each request
    u: Any
    defaulted: Any
    least: Any  # the smallest probability that an available arm can have; 0 without a floor
    ramp: Any  # the share of decisions that the policy gets, not the baseline
    own: Any  # the policy's own probability of the arm, floor included, over the logged one; 0 in shadow mode, where it is unknown


class Floors:
    """The floor at each version, from the rows of a stream that set it."""

    def __init__(self) -> None:
        self.since: list[int] = [0]
        self.floors: list[float] = [0.0]

    def take(self, row: StreamRow) -> None:
        """Record the floor if the row sets it."""
        if row.kind not in (RowKind.CREATE, RowKind.SETTINGS):
            return
        data = json.loads(row.data or "{}")
        floor = data.get("settings", data).get("floor")
        if floor is not None:
            self.since.append(row.seq)
            self.floors.append(float(floor))

    def at(self, version: int) -> float:
        """Return the floor of decisions made at a version."""
        return self.floors[bisect_right(self.since, version) - 1]


def updates_of(entries: Iterable[tuple[StreamRow, DecisionRow | None]], arms: int, floors: Floors) -> Updates:
    """Return the updates among the rows of a stream."""
    rows = []
    for row, decision in entries:
        floors.take(row)
        if decision is not None and row.reward is not None:
            rows.append((row, decision))
    available, among, alike = np.zeros((len(rows), arms), dtype=bool), np.ones(len(rows)), np.ones(len(rows))
    known: dict[bytes, Any] = {}
    for k, (_, decision) in enumerate(rows):
        counts = known.get(decision.available)
        if counts is None:
            counts = known[decision.available] = count_arms(decision.available, arms, came=decision.played is not None)
        available[k], among[k], alike[k] = counts > 0, max(counts.sum(), 1), max(counts[decision.arm], 1)
    column = [[row.at for row, _ in rows], [decision.at for _, decision in rows], [decision.arm for _, decision in rows]]
    timestamp, decided, arm = (np.asarray(each, dtype=np.int64) for each in column)
    real = [[decision.propensity for _, decision in rows], [row.reward for row, _ in rows]]
    p, reward = (np.asarray(each, dtype=np.float64) for each in real)
    u = np.asarray([decision.u for _, decision in rows], dtype=np.float64)
    least = np.asarray([decision.ramp * floors.at(decision.version) for _, decision in rows]) / among
    defaulted = np.asarray([row.defaulted for row, _ in rows], dtype=bool)
    bases = [is_baseline(decision) for _, decision in rows]
    based = np.asarray([each is True for each in bases], dtype=bool)
    ramp = np.asarray(
        [0.0 if base is None else decision.ramp for (_, decision), base in zip(rows, bases, strict=True)], dtype=np.float64
    )
    own = np.maximum(p - (1.0 - ramp) * based, 0.0) / (np.where(ramp > 0.0, ramp, np.inf) * p)
    own = np.where(ramp == 1.0, 1.0, own)
    return Updates(timestamp, decided, arm, p, reward, available, among, alike, u, defaulted, least, ramp, own)


class Bucket:
    """The updates of a period, and the sums of all updates until its end."""

    __slots__ = ("arms", "index", "played", "reward", "rows", "sums", "totals")

    def __init__(self, index: int, arms: int) -> None:
        self.index, self.rows, self.reward = index, 0, 0.0
        self.played = np.zeros(arms)
        self.totals: Any = None  # rows, reward, uniform; then by arm: available, weighted rewards
        self.sums: Any = None  # bets of the policy and of uniform play
        self.arms: Any = None  # bets of each arm

    def join(self, later: "Bucket") -> None:
        """Merge the next bucket into this one."""
        self.rows, self.reward = self.rows + later.rows, self.reward + later.reward
        self.played = _wider(self.played, len(later.played)) + later.played
        self.totals, self.sums, self.arms = later.totals, later.sums, later.arms


class UpdateTally:
    """Sums over a policy's updates. `scale` is the range of rewards; None if it is inferred from the data: there are no intervals then."""

    def __init__(self, scale: tuple[float, float] | None) -> None:
        self.scale, self.rows, self.reward, self.defaulted = scale, 0, 0.0, 0
        self.own = np.zeros((2, len(STAKES)))  # bets on r, 1 - r
        self.uniform = np.zeros((2, len(STAKES)))
        self.gain = np.zeros((2, len(STAKES)))  # policy less uniform
        self.chosen = ChosenSums()
        self.shared = self.uneven = 0  # updates in which the baseline had a share; updates not drawn uniformly
        self.weights = np.zeros(3)  # of uniform play: sum of w r, of w, of w squared
        self.arms = ArmSums(0)
        self.even = np.zeros((2, len(STAKES)))  # bets on the draws' u being too large, too small
        self.width, self.buckets = FINEST, list[Bucket]()
        self.recent: deque[tuple[int, int, int, float]] = deque(maxlen=RECENT)  # learned, decided, arm, reward
        self.least = 1.0

    def add(self, updates: Updates) -> None:
        """Add the next updates."""
        n = len(updates.at)
        if not n:
            return
        self.arms.widen(updates.available.shape[1])
        first = self.buckets[0].index * self.width if self.buckets else int(updates.at[0])
        while int(updates.at[-1]) // self.width - first // self.width >= MOST_BUCKETS:
            self._coarser()
        stamps = updates.at // self.width
        cuts = np.flatnonzero(np.diff(stamps)) + 1
        for part in np.split(np.arange(n), cuts):
            self._add(Updates(*(column[part[0] : part[-1] + 1] for column in updates)))
        rows = zip(
            updates.at[-RECENT:], updates.decided[-RECENT:], updates.arm[-RECENT:], updates.reward[-RECENT:], strict=True
        )
        self.recent.extend((int(timestamp), int(decided), int(arm), float(reward)) for timestamp, decided, arm, reward in rows)

    def _add(self, updates: Updates) -> None:
        r = self._scaled(updates.reward)
        guess = (self.reward + 0.5 + np.cumsum(r) - r) / (self.rows + 1.0 + np.arange(len(r)))
        among = updates.among
        w, most = 1.0 / (among * updates.p), 1.0 / np.maximum(among * updates.least, TINY)
        self.rows, self.reward = self.rows + len(r), self.reward + float(r.sum())
        self.defaulted += int(updates.defaulted.sum())
        self.least = min(self.least, float(updates.p.min()))
        self.weights += (float((w * r).sum()), float(w.sum()), float((w * w).sum()))
        if self.scale is not None:
            self.own += [bets(r).sum(axis=0), bets(1.0 - r).sum(axis=0)]
            for end, (term, about) in enumerate(((r, guess), (1.0 - r, 1.0 - guess))):
                self.uniform[end] += controlled(w * term, w, about, most).sum(axis=0)
                self.gain[end] += controlled(term + w * (1.0 - term), w, 1.0 - about, most).sum(axis=0)
        self.shared += int((updates.ramp < 1.0).sum())
        self.uneven += int((np.abs(w - 1.0) > CLOSE).sum())
        self.chosen.add(updates, r, guess if self.scale is not None else None)
        self.even += [bets(updates.u).sum(axis=0), bets(1.0 - updates.u).sum(axis=0)]
        self.arms.add(updates, r, guess if self.scale is not None else None)
        self._bucket(updates, r)

    def _scaled(self, reward: Floats) -> Floats:
        if self.scale is None:
            return reward
        low, high = self.scale
        return np.asarray((np.clip(reward, low, high) - low) / (high - low))

    def _bucket(self, updates: Updates, r: Floats) -> None:
        index = int(updates.at[0]) // self.width
        if not self.buckets or self.buckets[-1].index < index:
            self.buckets.append(Bucket(index, self.arms.count))
        last = self.buckets[-1]
        last.rows, last.reward = last.rows + len(r), last.reward + float(r.sum())
        last.played = _wider(last.played, self.arms.count) + np.bincount(updates.arm, minlength=self.arms.count)
        last.totals = (self.rows, self.reward, self.weights[0], self.arms.available.copy(), self.arms.weighted.copy())
        last.sums = np.stack([self.own, self.uniform])
        last.arms = self.arms.bets.copy() if self.arms.count <= FEW_ARMS else None
        while self.buckets[-1].index - self.buckets[0].index >= MOST_BUCKETS:
            self._coarser()

    def _coarser(self) -> None:
        """Double the width of the buckets."""
        self.width *= 2
        joined: list[Bucket] = []
        for each in self.buckets:
            each.index //= 2
            if joined and joined[-1].index == each.index:
                joined[-1].join(each)
            else:
                joined.append(each)
        self.buckets = joined

    # -- figures --------------------------------------------------------------------------------------------------------

    def unscaled(self, value: Any) -> Any:
        """Convert from [0, 1] to the units of rewards."""
        return value if self.scale is None else self.scale[0] + (self.scale[1] - self.scale[0]) * value

    def policy(self) -> Band:
        """Return the actual reward per decision: of the policy with its floor, and of the baseline with its share."""
        return self._band(self.reward / self.rows if self.rows else None, self.own, self.rows)

    def estimated(self) -> Band:
        """Return the estimated reward of the policy alone, over the updates in which it had a share."""
        chosen = self.chosen
        return self._band(chosen.weighted / chosen.rows if chosen.rows else None, chosen.bets, chosen.rows)

    def ahead_of_estimated(self) -> Band:
        """Return the actual reward in the updates of `estimated`, less that estimate."""
        chosen = self.chosen
        value = (chosen.reward - chosen.weighted) / chosen.rows if chosen.rows else None
        return self._difference(value, chosen.gain, chosen.rows)

    def even_play(self) -> Band:
        """Return the estimated reward of uniform play over the available arms."""
        return self._band(self.weights[0] / self.rows if self.rows else None, self.uniform, self.rows)

    def _band(self, value: float | None, sums: Floats, rows: int, error: float = ERROR) -> Band:
        if value is None:
            return NOTHING
        if self.scale is None:
            return Band(float(value), None, None)
        low, high = intervals(sums[None], np.array([float(rows)]), error)
        return Band(*(float(self.unscaled(each)) for each in (value, low[0], high[0])))

    def ahead(self) -> Band:
        """Return the policy's reward less that of uniform play."""
        value = (self.reward - self.weights[0]) / self.rows if self.rows else None
        return self._difference(value, self.gain, self.rows)

    def _difference(self, value: float | None, sums: Floats, rows: int, error: float = ERROR) -> Band:
        if value is None:
            return NOTHING
        if self.scale is None:
            return Band(float(value), None, None)
        low, high = differences(sums[None], np.array([float(rows)]), error)
        width = self.scale[1] - self.scale[0]
        return Band(*(float(width * each) for each in (value, low[0], high[0])))

    def arm(self, index: int, error: float = ERROR) -> Band:
        """Return the estimated reward of always playing an arm while it is available. `error` bounds the probability of an error, ever."""
        arms = self.arms
        if index >= arms.count or not arms.available[index]:
            return NOTHING
        return self._band(arms.weighted[index] / arms.available[index], arms.bets[index], int(arms.available[index]), error)

    def ahead_of(self, index: int, error: float = ERROR) -> Band:
        """Return the policy's reward less that of always playing an arm, while the arm is available."""
        arms = self.arms
        if index >= arms.count or not arms.available[index]:
            return NOTHING
        value = (arms.reward_available[index] - arms.weighted[index]) / arms.available[index]
        return self._difference(value, arms.gain[index], int(arms.available[index]), error)

    def raw(self, index: int) -> float | None:
        """Return the average reward of an arm when it was played. Arms are played in different contexts: do not compare these averages."""
        arms = self.arms
        if index >= arms.count or not arms.played[index]:
            return None
        return float(self.unscaled(arms.rewards[index] / arms.played[index]))

    def best(self, indices: Iterable[int]) -> int | None:
        """Return the arm with the largest estimated reward among those that were ever played."""
        some = [index for index in indices if index < self.arms.count and self.arms.played[index]]
        return max(some, key=lambda index: self.arms.weighted[index] / self.arms.available[index], default=None)

    def support(self) -> tuple[float, bool]:
        """Return the average weight of uniform play, and True if it is about 1. It is less if some arms are never played."""
        if not self.rows:
            return 1.0, True
        mean = self.weights[1] / self.rows
        error = np.sqrt(max(self.weights[2] / self.rows - mean * mean, 0.0) / self.rows)
        return float(mean), bool(abs(mean - 1.0) <= max(0.02, 4.5 * error))

    def suspicion(self) -> dict[str, float]:
        """Return log e-values against: no arm was played more often than logged; the draws are not too large; not too small."""
        if not self.rows:
            return {"arms": 0.0, "large": 0.0, "small": 0.0}
        rows, half = np.array([float(self.rows)]), np.full(2, 0.5)
        large, small = evidence(self.even, np.repeat(rows, 2), half)
        among = self.arms.available > 0
        each = honesty(self.arms.honest[among], self.arms.available[among])
        top = float(each.max())
        together = top + float(np.log(np.exp(each - top).mean()))  # an average of e-values is one
        return {"arms": together, "large": float(large), "small": float(small)}

    def rate(self, now: int, span: int = 60_000_000) -> float:
        """Return the recent number of updates per second."""
        return sum(1 for timestamp, *_ in self.recent if timestamp > now - span) / (span / 1e6)


class ChosenSums:
    """Sums over the updates in which the policy had a share: their number, their rewards, their rewards weighted as the policy alone would have
    played; bets on the weighted rewards, and on the actual rewards less these. Weights are at most 1 over the policy's share."""

    def __init__(self) -> None:
        self.rows, self.reward, self.weighted = 0, 0.0, 0.0
        self.bets, self.gain = np.zeros((2, len(STAKES))), np.zeros((2, len(STAKES)))

    def add(self, updates: Updates, r: Floats, guess: Floats | None) -> None:
        """Add updates, with their scaled rewards `r` and a prediction of each; None if there are no intervals."""
        some = updates.ramp > 0.0
        w, r, most = updates.own[some], r[some], 1.0 / updates.ramp[some]
        self.rows, self.reward, self.weighted = (
            self.rows + len(r),
            self.reward + float(r.sum()),
            self.weighted + float((w * r).sum()),
        )
        if guess is None or not len(r):
            return
        for end, (term, about) in enumerate(((r, guess[some]), (1.0 - r, 1.0 - guess[some]))):
            self.bets[end] += controlled(w * term, w, about, most).sum(axis=0)
            self.gain[end] += controlled(term + w * (1.0 - term), w, 1.0 - about, most).sum(axis=0)


class ArmSums:
    """Sums by arm over the updates in which it was available: `bets` on w r and w (1 - r), `gain` on the policy less the arm, `honest` on w.

    If arms come with each request these are sums by group. Always playing a group then means to draw one of its available arms uniformly.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        stakes = len(STAKES)
        self.available, self.played, self.rewards, self.weighted, self.reward_available = (np.zeros(count) for _ in range(5))
        self.bets, self.gain = np.zeros((count, 2, stakes)), np.zeros((count, 2, stakes))
        self.honest = np.zeros((count, stakes))

    def widen(self, count: int) -> None:
        """Extend the sums to `count` arms."""
        if count > self.count:
            for name, value in vars(self).items():
                if name != "count":
                    setattr(self, name, _wider(value, count))
            self.count = count

    def add(self, updates: Updates, r: Floats, guess: Floats | None) -> None:
        """Add updates, with their scaled rewards `r` and a prediction of each; None if there are no intervals."""
        w, count = 1.0 / (updates.alike * updates.p), self.count
        mask = np.zeros((len(r), count))
        mask[:, : updates.available.shape[1]] = updates.available
        self.available += mask.sum(axis=0)
        self.reward_available += r @ mask
        self.played += np.bincount(updates.arm, minlength=count)
        self.rewards += np.bincount(updates.arm, r, minlength=count)
        self.weighted += np.bincount(updates.arm, w * r, minlength=count)
        np.add.at(self.honest, updates.arm, bets(w))
        if guess is None:
            return
        most, none = 1.0 / np.maximum(updates.least, TINY), np.zeros(len(r))  # an arm that was not played has weight 0
        for end, (term, about) in enumerate(((r, guess), (1.0 - r, 1.0 - guess))):
            for sums, played, other, c in (
                (self.bets, w * term, none, about),
                (self.gain, term + w * (1.0 - term), term, 1.0 - about),
            ):
                idle = controlled(other, none, c, most)
                sums[:, end] += mask.T @ idle
                np.add.at(sums[:, end], updates.arm, controlled(played, w, c, most) - idle)


def _wider(values: Floats, count: int) -> Floats:
    """Append zeros for later arms."""
    return np.concatenate([values, np.zeros((count - len(values), *values.shape[1:]))]) if count > len(values) else values
