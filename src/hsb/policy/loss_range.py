"""`LossScale`: the range of losses, declared or inferred, and the scaling of losses and rewards to losses in [0, 1]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..checks import is_number, is_real, loss_bounds
from ..errors import InputError, quoted
from ..types import Bounds, Floats, Outside, Range

NO_FEEDBACK = "If no reward came, do not call learn; learn_many(..., missing='skip') skips such rows."
UNIT: Bounds = (0.0, 1.0)  # the default; being this very object shows that no range was given
LARGEST = 1e150  # the largest loss with "auto", so that no width overflows a double


class LossScale:
    """A policy's range of losses, and the number of values clipped to it.

    A declared range [low, high] is that of losses and of rewards: a reward r counts as the loss low + high - r. With `outside="clip"` a value
    beyond it is moved to the nearest end and counted in `clipped`.

    The range "auto" begins with the first loss. If a loss lies outside, the range widens on that side: to the loss, and at least to twice its
    width. So it changes at most 2 + log2(last width / first width above 0) times. A loss is scaled by the range that includes it; losses
    learned before keep their scale. While all losses are equal, they count as 1/2. A range that is not known yet cannot be mirrored, so with
    "auto" a reward r is the loss -r.

    >>> scale = LossScale("auto")
    >>> [scale.take(loss, is_reward=False) for loss in (3.0, 5.0, 4.0, 6.0)], scale.low, scale.high
    ([0.5, 1.0, 0.5, 0.75], 3.0, 7.0)
    """

    __slots__ = ("auto", "clipped", "direct", "high", "low", "outside", "plain")

    def __init__(self, loss_range: Range = UNIT, reward_range: Range | None = None, outside: Outside = "error") -> None:
        if reward_range is not None and loss_range is not UNIT:
            raise InputError(
                f"Give loss_range= or reward_range=, not both: they declare the same range; given {quoted(loss_range)} and "
                f"{quoted(reward_range)}."
            )
        if not isinstance(outside, str) or outside not in ("error", "clip"):
            raise InputError(
                f"outside must be 'error' or 'clip', what to do with a loss outside its range; given {quoted(outside)}."
            )
        name, declared = ("loss_range", loss_range) if reward_range is None else ("reward_range", reward_range)
        self.auto = isinstance(declared, str) and declared == "auto"
        if self.auto and outside == "clip":
            raise InputError(
                f"outside='clip' needs a range to clip to, e.g. {name}=(0, 100); nothing lies outside {name}='auto'."
            )
        self.low, self.high = (math.nan, math.nan) if self.auto else loss_bounds(declared, name, more=", or 'auto'")
        self.outside: Outside = outside
        self.clipped = 0
        self.plain = (self.low, self.high) == UNIT  # nothing to scale
        self.direct = self.plain and outside == "error"  # a checked loss is learned unchanged

    @property
    def is_known(self) -> bool:
        """Whether there is a range; with "auto", there is one after the first loss."""
        return self.low <= self.high

    @property
    def rewards(self) -> Bounds:
        """The range of rewards."""
        return (-self.high, -self.low) if self.auto else (self.low, self.high)

    @property
    def units(self) -> str:
        """The unit of bounds and certificates."""
        if self.auto:
            width = f"{self.high - self.low:g} now" if self.is_known else "not known yet"
            return f"the width that the range of losses had in each round, {width}"
        return "1" if self.plain else f"the width of loss_range, {self.high - self.low:g}"

    def check_feedback(self, loss: Any, reward: Any) -> tuple[float, bool]:
        """Check that exactly one of `loss` and `reward` is given and can be learned; return it and whether it is a reward. Changes nothing."""
        is_reward = loss is None
        value = reward if is_reward else loss
        if is_reward == (reward is None):
            arguments = f"neither. {NO_FEEDBACK}" if is_reward else "both."
            raise InputError(f"learn needs loss= or reward=, exactly one; given {arguments}")
        if type(value) is float and not self.auto and self.low <= value <= self.high:  # the commonest case
            return value, is_reward
        if isinstance(value, bool | np.bool_):  # a click is often a boolean
            value = float(value)
        if not (is_real(value) if self.outside == "clip" else is_number(value)) or not self._accepts(value):
            name = "reward" if is_reward else "loss"
            fix = self._fix(name) if is_real(value) else ""  # no range accepts a text
            raise InputError(f"{name} must be a number{self._needed()}; given {quoted(value)}.{fix}")
        return (value if self.outside == "clip" else float(value)), is_reward  # a value to clip may be too large for a float

    def _accepts(self, value: Any) -> Any:
        """Return whether a number can be learned; for an array, a boolean for each."""
        if self.auto:
            return abs(value) <= LARGEST
        return value == value if self.outside == "clip" else (self.low <= value) & (value <= self.high)

    def _needed(self) -> str:
        if self.outside == "clip":
            return ""
        return f" of size at most {LARGEST:g}" if self.auto else f" in [{self.low}, {self.high}]"

    def _fix(self, name: str = "loss") -> str:
        if self.auto or self.outside == "clip":
            return ""
        return f" Declare another range with {name}_range=(low, high), or outside='clip' to clip and count."

    def take(self, value: float, is_reward: bool) -> float:
        """Widen the range for a checked value, or count that it is clipped; return it as a loss in [0, 1]."""
        if self.auto:
            loss = -value if is_reward else value
            self.low, self.high = self._range_with(loss)
            return self._to_unit(loss)
        clipped = float(min(max(value, self.low), self.high))
        self.clipped += clipped != value
        return (self.high - clipped if is_reward else clipped - self.low) / (self.high - self.low)

    def scale(self, value: float, is_reward: bool) -> tuple[float, LossScale | None]:
        """Return a checked value as a loss in [0, 1], and the `LossScale` after it is learned, None if unchanged. Changes nothing.

        If `direct`, a loss needs no scaling, and the caller may leave this out.
        """
        if self.auto or self.outside == "clip":
            after = self.copy()
            return after.take(value, is_reward), after
        return self.take(value, is_reward), None

    def _to_unit(self, loss: float) -> float:
        return (loss - self.low) / (self.high - self.low) if self.low < self.high else 0.5

    def _range_with(self, loss: float) -> Bounds:
        """Return the range, widened if need be to include a loss."""
        low, high = self.low, self.high
        if low <= loss <= high:
            return low, high
        if not self.is_known:
            return loss, loss
        twice = 2.0 * (high - low)
        return (low, max(loss, low + twice)) if loss > high else (min(loss, high - twice), high)

    # -- tables --------------------------------------------------------------------------------------------------------

    def check_table(self, table: Floats, name: str) -> None:
        """Raise InputError if a table has a value that cannot be learned; `name` is a format string for its row and column."""
        if table.size and not (self._accepts(table.min()) and self._accepts(table.max())):  # true of a NaN too
            index = np.argwhere(~self._accepts(table))[0].tolist()
            declared = not self.auto and self.outside == "error"
            wrong = f", outside [{self.low}, {self.high}]" if declared else f"; it must be a number{self._needed()}"
            raise InputError(f"{name.format(', '.join(map(str, index)))} is {table[tuple(index)]}{wrong}.{self._fix()}")

    def scale_rows(self, table: Floats, is_reward: bool) -> tuple[int, Floats]:
        """Return how many rows of a table can be played before the range may change, and their entries as losses in [0, 1].

        Only the last of these rows may have entries outside the range, each scaled as it will be if it is the one learned. After playing the
        rows, pass the entries learned to `take_rows`, then continue with the rest of the table.
        """
        if not self.auto:
            clipped = np.clip(table, self.low, self.high) if self.outside == "clip" else table
            if self.plain:
                return len(table), 1.0 - clipped if is_reward else clipped
            return len(table), (self.high - clipped if is_reward else clipped - self.low) / (self.high - self.low)
        losses = -table if is_reward else table
        reached = (losses.min(axis=1) >= self.low) & (losses.max(axis=1) <= self.high)
        inside = len(table) if reached.all() else int(np.argmin(reached))
        n, width = min(inside + 1, len(table)), self.high - self.low
        scaled = np.full((n, table.shape[1]), 0.5)
        if width > 0.0:
            scaled[:inside] = (losses[:inside] - self.low) / width
        for m, loss in enumerate(losses[inside].tolist() if inside < n else ()):
            scaled[inside, m] = self.copy().take(loss, is_reward=False)
        return n, scaled

    def take_rows(self, values: Floats, is_reward: bool) -> None:
        """Widen the range for the values learned of the rows of `scale_rows`, or count those that are clipped."""
        if not self.auto:
            if self.outside == "clip":
                self.clipped += int(np.count_nonzero((values < self.low) | (values > self.high)))
        elif len(values):
            for value in (values.min(), values.max()):  # at most one lies outside
                self.take(float(value), is_reward)

    def clip(self, values: Floats) -> Floats:
        """Return the values, with `outside="clip"` clipped to the range."""
        return np.clip(values, self.low, self.high) if self.outside == "clip" else values

    def losses_of(self, rewards: Floats) -> Floats:
        """Convert rewards to losses, not scaled."""
        return -rewards if self.auto else self.low + self.high - rewards

    # -- copies and files ----------------------------------------------------------------------------------------------

    def copy(self) -> LossScale:
        """Return an independent copy."""
        copied = LossScale.__new__(LossScale)
        for name in self.__slots__:
            setattr(copied, name, getattr(self, name))
        return copied

    def repr_settings(self) -> dict[str, Any]:
        """Return the settings that `repr` shows: those that are not the default."""
        return ({"loss_range": "auto"} if self.auto else {}) | ({"outside": self.outside} if self.outside != "error" else {})

    def plain_data(self) -> dict[str, Any]:
        """Return the entries of a file's header, without defaults."""
        header: dict[str, Any] = {"loss_range": "auto" if self.auto else [self.low, self.high]}
        header |= {"outside": self.outside} if self.outside != "error" else {}
        header |= {"range_found": [self.low, self.high]} if self.auto and self.is_known else {}
        return header | ({"clipped_losses": self.clipped} if self.clipped else {})

    def resume(self, header: dict[str, Any]) -> None:
        """Restore the state from a file's header; ValueError if it does not fit."""
        clipped, inferred = header.get("clipped_losses", 0), header.get("range_found")
        if type(clipped) is not int or clipped < 0 or (clipped and self.outside == "error"):
            raise ValueError("its count of clipped losses does not fit")
        self.clipped = clipped
        if inferred is not None:
            if not self.auto or len(inferred) != 2 or not all(is_number(end) and abs(end) <= 8.0 * LARGEST for end in inferred):
                raise ValueError("its range_found does not fit")
            self.low, self.high = float(inferred[0]), float(inferred[1])
            if not self.is_known:
                raise ValueError("its range_found has no width")
