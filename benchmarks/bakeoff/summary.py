"""What the passes say: means over tables, each rival's best single setting, and wins, ties and losses table by table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .conduct import Found
from .game import Bits, unpacked
from .rivals import LINEAR, OURS, Entry, Rival
from .tables import LARGE, halves, order

Z = 1.96
POINTS = 100  # of a learning curve


class Difference(NamedTuple):
    """The mean difference of two losses over a table, and its standard error."""

    mean: float
    error: float

    @property
    def verdict(self) -> int:
        """-1: the first loses less beyond `Z` standard errors; 1: the second does; 0: neither."""
        return 0 if abs(self.mean) <= Z * self.error or self.mean == 0 else -1 if self.mean < 0 else 1


def difference(first: dict[int, Bits], second: dict[int, Bits]) -> Difference | None:
    """Of two policies on the same permutations of one table; None where they have none in common.

    Each row of the table is met once in every permutation. Its paired differences are averaged over the permutations, and the error is the
    spread of these averages over the rows, divided by the square root of their number.
    """
    common = sorted(first.keys() & second.keys())
    if not common:
        return None
    rows = np.zeros(len(first[common[0]]))
    for permutation in common:
        rows[order(len(rows), permutation)] += first[permutation].astype(float) - second[permutation]
    rows /= len(common)
    return Difference(float(rows.mean()), float(rows.std(ddof=1) / math.sqrt(len(rows))))


@dataclass
class Score:
    """One entry: the losses of its passes, by table and permutation; which tables it was too slow for or failed on."""

    entry: Entry
    losses: dict[str, dict[int, Bits]] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    rounds: int = 0

    def loss(self, table: str) -> float:
        """The average over a table's passes."""
        return float(np.mean([losses.mean() for losses in self.losses[table].values()]))

    def mean(self, tables: list[str]) -> float | None:
        """Over those of the tables that it has."""
        found = [self.loss(table) for table in tables if table in self.losses]
        return float(np.mean(found)) if found else None

    @property
    def us(self) -> float | None:
        """Microseconds a round, over everything that was played to its end."""
        return 1e6 * self.seconds / self.rounds if self.rounds else None

    def curve(self, table: str) -> NDArray[np.float64]:
        """The average loss so far, at each hundredth of the pass."""
        passes = [np.cumsum(losses) / np.arange(1, len(losses) + 1) for losses in self.losses[table].values()]
        at = np.ceil(np.arange(1, POINTS + 1) / POINTS * len(passes[0])).astype(int) - 1
        return np.mean([one[at] for one in passes], axis=0)


@dataclass(frozen=True)
class Line:
    """A rival: at its default, and at the setting that was best over all tables."""

    rival: Rival
    default: Score
    best: Score
    tried: int
    bytes: int | None


@dataclass(frozen=True)
class Summary:
    """Every rival that played, hsb's default first."""

    lines: list[Line]
    sizes: dict[str, int]
    everything: list[str]
    """All tables that there are, also those not played: halves are of these."""

    @property
    def tables(self) -> list[str]:
        """By name."""
        return sorted(self.sizes)

    def groups(self) -> dict[str, list[str]]:
        """The sets of tables that means are given for."""
        choosing, reporting = ([name for name in half if name in self.sizes] for half in halves(self.everything))
        large = [table for table in self.tables if self.sizes[table] >= LARGE]
        small = [table for table in self.tables if self.sizes[table] < LARGE]
        return {"all": self.tables, "choosing half": choosing, "reporting half": reporting, "large": large, "small": small}

    @property
    def ours(self) -> Line:
        """hsb's default."""
        return next(line for line in self.lines if line.rival.name == OURS)

    def against(self, score: Score, tables: list[str] | None = None) -> dict[str, Difference]:
        """hsb's default less another, on the tables and permutations that both have."""
        mine = self.ours.best.losses
        both = [table for table in (self.tables if tables is None else tables) if table in mine and table in score.losses]
        found = {table: difference(mine[table], score.losses[table]) for table in both}
        return {table: one for table, one in found.items() if one is not None}

    def best_of(self, *, linear: bool) -> Line | None:
        """The line with the least mean among Vowpal Wabbit's, or among the linear ones; only those that have all tables, if any has."""
        lines = [
            line for line in self.lines if (line.rival.forms == LINEAR if linear else line.rival.library == "vowpalwabbit")
        ]
        most = max((len(line.best.losses) for line in lines), default=0)
        whole = [line for line in lines if most and len(line.best.losses) == most]
        return min(whole, key=lambda line: line.best.mean(self.tables) or 0.0, default=None)


def tally(differences: dict[str, Difference]) -> tuple[int, int, int]:
    """Wins, ties and losses of the first.

    >>> tally({"a": Difference(-0.1, 0.01), "b": Difference(0.01, 0.01), "c": Difference(0.1, 0.01), "d": Difference(-0.2, 0.1)})
    (2, 1, 1)
    """
    verdicts = [one.verdict for one in differences.values()]
    return verdicts.count(-1), verdicts.count(0), verdicts.count(1)


def summarise(found: Found, everything: list[str]) -> Summary:
    """All that was found, in the order of the rivals."""
    scores: dict[str, Score] = {}
    memory: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for item, result in found.values():
        if item.alone:
            memory[item.entry.rival.name] = result.get("bytes", 0)
            continue
        score = scores.setdefault(item.entry.label, Score(item.entry))
        if "losses" in result:
            score.losses.setdefault(item.table, {})[item.permutation] = unpacked(result["losses"], result["rounds"])
            score.seconds += result["seconds"]
            score.rounds += result["rounds"]
            sizes[item.table] = result["rounds"]
        elif "slow" in result:
            score.slow.add(item.table)
        else:
            score.failed[item.table] = result["error"]
    rivals: dict[str, list[Score]] = {}
    for score in scores.values():
        rivals.setdefault(score.entry.rival.name, []).append(score)
    lines = [_line(ours, memory.get(name)) for name, ours in rivals.items()]
    return Summary(sorted(lines, key=lambda line: line.rival.name != OURS), sizes, everything)


def _line(scores: list[Score], memory: int | None) -> Line:
    """The best single setting: among those with the most tables, the one with the least mean."""
    most = max(len(score.losses) for score in scores)
    whole = [score for score in scores if len(score.losses) == most]
    best = min(whole, key=lambda score: score.mean(list(score.losses)) or 0.0)
    default = next((score for score in scores if score.entry.default), best)
    return Line(scores[0].entry.rival, default, best, len(scores), memory)
