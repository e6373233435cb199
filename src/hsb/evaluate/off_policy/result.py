"""The result of off-policy evaluation: values, two intervals each, and warnings."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from ...data_frame import data_frame
from ...plotting.html_table import html_table

NAMES = {
    "ips": "inverse propensity",
    "snips": "self-normalised",
    "direct": "direct method",
    "dr": "doubly robust",
    "switch": "switch doubly robust",
    "clipped": "clipped propensity",
}
Kind = Literal["bootstrap", "bounds", "safe"]
BEST = ("dr", "switch", "snips", "ips", "clipped", "direct")


@dataclass(frozen=True)
class Estimate:
    """An estimate of a policy's average reward, with 95% intervals.

    >>> Estimate(0.05, 0.04, 0.06, (0.02, 0.08))
    0.0500 (0.0400 to 0.0600; surely 0.0200 to 0.0800)
    """

    value: float
    """The average reward of an event."""
    low: float
    """The lower end of the 95% interval."""
    high: float
    """The upper end."""
    safe: tuple[float, float]
    """An interval for the same average that holds for any log, adaptive or not, of any length, if its propensities are right
    (`evaluate/off_policy/betting.py` has the proof). It needs no model and is the same for every estimator. Usually wider."""
    kind: Kind = "bootstrap"
    """The kind of (low, high). "bootstrap": studentised, a little wider if weights average below 1; used if the log supports it. "bounds": from
    clipped weights, for switch and clipped if something was clipped or the log does not support a bootstrap. "safe": the interval `safe`, for
    the other estimators if the log does not support a bootstrap."""

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high), of the kind `kind`."""
        return self.low, self.high

    @property
    def bernstein(self) -> tuple[float, float]:
        """`safe`, by its former name."""
        return self.safe

    def reaching(self, other: Self) -> Self:
        """Return the estimate with an interval that also covers that of `other`, to allow for a model's bias, which its spread hides."""
        return replace(self, low=min(self.low, other.low), high=max(self.high, other.high))

    def __repr__(self) -> str:
        a, b = self.safe
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f}; surely {a:.4f} to {b:.4f})"


