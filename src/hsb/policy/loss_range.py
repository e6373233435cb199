"""The range that losses lie in: declared, or found on the way. Losses and rewards become losses in [0, 1]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..checks import is_number, is_real, loss_bounds
from ..errors import InputError, quoted
from ..types import Bounds, Floats, Outside, Range

NONE_CAME = "Where no reward came, leave learn out; learn_many(..., missing='skip') leaves such rows out."
UNIT: Bounds = (0.0, 1.0)  # the default, told from a range that was given by being this very object
LARGEST = 1e150  # of a loss where the range is found on the way: no width leaves the range of a double


class LossScale:
    """A policy's range of losses, and what lay outside.

    A declared range [low, high] is that of losses and of rewards: a reward r counts as the loss low + high - r. With `outside="clip"` what lies
    beyond it is moved to its nearest end and counted in `clipped`.

    Where the range is "auto" it begins with the first loss, and where a loss lies outside, it is widened on that side: to the loss, and at
    least to twice its width. So it changes at most 2 + log2(last width / first width above 0) times. A loss is scaled by the range that
    reaches it; what was learned before keeps the scale of its time. While all losses are equal, they count as 1/2. A mirror image of a range
    that is not known yet is not known either, so here a reward r is the loss -r.

    >>> scale = LossScale("auto")
    >>> [scale.take(loss, rewarded=False) for loss in (3.0, 5.0, 4.0, 6.0)], scale.low, scale.high
    ([0.5, 1.0, 0.5, 0.75], 3.0, 7.0)
    """

    __slots__ = ("auto", "clipped", "direct", "high", "low", "outside", "plain")

    def __init__(self, loss_range: Range = UNIT, reward_range: Range | None = None, outside: Outside = "error") -> None:
        if reward_range is not None and loss_range is not UNIT:
            raise InputError(
                f"Give loss_range= or reward_range=, not both: they are the same numbers; given {quoted(loss_range)} and "
                f"{quoted(reward_range)}."
            )
        if not isinstance(outside, str) or outside not in ("error", "clip"):
            raise InputError(
                f"outside must be 'error' or 'clip', what to do with a loss outside its range; given {quoted(outside)}."
            )
        name, given = ("loss_range", loss_range) if reward_range is None else ("reward_range", reward_range)
        self.auto = isinstance(given, str) and given == "auto"
        if self.auto and outside == "clip":
            raise InputError(
                f"outside='clip' needs a range to clip to, e.g. {name}=(0, 100); nothing lies outside {name}='auto'."
            )
        self.low, self.high = (math.nan, math.nan) if self.auto else loss_bounds(given, name, more=", or 'auto'")
        self.outside: Outside = outside
        self.clipped = 0
        self.plain = (self.low, self.high) == UNIT  # nothing to scale
        self.direct = self.plain and outside == "error"  # a loss that is taken is learned as it is

    @property
    def known(self) -> bool:
        """Is there a range? One found on the way begins with the first loss."""
        return self.low <= self.high

    @property
    def rewards(self) -> Bounds:
        """The range in which rewards lie."""
        return (-self.high, -self.low) if self.auto else (self.low, self.high)

    @property
    def units(self) -> str:
        """What bounds and certificates are measured in."""
        if self.auto:
            width = f"{self.high - self.low:g} now" if self.known else "not known yet"
            return f"the width that the range of losses had in each round, {width}"
        return "1" if self.plain else f"the width of loss_range, {self.high - self.low:g}"

    def given(self, loss: Any, reward: Any) -> tuple[float, bool]:
        """A loss or a reward, exactly one of them, checked; and whether it is a reward. Changes nothing."""
        rewarded = loss is None
        value = reward if rewarded else loss
        if rewarded == (reward is None):
            given = f"neither. {NONE_CAME}" if rewarded else "both."
            raise InputError(f"learn needs loss= or reward=, exactly one; given {given}")
        if type(value) is float and not self.auto and self.low <= value <= self.high:  # the commonest case
            return value, rewarded
        if isinstance(value, bool | np.bool_):  # a click is often a boolean
            value = float(value)
        if not (is_real(value) if self.outside == "clip" else is_number(value)) or not self._takes(value):
            name = "reward" if rewarded else "loss"
            fix = self._fix(name) if is_real(value) else ""  # another range would not take a text either
            raise InputError(f"{name} must be a number{self._needed()}; given {quoted(value)}.{fix}")
        return (value if self.outside == "clip" else float(value)), rewarded  # what is clipped may be too large for a float

    def _takes(self, value: Any) -> Any:
        """May a number, or which of many, be learned?"""
        if self.auto:
            return abs(value) <= LARGEST
        return value == value if self.outside == "clip" else (self.low <= value) & (value <= self.high)

    def _needed(self) -> str:
        if self.outside == "clip":
            return ""
        return f" of size {LARGEST:g} at most" if self.auto else f" in [{self.low}, {self.high}]"

    def _fix(self, name: str = "loss") -> str:
        if self.auto or self.outside == "clip":
            return ""
        return f" Declare another range with {name}_range=(low, high), or outside='clip' to clip and count."

    def take(self, value: float, rewarded: bool) -> float:
        """What `given` gave, as a loss in [0, 1]: it is about to be learned."""
        if self.auto:
            loss = -value if rewarded else value
            self.low, self.high = self._reaching(loss)
            return self._share(loss)
        moved = float(min(max(value, self.low), self.high))
        self.clipped += moved != value
        return (self.high - moved if rewarded else moved - self.low) / (self.high - self.low)

    def scaled(self, value: float, rewarded: bool) -> tuple[float, LossScale | None]:
        """What `given` gave, as a loss in [0, 1]; and the range after it is learned, if that changes. Changes nothing.

        If the range is `direct`, a loss is learned as it is, and none need ask.
        """
        if self.auto or self.outside == "clip":
            after = self.copy()
            return after.take(value, rewarded), after
        return self.take(value, rewarded), None

    def _share(self, loss: float) -> float:
        return (loss - self.low) / (self.high - self.low) if self.low < self.high else 0.5

    def _reaching(self, loss: float) -> Bounds:
        """The range that reaches a loss."""
        low, high = self.low, self.high
        if low <= loss <= high:
            return low, high
        if not self.known:
            return loss, loss
        twice = 2.0 * (high - low)
        return (low, max(loss, low + twice)) if loss > high else (min(loss, high - twice), high)

    # -- many at once --------------------------------------------------------------------------------------------------

    def check(self, table: Floats, name: str) -> None:
        """Refuse a table in which something cannot be learned, and say where; `name` is filled in with the place."""
        if table.size and not (self._takes(table.min()) and self._takes(table.max())):  # also where there is a NaN
            place = np.argwhere(~self._takes(table))[0].tolist()
            declared = not self.auto and self.outside == "error"
            wrong = f", outside [{self.low}, {self.high}]" if declared else f"; it must be a number{self._needed()}"
            raise InputError(f"{name.format(', '.join(map(str, place)))} is {table[tuple(place)]}{wrong}.{self._fix()}")

    def ahead(self, table: Floats, rewarded: bool) -> tuple[int, Floats]:
        """How many of the first rows of a table can be played before the range may change, and their entries as losses in [0, 1].

        Only the last of these rows may have entries that the range does not reach, each of them scaled as it will be if it is the one learned.
        Tell `learned` which were, then go on.
        """
        if not self.auto:
            moved = np.clip(table, self.low, self.high) if self.outside == "clip" else table
            if self.plain:
                return len(table), 1.0 - moved if rewarded else moved
            return len(table), (self.high - moved if rewarded else moved - self.low) / (self.high - self.low)
        losses = -table if rewarded else table
        reached = (losses.min(axis=1) >= self.low) & (losses.max(axis=1) <= self.high)
        inside = len(table) if reached.all() else int(np.argmin(reached))
        n, width = min(inside + 1, len(table)), self.high - self.low
        scaled = np.full((n, table.shape[1]), 0.5)
        if width > 0.0:
            scaled[:inside] = (losses[:inside] - self.low) / width
        for m, loss in enumerate(losses[inside].tolist() if inside < n else ()):
            scaled[inside, m] = self.copy().take(loss, rewarded=False)
        return n, scaled

    def learned(self, values: Floats, rewarded: bool) -> None:
        """These entries of the rows that `ahead` gave were learned."""
        if not self.auto:
            if self.outside == "clip":
                self.clipped += int(np.count_nonzero((values < self.low) | (values > self.high)))
        elif len(values):
            for value in (values.min(), values.max()):  # one at most is not reached
                self.take(float(value), rewarded)

    def moved(self, values: Floats) -> Floats:
        """Each value, or the end of the range that it is clipped to."""
        return np.clip(values, self.low, self.high) if self.outside == "clip" else values

    def losses(self, rewards: Floats) -> Floats:
        """What rewards are as losses."""
        return -rewards if self.auto else self.low + self.high - rewards

    # -- copies and files ----------------------------------------------------------------------------------------------

    def copy(self) -> LossScale:
        """An independent one."""
        twin = LossScale.__new__(LossScale)
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin

    def shown(self) -> dict[str, Any]:
        """What `repr` says of it, where it is not the default."""
        return ({"loss_range": "auto"} if self.auto else {}) | ({"outside": self.outside} if self.outside != "error" else {})

    def plain_data(self) -> dict[str, Any]:
        """What a file says of it, absent where it is the default."""
        found: dict[str, Any] = {"loss_range": "auto" if self.auto else [self.low, self.high]}
        found |= {"outside": self.outside} if self.outside != "error" else {}
        found |= {"range_found": [self.low, self.high]} if self.auto and self.known else {}
        return found | ({"clipped_losses": self.clipped} if self.clipped else {})

    def resume(self, header: dict[str, Any]) -> None:
        """Go on from what a file says; ValueError where it cannot be."""
        clipped, found = header.get("clipped_losses", 0), header.get("range_found")
        if type(clipped) is not int or clipped < 0 or (clipped and self.outside == "error"):
            raise ValueError("its count of clipped losses does not fit")
        self.clipped = clipped
        if found is not None:
            if not self.auto or len(found) != 2 or not all(is_number(end) and abs(end) <= 8.0 * LARGEST for end in found):
                raise ValueError("the range found does not fit")
            self.low, self.high = float(found[0]), float(found[1])
            if not self.known:
                raise ValueError("the range found has no width")
