"""A slow, simple reader in plain Python: a list of all registered values, whole columns kept, nothing incremental.

It receives the registered and observed values in order, and computes from scratch what z and cells must be. Numbers, text and flags only, in
dicts; cycles where declared. No limits are reached.
"""

import math
import struct
from itertools import pairwise
from typing import Any

import numpy as np

from naive.leaders import GAMMA, WORD, splitmix64

CLIP = 4.0
CELLS = 31


class NaiveReader:
    def __init__(self, cycles: dict[str, float] | None = None) -> None:
        self.cycles = cycles or {}
        self.kinds: dict[str, str] = {}
        self.missing: list[str] = []
        self.order: list[tuple[str, Any]] = []  # the items with a column: (name, category) and so on
        self.names: list[str] = []
        self.inputs: list[str] = []
        self.observed: list[dict[str, Any]] = []
        self.fitted = 0  # the number of observed rows at the last refit

    def admit(self, context: dict[str, Any]) -> None:
        for name in [*self.names, *(key for key in context if key not in self.names)]:
            if name not in self.names:
                self.names.append(name)
            value = context.get(name)
            if absent(value):
                if name not in self.missing:
                    self.missing.append(name)
                    if name in self.kinds:
                        self.order.append((name, "missing"))
                continue
            if name not in self.kinds:
                self.kinds[name] = "cycle" if name in self.cycles else kind(value)
                self.inputs.append(name)
                if self.kinds[name] == "cycle":
                    self.order += [(name, "sin"), (name, "cos")]
                elif self.kinds[name] != "category":
                    self.order.append((name, "value"))
                if name in self.missing:
                    self.order.append((name, "missing"))
            if self.kinds[name] == "category" and (name, "=" + value) not in self.order:
                self.order.append((name, "=" + value))

    def z(self, context: dict[str, Any]) -> list[float]:
        return [1.0] + [self._column(name, what, context.get(name)) for name, what in self.order]

    def _column(self, name: str, what: str, value: Any) -> float:
        if what == "missing":
            return float(absent(value))
        if absent(value):
            return 0.0
        if what in ("sin", "cos"):
            turn = 2 * math.pi * ((value % self.cycles[name]) / self.cycles[name])
            return math.sin(turn) if what == "sin" else math.cos(turn)
        if what.startswith("="):
            return float(what[1:] == value)
        column = [float(x) for x in self.column(name) if math.isfinite(x)]
        if len(set(column)) < 2:
            return 0.0
        mean = sum(column) / len(column)
        spread = math.sqrt(sum((x - mean) ** 2 for x in column) / len(column))
        return min(max((value - mean) / spread, -CLIP), CLIP)

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.observed[: self.fitted] if not absent(row.get(name))]

    def cells(self, context: dict[str, Any]) -> list[int]:
        results = []
        for name in self.inputs:
            results.append(self._cell(name, context.get(name)))
            if self.kinds[name] == "number":
                results.append(leading_bits(context.get(name)))
        return results

    def _cell(self, name: str, value: Any) -> int:
        if absent(value):
            return 0
        if self.kinds[name] == "category":
            known = [what for who, what in self.order if who == name and what != "missing"]
            return 2 + known.index("=" + value) if "=" + value in known else 1
        if self.kinds[name] == "flag":
            return 31 if value else 1
        if self.kinds[name] == "cycle":
            return 1 + int(31 * ((value % self.cycles[name]) / self.cycles[name])) % 31
        different = sorted(set(self.column(name)))
        assert len(different) <= 31, "too many values for the naive version"
        above = sum(value >= (low + high) / 2 for low, high in pairwise(different))
        return 1 + math.floor(above * 30 / (len(different) - 1) + 0.5) if len(different) > 1 else 1


def leading_bits(value: Any) -> int:
    """Return the first 24 bits of a double, turned so that they ascend with it; 0 if it is missing."""
    if absent(value):
        return 0
    bits = "".join(f"{byte:08b}" for byte in struct.pack(">d", value + 0.0))
    turned = "1" + bits[1:] if bits[0] == "0" else "".join("10"[int(bit)] for bit in bits)
    return int(turned[:24], 2)


def absent(value: Any) -> bool:
    return value is None or value != value


def kind(value: Any) -> str:
    return "flag" if isinstance(value, bool) else "category" if isinstance(value, str) else "number"


class NaiveCounts:
    """The counts that observing raw rows must give: all rows are kept, and counted at the end. Kinds: "number", "category", "tag"."""

    def __init__(self, kinds: list[str], limit: int) -> None:
        self.kinds, self.limit = kinds, limit
        self.rows: list[list[float]] = []

    def observe(self, raw: list[float]) -> None:
        self.rows.append([*raw, *[math.nan] * (len(self.kinds) - len(raw))])

    def unseen(self) -> int:
        return sum(x < 0 for row in self.rows for x, kind in zip(row, self.kinds, strict=True) if kind == "category")

    def shared(self) -> int:
        least = {"category": self.limit, "tag": 2}
        return sum(x >= least[kind] for row in self.rows for x, kind in zip(row, self.kinds, strict=True) if kind in least)

    def moments(self, s: int) -> tuple[int, float, float]:
        x = [row[s] for row in self.rows if math.isfinite(row[s])]
        mean = math.fsum(x) / len(x) if x else 0.0
        return len(x), mean, math.fsum((v - mean) ** 2 for v in x)

    def sample(self, size: int) -> list[list[float]]:
        """Return the reservoir: the hash of row n gives it an index in 0 .. n; if that is not below `size`, the row is dropped."""
        kept: list[list[float]] = []
        for n, row in enumerate(self.rows):
            if n < size:
                kept.append(row)
                continue
            j = splitmix64(n * GAMMA & WORD) % (n + 1)
            if j < size:
                kept[j] = row
        return kept


def edges(sample):
    """Return the edges of a number's cells: by the different values and their counts."""
    values, counts = np.unique(sample[~np.isnan(sample)], return_counts=True)
    if len(values) <= CELLS:
        with np.errstate(invalid="ignore"):
            middle = 0.5 * values[:-1] + 0.5 * values[1:]
        return np.where((values[:-1] < middle) & (middle <= values[1:]), middle, values[1:])
    cut = []
    left, inside = float(counts.sum()), 0.0
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        share = left / (CELLS - len(cut))
        if inside and inside + count / 2 > share and len(cut) < CELLS - 1:
            cut.append(value)
            left -= inside
            inside = 0.0
        inside += count
    return np.array(cut)
