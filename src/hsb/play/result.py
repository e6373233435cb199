"""What a replay gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from ..checks import is_number
from ..data_frame import data_frame
from ..errors import InputError, quoted
from ..plotting.html_table import html_table

TINY = 1e-9


@dataclass(frozen=True)
class Replay:
    """What came of a replay, as `hsb.replay` returns it. Averages are over the events in which the policy chose the arm that was shown.

    They are of the policy as it was while it learned, not as it is in the end.

    >>> Replay(rounds=1000, matched=250, total=10.0, squares=10.0, logged=30.0, rejected=0, skipped=0, low=0.0, high=1.0)
    Replay(rounds=1000, matched=250, average_reward=0.0400, interval=(0.0219, 0.0721))
    """

    rounds: int
    """How many events were seen."""
    matched: int
    """In how many of them the policy chose the arm that was shown, and learned."""
    total: float
    """Sum of the rewards of the matched events."""
    squares: float
    """Sum of the squares of these rewards."""
    logged: float
    """Sum of the rewards of all events seen: what the log's own policy earned."""
    rejected: int
    """How many events were passed over to make a log that was not drawn uniformly look as if it were."""
    skipped: int
    """How many lines of the log could not be read."""
    low: float
    """The least that a reward may be, by the policy's `reward_range`; where it finds that on the way, as it was in the end."""
    high: float
    """The most that a reward may be, likewise. Rewards that the policy clips count as clipped."""
    warnings: tuple[str, ...] = ()
    """Why the log says little of the policy, and what to do instead."""

    @property
    def clicks(self) -> float:
        """Sum of the rewards: clicks, where a click is 1."""
        return self.total

    @property
    def average_reward(self) -> float:
        """Mean reward of the matched events; NaN where there are none."""
        return self.total / self.matched if self.matched else math.nan

    @property
    def method(self) -> str:
        """How `interval` is computed: "Wilson" where every reward was an end of its range (clicks), else "empirical Bernstein"."""
        reached = self.squares - (self.low + self.high) * self.total + self.matched * self.low * self.high
        rounding = TINY * max(1.0, self.matched) * (self.high - self.low) ** 2
        return "Wilson" if abs(reached) <= rounding else "empirical Bernstein"

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval (low, high) of the average reward: Wilson's for clicks, else empirical Bernstein (Maurer and Pontil 2009, Theorem 4)."""
        return self.between(0.95)

    def between(self, confidence: float) -> tuple[float, float]:
        """The pair (low, high): `interval` for another `confidence`, between 0 and 1. The whole range of rewards where fewer than two match.

        >>> replay = Replay(rounds=1000, matched=250, total=10.0, squares=10.0, logged=30.0, rejected=0, skipped=0, low=0.0, high=1.0)
        >>> replay.between(0.8)[0] > replay.interval[0] == replay.between(0.95)[0]
        True
        """
        if not is_number(confidence) or not 0.0 < confidence < 1.0:
            raise InputError(f"confidence must lie between 0 and 1, e.g. 0.95; given {quoted(confidence)}.")
        n, width = self.matched, self.high - self.low
        if n < 2 or not width > 0.0:
            return self.low, self.high
        mean = (self.average_reward - self.low) / width
        if self.method == "Wilson":
            z = NormalDist().inv_cdf(0.5 + confidence / 2)
            middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
            half = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        else:
            middle = mean
            spread = max(0.0, self.squares - self.total * self.total / n) / (n - 1) / width**2
            log = math.log(4 / round(1.0 - confidence, 15))
            half = math.sqrt(2 * spread * log / n) + 7 * log / (3 * (n - 1))
        return self.low + width * max(0.0, middle - half), self.low + width * min(1.0, middle + half)

    @property
    def logged_average(self) -> float:
        """Mean reward of all events seen: what the log's own policy earned; NaN where there are none."""
        return self.logged / self.rounds if self.rounds else math.nan

    def to_frame(self) -> Any:
        """A pandas data frame with one row: the average reward, its interval and how it was computed, and what the log's own policy earned."""
        names = ("rounds", "matched", "average_reward", "low", "high", "method", "logged_average", "rejected", "skipped")
        found = {"low": self.interval[0], "high": self.interval[1]}
        return data_frame([{name: found[name] if name in found else getattr(self, name) for name in names}])

    def plot(self, ax: Any = None) -> Any:
        """Draw the average reward with its interval, and a line where the log's own policy is; return the axes.

        `ax`: matplotlib's axes to draw into; None makes new ones.
        """
        from ..plotting.values import Value, plot_values

        values = [Value("policy, learning", self.average_reward, *self.interval)]
        below = f"95% interval ({self.method})\n{self.matched:,} of {self.rounds:,} events matched"
        return plot_values(values, ax, logged=self.logged_average, title="Average reward", below=below)

    def _repr_html_(self) -> str:
        low, high = self.interval
        rows = [
            ("average reward", f"{self.average_reward:.4f}" if self.matched else "unknown"),
            ("95% interval", f"{low:.4f} to {high:.4f} ({self.method})"),
            ("the log itself", f"{self.logged_average:.4f}" if self.rounds else "unknown"),
            ("events matched", f"{self.matched:,} of {self.rounds:,}"),
            *[("events passed over", f"{self.rejected:,}")] * bool(self.rejected),
            *[("lines skipped", f"{self.skipped:,}")] * bool(self.skipped),
        ]
        return html_table((), rows, notes=[f"Warning: {warning}" for warning in self.warnings])

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Replay(rounds={self.rounds}, matched={self.matched}, average_reward={self.average_reward:.4f}, "
            f"interval=({low:.4f}, {high:.4f}))"
        )
