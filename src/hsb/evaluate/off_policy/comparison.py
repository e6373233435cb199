"""The result of a comparison of candidates on a log: by name, as a table, a data frame, a figure, a page."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...checks import path_of
from ...data_frame import data_frame
from ...errors import InputError, quoted
from ...play.result import Replay
from .differences import Difference
from .result import NAMES, OffPolicy

HOW = {"evaluated": "as it is", "replayed": "learns, replayed"}
KINDS = {
    "bootstrap": "",
    "bounds": " [bounds]",
    "safe": " [safe]",
    "Wilson": "",
    "empirical Bernstein": "",
    "equal": "",
    "apart": " [not paired]",
}
EXPLAINED = {
    "[safe]": "the log does not support a bootstrap: an interval that holds for any log with correct propensities",
    "[bounds]": "bounds from clipped weights",
    "[not paired]": "from the intervals of the two candidates, each at half the error",
}
HEAD = ("candidate", "reward", "interval", "against", "p", "verdict", "best")


@dataclass(frozen=True)
class OffPolicyCandidate:
    """One candidate of an `OffPolicyComparison`: its value with an interval, its difference to the baseline, and its share of resamples.

    >>> import hsb, hsb.logs
    >>> table = {"x": [0.1, 0.9] * 500, "arm": ["a", "a", "b", "b"] * 250, "p": [0.5] * 1000, "click": [1, 0, 0, 0] * 250}
    >>> log = hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="click")
    >>> result = hsb.evaluate.compare_off_policy({"uniform": None, "always a": "a"}, log, estimator="snips")
    >>> result["always a"].value, result["always a"].difference.verdict, result["uniform"].difference
    (0.5, 'better', None)
    """

    name: str
    """The candidate's name."""
    how: Literal["evaluated", "replayed"]
    """Fixed candidates are evaluated as they are; those that learn are replayed."""
    value: float
    """Average reward; for a replayed candidate, over the events in which it chose the arm shown."""
    low: float
    """The lower end of the interval of `value`."""
    high: float
    """The upper end."""
    kind: str
    """The kind of the interval (low, high): `Estimate.kind`, or `Replay.method` for a replayed candidate."""
    difference: Difference | None
    """The difference of its value to the baseline's; None for the baseline itself."""
    best: float | None
    """The share of resamples of the log's events in which its value is the highest. None for all candidates unless each of them has an
    interval of kind "bootstrap". It measures how clearly the log separates the candidates, if propensities are right. It is not the
    probability that a candidate is truly the best, and does not predict other periods."""
    result: OffPolicy | Replay
    """The full result of `off_policy` or `replay`."""

    @property
    def interval(self) -> tuple[float, float]:
        """The pair (low, high)."""
        return self.low, self.high

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON; a number that is not finite is None."""
        numbers = {"value": plain(self.value), "interval": [plain(self.low), plain(self.high)], "kind": self.kind}
        data: dict[str, Any] = {"how": self.how, **numbers, "difference": None, "best_in_resamples": self.best}
        if (gap := self.difference) is not None:
            interval, joint = ([plain(end) for end in ends] for ends in (gap.interval, gap.joint))
            about = {"kind": gap.kind, "p": gap.p, "rows": gap.rows, "verdict": gap.verdict}
            data["difference"] = {"value": plain(gap.value), "interval": interval, "joint": joint, **about}
        return data

    def row(self) -> dict[str, Any]:
        """Return the row of `to_frame` and `csv`, a flat dict."""
        row = {
            "candidate": self.name,
            "how": self.how,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "kind": self.kind,
        }
        gap = self.difference
        names = ("value", "low", "high", "kind", "p", "rows", "verdict")
        row |= {"difference" + f"_{name}" * (name != "value"): None if gap is None else getattr(gap, name) for name in names}
        low, high = (None, None) if gap is None else gap.joint
        return row | {"joint_low": low, "joint_high": high, "best_in_resamples": self.best}


@dataclass(frozen=True, eq=False)
class OffPolicyComparison(Mapping[str, OffPolicyCandidate]):
    """The result of `hsb.evaluate.compare_off_policy`: candidates by name, e.g. `result["new"].difference`. `print(result)` shows the table.

    >>> import hsb, hsb.logs
    >>> clicked = [1, 0, 0, 0, 1, 0, 1, 0] * 250
    >>> table = {"x": [0.1, 0.9] * 1000, "arm": ["a", "a", "b", "b"] * 500, "p": [0.5] * 2000, "click": clicked}
    >>> log = hsb.logs.open(table, context="x", arm="arm", propensity="p", reward="click")
    >>> print(hsb.evaluate.compare_off_policy({"uniform": None, "always a": "a"}, log))
    candidate  reward  95% interval      against uniform               p      verdict  best in resamples
    always a   0.5000  0.4785 to 0.5225  +0.1250 (+0.1126 to +0.1375)  0.001  better   100%
    uniform    0.3750  0.3551 to 0.3941  baseline                                      0%
    By the doubly robust estimator; the log's own policy earned 0.3750.
    Best in resamples: the share of resamples of these events in which the value is the highest, not the probability of being the best.
    """

    candidates: Mapping[str, OffPolicyCandidate]
    """The candidates, by name."""
    baseline: str
    """The name of the candidate that the others are compared with."""
    estimator: str
    """The estimator of the values: "dr", "switch", "snips", "ips" or "clipped"."""
    confidence: float
    """The confidence of every interval."""
    logged: float
    """The average reward of the log's own policy."""
    warnings: tuple[str, ...]
    """Questions that the log cannot answer, and what to do."""

    def __getitem__(self, name: str) -> OffPolicyCandidate:
        return self.candidates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def sorted(self) -> list[OffPolicyCandidate]:
        """A list of the candidates, the one with the highest value first."""
        return sorted(
            self.candidates.values(), key=lambda each: -math.inf if math.isnan(each.value) else each.value, reverse=True
        )

    def table(self) -> str:
        """Return the text that `print` shows: candidates as aligned lines, the highest value first, and the meaning of marks."""
        rows = [self.head(), *(self.cells(each) for each in self.sorted)]
        shown = [k for k in range(len(HEAD)) if any(row[k] for row in rows[1:])]
        widths = {k: max(len(row[k]) for row in rows) for k in shown}
        lines = ["  ".join(row[k].ljust(widths[k]) for k in shown).rstrip() for row in rows]
        return "\n".join([*lines, *self.notes()])

    def head(self) -> tuple[str, ...]:
        """Return the titles of the table's columns."""
        percent = f"{100 * self.confidence:g}%"
        return ("candidate", "reward", f"{percent} interval", f"against {self.baseline}", "p", "verdict", "best in resamples")

    def cells(self, each: OffPolicyCandidate) -> tuple[str, ...]:
        """Return the texts of the table's line for the candidate `each`, one for each column of `head`."""
        gap, how = each.difference, "" if each.how == "evaluated" else " (learns)"
        interval = f"{number(each.low)} to {number(each.high)}{KINDS[each.kind]}"
        against = "baseline" if each.name == self.baseline else ""
        if gap is not None:
            against = f"{signed(gap.value)} ({signed(gap.joint[0])} to {signed(gap.joint[1])}){KINDS[gap.kind]}"
        p = "" if gap is None or gap.p is None else f"{gap.p:.3f}" if gap.p >= 0.001 else "<0.001"
        best = "" if each.best is None else f"{100 * each.best:.0f}%"
        return (each.name + how, number(each.value), interval, against, p, "" if gap is None else gap.verdict, best)

    def notes(self) -> list[str]:
        """Return sentences to read with the table, the warnings last."""
        notes = [f"By the {NAMES[self.estimator]} estimator; the log's own policy earned {number(self.logged)}."]
        if sum(each.difference is not None for each in self.values()) > 1:
            notes.append("Intervals of differences and p values are corrected for the number of candidates.")
        if any(each.best is not None for each in self.values()):
            notes.append(
                "Best in resamples: the share of resamples of these events in which the value is the highest, "
                "not the probability of being the best."
            )
        cells = " ".join(" ".join(self.cells(each)) for each in self.values())
        notes += [f"{mark}: {meaning}." for mark, meaning in EXPLAINED.items() if mark in cells]
        if any(each.how == "replayed" for each in self.values()):
            notes.append("(learns): replayed; it learns from the events in which it chose the arm shown. Others do not learn.")
        return [*notes, *(f"Warning: {warning}" for warning in self.warnings)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        about = {
            "baseline": self.baseline,
            "estimator": self.estimator,
            "confidence": self.confidence,
            "logged": plain(self.logged),
        }
        return {**about, "candidates": {name: each.to_dict() for name, each in self.items()}, "warnings": list(self.warnings)}

    def to_frame(self) -> Any:
        """Return a pandas data frame, a row for each candidate. Raises `InputError` if pandas is not installed."""
        return data_frame([each.row() for each in self.values()]).set_index("candidate")

    def csv(self) -> str:
        """Return the rows of `to_frame` as comma-separated values, text; does not need pandas."""
        rows = [each.row() for each in self.values()]
        lines = [",".join(rows[0]), *(",".join(_cell(value) for value in row.values()) for row in rows)]
        return "\n".join(lines) + "\n"

    def to_csv(self, path: str | Path) -> None:
        """Write `csv` to a file, whole or not at all."""
        _write(path, self.csv().encode())

    def html(self) -> str:
        """Return a web page as text, without external files: the figure, the table, the warnings."""
        from .report import page

        return page(self)

    def to_html(self, path: str | Path) -> None:
        """Write `html` to a file, whole or not at all."""
        _write(path, self.html().encode())

    def plot(self, axes: Any = None) -> Any:
        """Draw values with intervals and, beside them, differences to the baseline; return the two axes.

        `axes`: two of matplotlib's axes to draw into; None makes new ones.
        """
        from ...plotting.comparisons import plot_candidates

        return plot_candidates(self, axes)

    def png(self) -> bytes:
        """Return the figure as the bytes of a PNG file. Needs no screen."""
        from ...plotting.comparisons import candidates_picture

        return candidates_picture(self, "png")

    def to_png(self, path: str | Path) -> None:
        """Write `png` to a file, whole or not at all."""
        _write(path, self.png())

    def _repr_html_(self) -> str:
        from .report import tables

        return tables(self)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"OffPolicyComparison({', '.join(self.candidates)}; baseline {self.baseline})"


def number(value: float) -> str:
    """Format a reward.

    >>> number(0.12345), number(12345.6), number(float("nan"))
    ('0.1235', '1.235e+04', 'unknown')
    """
    if math.isnan(value):
        return "unknown"
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:.4g}"


def signed(value: float) -> str:
    """Format a difference.

    >>> signed(0.01), signed(0.0), signed(-1e-9)
    ('+0.0100', '0', '-0.0000')
    """
    if value == 0.0 or math.isnan(value):
        return "0" if value == 0.0 else "unknown"
    return f"{value:+.4f}" if abs(value) < 1000 else f"{value:+.4g}"


def plain(value: float) -> float | None:
    """Return a finite number, or None, for JSON."""
    return value if math.isfinite(value) else None


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)


def _write(path: Any, content: bytes) -> None:
    from ...files.atomic import write_atomically

    target = path_of("path", path)
    if not target.parent.is_dir():
        raise InputError(f"There is no folder {target.parent} to write {quoted(target.name)} to. Make it first.")
    write_atomically(target, content)