@dataclass(frozen=True)
class OffPolicy:
    """Estimates of a policy's average reward: `result["dr"]` is the `Estimate` of one estimator. `print(result)` shows all.

    `value` and `interval` are those of the first estimator that was requested, in the order dr, switch, snips, ips, clipped, direct. The weight
    of an event is the policy's probability of the arm shown divided by its propensity.

    >>> import hsb, hsb.logs
    >>> table = {"x": [0.1, 0.9] * 500, "arm": ["a", "a", "b", "b"] * 250, "p": [0.5] * 1000, "click": [1, 0, 0, 0] * 250}
    >>> log = hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="click")
    >>> result = hsb.evaluate.off_policy(hsb.Uniform(arms=["a", "b"]), log, estimators=["ips"])
    >>> result.rows, result.best, result.value, result.logged
    (1000, 'ips', 0.25, 0.25)
    """

    rows: int
    """The number of events used."""
    estimates: dict[str, Estimate]
    """The estimates, by the estimator's name."""
    effective_rows: float
    """Effective sample size, (sum of weights)^2 / sum of their squares: that many events of the policy itself would be as informative."""
    largest_weight: float
    """The largest weight of an event."""
    average_weight: float
    """The average weight: near 1 if propensities are right and every arm that the policy plays was shown."""
    clip: float | None
    """The largest weight that clipped and switch allowed; None if neither was requested."""
    logged: float
    """Average reward of all events: what the log's own policy earned."""
    warnings: tuple[str, ...]
    """Questions that the log cannot answer, and the kind of interval used instead."""
    largest_share: float = 0.0
    """The largest weight, as a share of all weight."""
    missing: float = 0.0
    """The share of the policy's decisions on arms that the log's policy almost never played there: events that would be too heavy."""

    def __getitem__(self, estimator: str) -> Estimate:
        return self.estimates[estimator]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    @property
    def best(self) -> str:
        """The name of the estimator that `value` and `interval` are of."""
        return next(name for name in BEST if name in self.estimates)

    @property
    def value(self) -> float:
        """The policy's average reward, by the estimator `best`."""
        return self.estimates[self.best].value

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of `value`, of the kind `result[result.best].kind`."""
        return self.estimates[self.best].interval

    @property
    def safe(self) -> tuple[float, float]:
        """The safe interval, the same for every estimator."""
        return self.estimates[self.best].safe

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON; a number that is not finite is None."""
        estimates = {name: _figures(each) for name, each in self.estimates.items()}
        best = {"value": _plain(self.value), "interval": list(self.interval), "best": self.best}
        about = ("effective_rows", "largest_weight", "largest_share", "average_weight", "missing", "clip", "logged")
        numbers = {name: getattr(self, name) for name in about}
        return {"rows": self.rows, **best, "estimates": estimates, **numbers, "warnings": list(self.warnings)}

    def to_frame(self) -> Any:
        """Return a pandas data frame, a row for each estimator: its value, its interval and the interval's kind, the safe interval."""
        rows = [(name, each.value, each.low, each.high, each.kind, *each.safe) for name, each in self.estimates.items()]
        return data_frame(rows, ["estimator", "value", "low", "high", "kind", "safe_low", "safe_high"])

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimates with intervals, the safe interval thin, and a line at the reward of the log's own policy; return the axes.

        `ax`: matplotlib's axes to draw into; None makes new ones.
        """
        from ...plotting.values import Value, plot_values

        values = [
            Value(NAMES[name] + _REMARKS[each.kind], each.value, *each.interval, each.safe)
            for name, each in self.estimates.items()
        ]
        below = f"thick: 95% intervals; thin: safe\n{self.rows:,} events, worth {self.effective_rows:,.0f}"
        return plot_values(values, ax, logged=self.logged, title="Average reward", below=below)

    def _repr_html_(self) -> str:
        head = ["estimator", "reward", "95% interval", "safe interval"]
        rows = [
            (
                NAMES[name],
                f"{each.value:.4f}",
                f"{each.low:.4f} to {each.high:.4f}{_REMARKS[each.kind]}",
                "{:.4f} to {:.4f}".format(*each.safe),
            )
            for name, each in self.estimates.items()
        ]
        return html_table(head, [*rows, ("the log itself", f"{self.logged:.4f}", "", "")], notes=self._notes())

    def _notes(self) -> list[str]:
        """Return notes on the estimates, the warnings last."""
        weights = f"largest weight {self.largest_weight:.4g}, {100 * self.largest_share:.3g}% of all; average {self.average_weight:.3f}"
        notes = [f"{self.rows} events, worth {self.effective_rows:.0f}; {weights}"]
        if "direct" in self.estimates and self.estimates["direct"].kind == "bootstrap":
            notes.insert(0, _DIRECT)
        return [*notes, *(f"Warning: {warning}" for warning in self.warnings)]

    def __str__(self) -> str:
        lines = [f"{NAMES[name]:<21} {each!r}{_REMARKS[each.kind]}" for name, each in self.estimates.items()]
        notes = self._notes()
        if notes[0] == _DIRECT:
            lines.append(f"  {notes.pop(0)}")
        lines.append(f"{'the log itself':<21} {self.logged:.4f}")
        return "\n".join([*lines, *notes])


_DIRECT = (
    "(the direct method's interval includes the doubly robust one: its model may be wrong, which its own spread does not show)"
)
_REMARKS: dict[Kind, str] = {"bootstrap": "", "bounds": " [bounds]", "safe": " [safe]"}


def _figures(estimate: Estimate) -> dict[str, Any]:
    ends = {"interval": list(estimate.interval), "kind": estimate.kind, "safe": list(estimate.safe)}
    return {"value": _plain(estimate.value), **ends, "bernstein": list(estimate.safe)}


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
