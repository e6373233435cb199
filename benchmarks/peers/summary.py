"""What the results say: means with intervals, and who is better than HSB's default on the same rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hsb.evaluate.intervals import Interval, mean_interval, paired_interval

from .base import Algorithm, Library
from .jobs.losses import CHOSEN

BEST = CHOSEN
OURS = ("hsb", "HSB")
OUR_ROW = "default, raw"


class Loss(NamedTuple):
    """An average loss over seeds; how it compares with HSB's default on the same seeds: -1 lower, 0 no difference seen, 1 higher.

    In a world that reacts to its player everybody plays in a world of their own: there the regret is compared, not the loss.
    """

    interval: Interval
    seeds: int
    against: int | None
    regret: Interval | None = None

    @property
    def compared(self) -> Interval:
        """What rivals are compared by."""
        return self.interval if self.regret is None else self.regret

    def __str__(self) -> str:
        half = (self.interval.high - self.interval.low) / 2
        return f"{self.interval.mean:.4f}" + (f" ± {half:.4f}" if self.seeds > 1 else " (one run)")


@dataclass(frozen=True)
class Row:
    """All that was measured of one algorithm."""

    name: str
    library: Library
    algorithm: Algorithm
    version: str
    losses: dict[str, Any] = field(default_factory=dict)
    speed: dict[str, Any] = field(default_factory=dict)
    trouble: dict[str, Any] = field(default_factory=dict)
    size: dict[str, Any] = field(default_factory=dict)
    long: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Library and algorithm."""
        return self.name, self.algorithm.name

    @property
    def full_name(self) -> str:
        """As tables say it."""
        return f"{self.library.name}: {self.algorithm.name}"

    def configuration(self, problem: str) -> dict[str, Any] | None:
        """What was chosen for a problem."""
        found = self.losses.get(problem, {}).get("chosen")
        return found if isinstance(found, dict) else None

    def runs(self, problem: str, row: str, rounds: int) -> list[dict[str, Any]]:
        """Games of one row. The best of the grid may be a default."""
        result = self.losses.get(problem, {})
        if row == BEST:
            row = (result.get("chosen") or {}).get("row", CHOSEN)
        return [run for run in result.get("runs", []) if run["row"] == row and run["rounds"] == rounds]

    def us(self, encoding: str | None = None) -> float | None:
        """Microseconds a round, one at a time: at the default with this encoding, or with what was chosen for VI-A."""
        return self._speed("one", encoding)

    def batch_us(self, encoding: str | None = None) -> float | None:
        """Microseconds a round in the library's own batches, or in whole tables."""
        return self._speed("bulk", encoding) or self._speed("batch", encoding)

    def _speed(self, what: str, encoding: str | None) -> float | None:
        chosen = self.configuration("VI-A")
        wanted = (encoding, self.algorithm.default) if encoding or chosen is None else (chosen["encoding"], chosen["settings"])
        for found in self.speed.values():
            if (found.get("encoding"), found.get("settings")) == wanted:
                value = found.get(what)
                return None if value is None else float(value)
        return None


@dataclass(frozen=True)
class Summary:
    """Every row, and the questions that a table asks."""

    rows: list[Row]
    problems: list[str]
    lengths: list[int]

    def loss(self, row: Row, problem: str, which: str, rounds: int) -> Loss | str | None:
        """The average loss of a row; an error in words; None where there was no time."""
        runs = row.runs(problem, which, rounds)
        error = row.losses.get(problem, {}).get("error") or next((run["error"] for run in runs if "error" in run), None)
        good = {run["seed"]: run for run in runs if "loss" in run}
        if error:
            return str(error)
        if not good:
            return None
        regrets = [run["regret"] for run in good.values() if run.get("regret") is not None]  # all of them, or none
        against = None if (row.key, which) == (OURS, OUR_ROW) else self._against(good, problem, rounds)
        return Loss(
            mean_interval([run["loss"] for run in good.values()]),
            len(good),
            against,
            mean_interval(regrets) if regrets else None,
        )

    def ours(self, problem: str, rounds: int) -> Loss | None:
        """HSB at its default."""
        found = next((row for row in self.rows if row.key == OURS), None)
        loss = self.loss(found, problem, OUR_ROW, rounds) if found else None
        return loss if isinstance(loss, Loss) else None

    def better(self, problem: str, rounds: int) -> list[tuple[Row, str, Loss]]:
        """Rows of others that lost less (or regret less) than HSB's default, by more than probability explains; the least first."""
        found = []
        for row in self.rows:
            lower = [one for one in self._all(row, problem, rounds) if one[2].against == -1]
            if lower and row.key != OURS:
                found.append(min(lower, key=lambda one: one[2].compared.mean))
        return sorted(found, key=lambda one: one[2].compared.mean)

    def least(self, problem: str, rounds: int) -> tuple[Row, str, Loss] | None:
        """The rival, not of ours, with the least loss or regret, at a default or at the best of its grid."""
        found = [one for row in self.rows if row.name != "hsb" for one in self._all(row, problem, rounds)]
        return min(found, key=lambda one: one[2].compared.mean) if found else None

    def _all(self, row: Row, problem: str, rounds: int) -> list[tuple[Row, str, Loss]]:
        whiches = (BEST, *(f"default, {encoding}" for encoding in row.algorithm.encodings))
        losses = [(row, which, self.loss(row, problem, which, rounds)) for which in whiches]
        return [(row, which, loss) for row, which, loss in losses if isinstance(loss, Loss)]

    def _against(self, good: dict[int, Any], problem: str, rounds: int) -> int | None:
        ours = next((row for row in self.rows if row.key == OURS), None)
        if ours is None:
            return None
        theirs = {run["seed"]: _compared(run) for run in ours.runs(problem, OUR_ROW, rounds) if "loss" in run}
        differences = [_compared(run) - theirs[seed] for seed, run in good.items() if seed in theirs]
        if len(differences) < 2:
            return None
        interval = paired_interval(differences)
        return -1 if interval.high < 0 else 1 if interval.low > 0 else 0


def _compared(run: dict[str, Any]) -> float:
    """The regret of a game in a world that reacts to its player, the loss of any other."""
    return float(run["loss"] if run.get("regret") is None else run["regret"])
