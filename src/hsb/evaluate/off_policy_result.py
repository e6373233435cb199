"""What off-policy evaluation gives: values, two intervals each, and what speaks against them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

NAMES = {
    "ips": "inverse propensity",
    "snips": "self-normalised",
    "direct": "direct method",
    "dr": "doubly robust",
    "switch": "switch doubly robust",
    "clipped": "clipped propensity",
}
BEST = ("dr", "switch", "snips", "ips", "clipped", "direct")


@dataclass(frozen=True)
class Estimate:
    """An average reward, and where it lies with 95% confidence.

    >>> Estimate(0.05, 0.04, 0.06, (0.02, 0.08))
    0.0500 (0.0400 to 0.0600; surely 0.0200 to 0.0800)
    """

    value: float
    low: float
    high: float
    """By the bootstrap, studentised: right for many events. Where no term differs from another, or the
    rewards are worth fewer than five events, that of `bernstein`."""
    bernstein: tuple[float, float]
    """Empirical Bernstein: right for any number of events, if propensities are and none is smaller than the smallest seen. Wider."""

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high), by the bootstrap."""
        return self.low, self.high

    def reaching(self, other: Self) -> Self:
        """The same with intervals that reach to those of the other: how a model's bias, which its spread does not show, comes in."""
        (a, b), (c, d) = self.bernstein, other.bernstein
        return replace(self, low=min(self.low, other.low), high=max(self.high, other.high), bernstein=(min(a, c), max(b, d)))

    def __repr__(self) -> str:
        a, b = self.bernstein
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f}; surely {a:.4f} to {b:.4f})"


@dataclass(frozen=True)
class OffPolicy:
    """What a policy would have earned an event, by several estimators: `result["dr"]`, and so on.

    `value` and `interval` are those of the first that was asked for among dr, switch, snips, ips, clipped and direct. `warnings` say where the
    log cannot answer.
    """

    rows: int
    """Events used."""
    estimates: dict[str, Estimate]
    effective_rows: float
    """Effective sample size, (sum of weights)^2 / sum of their squares: as many events of the policy's own would say as much."""
    largest_weight: float
    average_weight: float
    """Near 1 where propensities are right and every arm that the policy plays was shown."""
    clip: float | None
    """The largest weight that clipped and switch allowed."""
    logged: float
    """Average reward of all events: what the log's own policy earned."""
    warnings: tuple[str, ...]

    def __getitem__(self, estimator: str) -> Estimate:
        return self.estimates[estimator]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    @property
    def best(self) -> str:
        """Which estimator `value` and `interval` are of."""
        return next(name for name in BEST if name in self.estimates)

    @property
    def value(self) -> float:
        """The policy's average reward, by the estimator `best`."""
        return self.estimates[self.best].value

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of `value`, by the bootstrap."""
        return self.estimates[self.best].interval

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what is not a number is None."""
        estimates = {
            name: {"value": _plain(each.value), "interval": list(each.interval), "bernstein": list(each.bernstein)}
            for name, each in self.estimates.items()
        }
        best = {"value": _plain(self.value), "interval": list(self.interval), "best": self.best}
        about = ("effective_rows", "largest_weight", "average_weight", "clip", "logged")
        numbers = {name: getattr(self, name) for name in about}
        return {"rows": self.rows, **best, "estimates": estimates, **numbers, "warnings": list(self.warnings)}

    def __str__(self) -> str:
        lines = [f"{NAMES[name]:<21} {each!r}" for name, each in self.estimates.items()]
        lines.append(f"{'the log itself':<21} {self.logged:.4f}")
        lines.append(f"{self.rows} events, worth {self.effective_rows:.0f}; largest weight {self.largest_weight:.4g}")
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
