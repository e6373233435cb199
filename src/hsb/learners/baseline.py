"""Losses near 1, as of clicks, are learned as what they are more or less than a baseline that was set beforehand."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from ..types import Floats

FROM = 256  # rounds after which there is an average to set the baseline by
NEAR = 0.6  # an average loss from which there is a baseline: below, the gain is less than what uniform play costs
FURTHEST = 0.5  # the largest baseline: more costs more uniform play than it gains
MOST = 0.05  # the largest share of decisions that is played uniformly for it


class Baseline(NamedTuple):
    """A shift b that is taken off every loss, the same for all mappings, so that it favours none.

    If losses are near 1, an arm that is not played looks good for not losing, and the mixture would try it again and again; of l - b an
    arm's estimate is about 0 unless it is better or worse than usual. The share M * rate * b of all decisions is uniform, so that no estimate
    of l - b is below -1 / rate, which the proof needs (`docs/proofs.md`). b is 2 * (average loss) - 1, at most .5, if that average is .6
    or more, otherwise 0; it is set when the rounds double. Logged decisions, and those made before b was set, are learned with b = 0.
    """

    shift: float = 0.0
    """b, a part of the width of `loss_range`."""
    since: int = 0
    """Rounds that had been learned when it was set."""
    ever: bool = False
    """Was any loss learned with a shift?"""
    share: float = 0.0
    """The share of decisions that is uniform for it."""

    def at(self, shift: float, *, step: float, rounds: int) -> Self:
        """With this shift, or as much of it as the most uniform play allows; `step` is arms * rate."""
        share = min(MOST, step * shift)
        shift = min(shift, share / step)
        return type(self)(shift, self.since if shift == self.shift else rounds, self.ever or shift > 0.0, share)

    def by_average(self, lost: float, *, step: float, rounds: int) -> Self:
        """Set by the average loss so far."""
        if rounds < FROM:
            return self
        average = lost / rounds
        return self.at(min(FURTHEST, 2.0 * average - 1.0) if average >= NEAR else 0.0, step=step, rounds=rounds)

    def refreshed(self, *, step: float, rounds: int) -> Self:
        """For another number of arms or rate. Decisions made after as many rounds as now may have had either."""
        after = self.at(self.shift, step=step, rounds=rounds)
        return after if after.shift == self.shift else after._replace(since=rounds + 1)

    def to_array(self) -> list[float]:
        """What a file holds of it."""
        return [self.shift, self.since, self.ever]

    @classmethod
    def from_array(cls, given: Floats | Any) -> Self:
        """What `to_array` wrote; ValueError if it is not."""
        if given.shape != (3,) or not (0.0 <= given[0] <= 1.0 and 0.0 <= given[1] <= 2.0**53 and given[2] in (0.0, 1.0)):
            raise ValueError("its baseline must be a shift in [0, 1], and since when")
        return cls(float(given[0]), int(given[1]), bool(given[2]))
