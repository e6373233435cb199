"""`Baseline`: a shift, set beforehand, that is subtracted from losses near 1, e.g. those of clicks (a control variate)."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from ..types import Floats

FROM = 256  # rounds after which the average loss first sets the shift
NEAR = 0.6  # lowest average loss with a shift: below, uniform play costs more than the shift gains
FURTHEST = 0.5  # the largest shift: a larger one costs more uniform play than it gains
MOST = 0.05  # the largest share of decisions that is uniform for the shift


class Baseline(NamedTuple):
    """The baseline shift b: every loss is learned less b, the same for all mappings, so that it favours no mapping.

    If losses are near 1, an arm that is not played seems good because it does not lose, and the mixture tries it again and again. The estimate
    of l - b is about 0 unless an arm is better or worse than usual. The share M * rate * b of all decisions is uniform, so that no estimate
    of l - b is below -1 / rate, which the proof needs (`docs/proofs.md`). b is 2 * (average loss) - 1, at most .5, if that average is .6
    or more, otherwise 0; it is set when the rounds double. Logged decisions, and those made before b was set, are learned with b = 0.
    """

    shift: float = 0.0
    """b, in units of the width of `loss_range`."""
    since: int = 0
    """The number of rounds learned when it was set."""
    ever: bool = False
    """Whether any loss was learned with a shift."""
    share: float = 0.0
    """The share of decisions that is uniform for the shift."""

    def at(self, shift: float, *, step: float, rounds: int) -> Self:
        """Return the baseline with this shift, or as much of it as the largest uniform share allows; `step` is arms * rate."""
        share = min(MOST, step * shift)
        shift = min(shift, share / step)
        return type(self)(shift, self.since if shift == self.shift else rounds, self.ever or shift > 0.0, share)

    def by_average(self, lost: float, *, step: float, rounds: int) -> Self:
        """Return the baseline set by the average loss so far; `lost` is the total loss."""
        if rounds < FROM:
            return self
        average = lost / rounds
        return self.at(min(FURTHEST, 2.0 * average - 1.0) if average >= NEAR else 0.0, step=step, rounds=rounds)

    def refreshed(self, *, step: float, rounds: int) -> Self:
        """Return the baseline for another number of arms or rate. Decisions made at this round may have had the old or the new one."""
        after = self.at(self.shift, step=step, rounds=rounds)
        return after if after.shift == self.shift else after._replace(since=rounds + 1)

    def to_array(self) -> list[float]:
        """Return the numbers that a file holds."""
        return [self.shift, self.since, self.ever]

    @classmethod
    def from_array(cls, stored: Floats | Any) -> Self:
        """Restore the baseline that `to_array` wrote; ValueError if it does not fit."""
        if stored.shape != (3,) or not (0.0 <= stored[0] <= 1.0 and 0.0 <= stored[1] <= 2.0**53 and stored[2] in (0.0, 1.0)):
            raise ValueError("its baseline must be a shift in [0, 1], a number of rounds, and 0 or 1")
        return cls(float(stored[0]), int(stored[1]), bool(stored[2]))
