"""Bets on how much more a candidate would have earned than the policy that played. They hold however often you look.

Let p be the probabilities of a decision, and q those of the candidate, mixed with the same floor and the same share of the baseline.
With w = q / p of the arm that was played and a reward r, scaled to [0, 1],

    (1 - r) + w r    has mean 1 + (candidate - policy that played),  and    r + w (1 - r)    has mean 1 - (candidate - policy that played)

conditionally on everything before. Neither is negative, so `hsb.serve.page.bands` bets on both, with the product of 1 + k X for each
stake k. This module updates these products, each as a number in [1/2, 1) and a power of two. It uses + and * alone, so they are the
same on every machine.

Assumptions: when an update arrives does not depend on the arm or its reward (otherwise set a default reward, so that updates wait for the
deadline); and what was learned between a decision and its update does not depend on the arm. If the candidate plays an arm that had
probability 0, the mean of w is below 1. Both means are then smaller, so the interval is too wide, but still valid.

Let g be a guess of r from earlier updates. g (w - 1) is subtracted from the first term and (1 - g) (w - 1) from the second, for those
stakes with which 1 + k X stays above 1/2 whatever is played: with a floor f and n arms, w is at most 1 + (1 - f) n / f.
"""

from typing import Any, NamedTuple

import numpy as np

from ...evaluate.off_policy.betting import STAKES
from ...types import Floats
from .requests import available_count
from .rows import DecisionRow

LARGEST = 1e300  # larger weights count as this: terms only get smaller, so every interval stays valid


class Conditions(NamedTuple):
    """Conditions under which decisions were made: the range of rewards (None if it is inferred), and the floor at each version."""

    scale: tuple[float, float] | None
    floors: "FloorHistory"


class FloorHistory:
    """The floor at each version of a policy."""

    def __init__(self, since: int = 0, floor: float = 0.0) -> None:
        self.since, self.floors = [since], [floor]

    def note(self, seq: int, floor: float) -> None:
        """Set the floor from row `seq` on."""
        if floor != self.floors[-1]:
            self.since.append(seq)
            self.floors.append(floor)

    def at(self, version: int) -> float | None:
        """Return the floor of decisions of a version. None if it was not recorded.

        >>> history = FloorHistory(5, 0.1)
        >>> history.note(8, 0.2)
        >>> history.at(4), history.at(7), history.at(8)
        (None, 0.1, 0.2)
        """
        for since, floor in zip(reversed(self.since), reversed(self.floors), strict=True):
            if version >= since:
                return floor
        return None

    def plain(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"since": self.since, "floors": self.floors}

    @classmethod
    def of(cls, data: dict[str, Any]) -> "FloorHistory":
        """Restore it from `plain`."""
        history = cls()
        history.since, history.floors = [int(seq) for seq in data["since"]], [float(floor) for floor in data["floors"]]
        return history


class CandidateBets:
    """Bets on a candidate, over the updates of decisions made at row `since` of the stream or later.

    `since` is the row that added the candidate, or the row at which the present policy began to play. Earlier updates may be the reason why
    the candidate was chosen, and the candidate would not replace an earlier policy.

    >>> bets = CandidateBets(0)
    >>> for k in range(4):
    ...     bets.add(1.5 if k % 2 else 0.5, float(k % 2))
    >>> bets.updates, bets.value, bets.reward
    (4, 3.0, 2.0)
    """

    def __init__(self, since: int) -> None:
        self.since, self.updates = since, 0
        self.value = self.reward = 0.0  # sums of w r and of r, scaled to [0, 1] if there is a scale
        self.bases = np.full((2, len(STAKES)), 0.5)
        self.powers = np.ones((2, len(STAKES)), dtype=np.int64)

    def take(self, row: DecisionRow, reward: float, own: float, conditions: Conditions, *, baseline: bool = False) -> None:
        """Add an update; `own` is the candidate's probability of the arm, before it learns the update, `baseline` whether the arm is it."""
        floor = conditions.floors.at(row.version)
        if row.version < self.since or floor is None:
            return
        among = available_count(row)
        mixed = own if floor == 0.0 else (1.0 - floor) * own + floor / among
        if row.ramp < 1.0:
            mixed = row.ramp * mixed + (1.0 - row.ramp) * baseline
        if conditions.scale is not None:
            low, high = conditions.scale
            reward = (min(max(reward, low), high) - low) / (high - low)
        most = 1.0 + (1.0 - floor) * among / floor if floor > 0.0 else LARGEST
        self.add(min(mixed / row.propensity, LARGEST), reward, most, bets=conditions.scale is not None)

    def add(self, w: float, r: float, most: float = LARGEST, *, bets: bool = True) -> None:
        """Add a weight and a scaled reward; `most` is the largest weight that was possible."""
        guess = (self.reward + 0.5) / (self.updates + 1.0)
        self.updates, self.value, self.reward = self.updates + 1, self.value + w * r, self.reward + r
        if not bets:
            return
        for end, (term, about) in enumerate((((1.0 - r) + w * r, guess), (r + w * (1.0 - r), 1.0 - guess))):
            allowed = STAKES * (about * (most - 1.0)) <= 0.5
            gain = 1.0 + STAKES * (term - np.where(allowed, about * (w - 1.0), 0.0))
            base, power = np.frexp(self.bases[end] * gain)
            self.bases[end] = base
            self.powers[end] += power

    def logarithms(self) -> Floats:
        """Return the sums of log(1 + k X): a row for each of the two terms, a column for each stake."""
        return np.asarray(np.log(self.bases) + np.log(2.0) * self.powers)

    def plain(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        counts = {"since": self.since, "updates": self.updates, "value": self.value, "reward": self.reward}
        return counts | {"bases": self.bases.tolist(), "powers": self.powers.tolist()}

    @classmethod
    def of(cls, data: dict[str, Any]) -> "CandidateBets":
        """Restore bets from `plain`. Raises ValueError if the data is something else.

        >>> bets = CandidateBets(3)
        >>> bets.add(2.0, 1.0)
        >>> CandidateBets.of(bets.plain()).plain() == bets.plain()
        True
        """
        restored = cls(int(data["since"]))
        restored.updates, restored.value, restored.reward = int(data["updates"]), float(data["value"]), float(data["reward"])
        bases, powers = np.array(data["bases"], dtype=np.float64), np.array(data["powers"], dtype=np.int64)
        if bases.shape != restored.bases.shape or powers.shape != restored.powers.shape:
            raise ValueError(f"bets must have {len(STAKES)} stakes; given arrays of shape {bases.shape}.")
        restored.bases, restored.powers = bases, powers
        return restored
