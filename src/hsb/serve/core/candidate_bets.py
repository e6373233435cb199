"""How much more a candidate would have earned than what played: bets on it, which hold however often somebody looks.

In a decision with probabilities p the candidate would have played with q: its own probabilities, mixed with the same floor and the same
share of the baseline. With w = q / p of the arm that was played and a reward r, scaled to [0, 1],

    (1 - r) + w r    has mean 1 + (candidate - what played),  and    r + w (1 - r)    has mean 1 - (candidate - what played)

given everything before. Neither is negative, so `hsb.serve.page.bands` bets on both: it needs the product of 1 + k X for every stake k. Here
these products are kept, as a number in [1/2, 1) and a power of two: they are made of + and * alone, so they are the same on every machine.

What this needs: an update comes when it comes whatever arm was played and whatever its reward is (else a default reward, so that updates wait
for the deadline), and what was learned between a decision and its update does not depend on the arm. Where the candidate plays an arm that was
never offered a probability, w has a mean below 1: both means are smaller then, so the interval is too wide and never wrong for it.

With g = what r is about to be, guessed from the updates before, g (w - 1) is taken off the first term and (1 - g) (w - 1) off the second, for
stakes with which 1 + k X stays above 1/2 whatever is played: where there is a floor f and n arms, w is at most 1 + (1 - f) n / f.
"""

from typing import Any, NamedTuple

import numpy as np

from ...evaluate.off_policy.betting import STAKES
from ...types import Floats
from .rows import DecisionRow
from .sampling import places_of

LARGEST = 1e300  # a weight beyond it counts as this: the terms get smaller, so that no end of an interval is wrong for it


class Conditions(NamedTuple):
    """Under which decisions were made: the range of rewards (None where it is found on the way), and the floor at each version."""

    scale: tuple[float, float] | None
    floors: "FloorHistory"


class FloorHistory:
    """The floor that there was at each version."""

    def __init__(self, since: int = 0, floor: float = 0.0) -> None:
        self.since, self.floors = [since], [floor]

    def note(self, seq: int, floor: float) -> None:
        """From row `seq` on it is this."""
        if floor != self.floors[-1]:
            self.since.append(seq)
            self.floors.append(floor)

    def at(self, version: int) -> float | None:
        """The floor by which decisions of a version were made; None where nobody wrote it down.

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
        """As JSON has it."""
        return {"since": self.since, "floors": self.floors}

    @classmethod
    def of(cls, given: dict[str, Any]) -> "FloorHistory":
        """From `plain`."""
        found = cls()
        found.since, found.floors = [int(seq) for seq in given["since"]], [float(floor) for floor in given["floors"]]
        return found


class CandidateBets:
    """Bets on a candidate, over the updates of decisions that were made at row `since` of the stream or later.

    `since` is when the candidate was added, or when what plays began to play: earlier updates may be why the candidate was chosen, and an
    earlier policy is not what it would replace.

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

    def take(self, row: DecisionRow, reward: float, own: float, conditions: Conditions) -> None:
        """Take in an update; `own` is the candidate's probability of the arm, before it has learned the update."""
        floor = conditions.floors.at(row.version)
        if row.version < self.since or floor is None:
            return
        among = len(places_of(row.available))
        mixed = own if floor == 0.0 else (1.0 - floor) * own + floor / among
        if row.ramp < 1.0:
            mixed = row.ramp * mixed + (1.0 - row.ramp) * (row.arm == row.baseline)
        if conditions.scale is not None:
            low, high = conditions.scale
            reward = (min(max(reward, low), high) - low) / (high - low)
        most = 1.0 + (1.0 - floor) * among / floor if floor > 0.0 else LARGEST
        self.add(min(mixed / row.propensity, LARGEST), reward, most, bets=conditions.scale is not None)

    def add(self, w: float, r: float, most: float = LARGEST, *, bets: bool = True) -> None:
        """Take in a weight and a scaled reward; `most` is the largest weight that there could have been."""
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
        """The sums of log(1 + k X): of the first term, of the second; a column for each stake."""
        return np.asarray(np.log(self.bases) + np.log(2.0) * self.powers)

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        found = {"since": self.since, "updates": self.updates, "value": self.value, "reward": self.reward}
        return found | {"bases": self.bases.tolist(), "powers": self.powers.tolist()}

    @classmethod
    def of(cls, given: dict[str, Any]) -> "CandidateBets":
        """From `plain`. ValueError where it is something else.

        >>> bets = CandidateBets(3)
        >>> bets.add(2.0, 1.0)
        >>> CandidateBets.of(bets.plain()).plain() == bets.plain()
        True
        """
        found = cls(int(given["since"]))
        found.updates, found.value, found.reward = int(given["updates"]), float(given["value"]), float(given["reward"])
        bases, powers = np.array(given["bases"], dtype=np.float64), np.array(given["powers"], dtype=np.int64)
        if bases.shape != found.bases.shape or powers.shape != found.powers.shape:
            raise ValueError(f"bets are of {len(STAKES)} stakes; these are {bases.shape}.")
        found.bases, found.powers = bases, powers
        return found
