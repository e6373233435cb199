"""Losses near 1, as of clicks: learned as what they are more or less than a number set beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..policy.decision import Decision
from ..types import Arrays, Masks
from .hsb import HSB

FROM = 256  # rounds after which there is an average to lean on
NEAR = 0.6  # an average loss from which it does: below, the gain is less than what uniform play costs
FURTHEST = 0.5  # what is taken off a loss at most: more costs more uniform play than it gains
MOST = 0.05  # share of decisions that is played uniformly for it, at most


class Leaning(HSB, listed=False):
    """A mixture that takes a shift b off every loss, the same for all mappings, so that it favours none.

    Where losses are near 1, an arm that is not played looks good for not losing, and the mixture would try it again and again; of l - b an
    arm's estimate is about 0 unless it is better or worse than usual. The share M * rate * b of all decisions is uniform, so that no estimate
    of l - b is below -1 / rate, which the proof needs (`docs/proofs.md`). b is 2 * (average loss) - 1, at most .5, where that average is .6
    or more, otherwise 0; it is set when the rounds double. Logged decisions, and those made before b was set, are learned with b = 0.
    """

    _shift, _shifted = 0.0, False
    _since = 0  # rounds that had been learned when it was set
    _plain = False  # is the next round learned without it?

    @property
    def shift(self) -> float:
        """What is taken off every loss now: in [0, 1], a part of the width of `loss_range`."""
        return self._shift

    def _turn(self, rounds: int) -> None:
        super()._turn(rounds)
        self._stand(self._shift, rounds)

    def _refresh(self) -> None:
        before = self._shift
        super()._refresh()
        if self._shift != before:
            self._since = self.rounds + 1  # decisions made after as many rounds as now may have had either

    def _lean(self, rounds: int) -> None:
        """After `rounds` rounds: set the shift by the average loss so far."""
        if not self.implicit and rounds >= FROM:
            average = float(self.state.sums[0]) / rounds
            self._stand(min(FURTHEST, 2.0 * average - 1.0) if average >= NEAR else 0.0, rounds)

    def _stand(self, shift: float, rounds: int) -> None:
        """With this shift, or as much of it as the most uniform play allows."""
        step = len(self.arms) * self.rate
        even = min(MOST, step * shift)
        shift = min(shift, even / step)
        since = self._since if shift == self._shift else rounds
        shifted, even = self._shifted or shift > 0.0, max(self.floor, even)
        vars(self).update(_shift=shift, _shifted=shifted, _since=since, even=even)  # one step
        self.state.set_shift(shift)
        self.state.set_floor(self.even)

    def _lean_for(self, decision: Decision, own: bool) -> None:
        """The next `_update` is for this decision: with the shift only if it was made with it."""
        self._plain = not own or decision.rounds < self._since

    def _forget(self) -> None:
        super()._forget()
        self._plain = False

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        plain, self._plain = self._plain, False
        if plain:
            self.state.set_shift(0.0)
        super()._update(offered, index, loss, propensity)
        self.state.set_shift(self._shift)

    def to_arrays(self) -> Arrays:
        return {**super().to_arrays(), "leaning": np.array([self._shift, self._since, self._shifted])}

    def _take_leaning(self, leaning: Any) -> None:
        """What `to_arrays` gave, in a policy that has its state already."""
        if leaning.shape != (3,) or not (
            0.0 <= leaning[0] <= 1.0 and 0.0 <= leaning[1] <= 2.0**53 and leaning[2] in (0.0, 1.0)
        ):
            raise ValueError("what it leans on must be a shift in [0, 1], and since when")
        self._shift, self._since, self._shifted = float(leaning[0]), int(leaning[1]), bool(leaning[2])
