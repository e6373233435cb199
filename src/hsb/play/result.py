"""The result of a replay."""

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
    """The result of `hsb.replay`. Averages are over the events in which the policy chose the arm shown.

    They measure the policy while it learned, not the policy at the end.

    >>> Replay(rounds=1000, matched=250, total=10.0, squares=10.0, logged=30.0, rejected=0, skipped=0, low=0.0, high=1.0)
    Replay(rounds=1000, matched=250, average_reward=0.0400, interval=(0.0219, 0.0721))
    """

    rounds: int
    """The number of events seen."""
    matched: int
    """The number of events in which the policy chose the arm shown, and learned."""
    total: float
    """Sum of the rewards of the matched events."""
    squares: float
    """Sum of the squares of these rewards."""
    logged: float
    """Sum of the rewards of all events seen: what the log's own policy earned."""
    rejected: int
    """The number of events skipped by thinning, which makes a log equivalent to one drawn uniformly."""
    skipped: int
    """The number of lines of the log that could not be used."""
    low: float
    """The lower end of the policy's `reward_range`; if the policy infers the range, as it was at the end."""
    high: float
    """The upper end, likewise. Rewards that the policy clips count as clipped."""
    warnings: tuple[str, ...] = ()
    """Reasons why this replay is weak evidence, and what to do instead."""

    @property
    def clicks(self) -> float:
        """The sum of the rewards: the number of clicks if a click is 1."""
        return self.total

    @property
    def average_reward(self) -> float:
        """Mean reward of the matched events; NaN if no event matched."""
        return self.total / self.matched if self.matched else math.nan

    @property
    def method(self) -> str:
        """The method of `interval`: "Wilson" if every reward was an end of its range (clicks), else "empirical Bernstein"."""
        reached = self.squares - (self.low + self.high) * self.total + self.matched * self.low * self.high
        rounding = TINY * max(1.0, self.matched) * (self.high - self.low) ** 2
        return "Wilson" if abs(reached) <= rounding else "empirical Bernstein"

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval (low, high) of the average reward: Wilson's for clicks, else empirical Bernstein (Maurer and Pontil 2009, Theorem 4)."""
        return self.between(0.95)

    def between(self, confidence: float) -> tuple[float, float]:
        """Return `interval` for another `confidence`, between 0 and 1: (low, high). The whole range of rewards if fewer than two events match.

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
        """Mean reward of all events seen: what the log's own policy earned; NaN without events."""
        return self.logged / self.rounds if self.rounds else math.nan

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row: the average reward, its interval and method, and what the log's own policy earned."""
        names = ("rounds", "matched", "average_reward", "low", "high", "method", "logged_average", "rejected", "skipped")
        ends = {"low": self.interval[0], "high": self.interval[1]}
        return data_frame([{name: ends[name] if name in ends else getattr(self, name) for name in names}])

    def plot(self, ax: Any = None) -> Any:
        """Draw the average reward with its interval, and a line at the average reward of the log's own policy; return the axes.

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
            *[("events skipped", f"{self.rejected:,}")] * bool(self.rejected),
            *[("lines skipped", f"{self.skipped:,}")] * bool(self.skipped),
        ]
        return html_table((), rows, notes=[f"Warning: {warning}" for warning in self.warnings])

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Replay(rounds={self.rounds}, matched={self.matched}, average_reward={self.average_reward:.4f}, "
            f"interval=({low:.4f}, {high:.4f}))"
        )
