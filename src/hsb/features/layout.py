"""The arrays of an encoder: the meaning and statistics of each input, and the design column of each value."""

from copy import copy

import numpy as np

from ..engine.kernels import inputs as at
from ..files.memory_limit import afford
from ..types import Floats, Ints
from .feature import stable

RAW_INPUT = at.INTS + at.FLOATS + at.SAMPLE + at.RECENT + 128  # words of an input: its arrays, its name and its look-up entries


class RawInputLayout:
    """Inputs, and the *columns* of the design matrix. Arrays have spare room; `head` holds the number of inputs for the kernels."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.head: Ints = np.zeros(at.HEAD, dtype=np.int64)
        self.head[at.COLUMNS] = 1
        self.I: Ints = np.zeros((0, at.INTS), dtype=np.int64)
        self.F: Floats = np.zeros((0, at.FLOATS))
        self.where: Ints = np.zeros(0, dtype=np.int64)
        self.reservoir: Floats = np.zeros((0, at.SAMPLE))
        self.recent: Floats = np.zeros((0, at.RECENT))
        self.names: list[list[str]] = [["constant"]]  # the meanings of each column
        self.raw_input_names: list[str] = []
        self.listed = 0  # entries of `where` in use
        self.crowded = 0  # meanings that share a column, since all `width` columns were used

    def copy(self) -> "RawInputLayout":
        """Return an independent copy."""
        other = copy(self)
        for name in ("head", "I", "F", "where", "reservoir", "recent"):
            setattr(other, name, getattr(self, name).copy())
        other.names, other.raw_input_names = [*map(list, self.names)], self.raw_input_names[:]
        return other

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return len(self.raw_input_names)

    @property
    def columns(self) -> int:
        """The number of used columns, at most `width`."""
        return len(self.names)

    def column(self, name: str) -> int:
        """Return a column for a name: a new one, or one by a hash of the name if all are used."""
        column = len(self.names)
        if column < self.width:
            self.names.append([name])
            self.head[at.COLUMNS] = column + 1
            return column
        p = 1 + stable(name) % (self.width - 1)
        self.names[p].append(name)
        self.crowded += 1
        return p

    def raw_input(self, name: str, kind: int, *, limit: int = 0, period: float = 0.0) -> int:
        """Add an input with its columns; a category's columns come with its values. Return its index."""
        s = self.inputs
        afford(RAW_INPUT)
        if s == len(self.I):
            self._grow()
        self.raw_input_names.append(name)
        self.head[at.INPUTS] = s + 1
        self.I[s] = 0
        self.I[s, at.KIND] = kind
        self.I[s, at.MISSING] = -1
        self.I[s, at.TREE] = self.head[at.TREES]
        self.head[at.TREES] += 2 if kind == at.NUMBER else 1
        self.F[s] = 0.0
        self.F[s, at.PERIOD] = period
        self.F[s, [at.MIN, at.LOW]] = 1.0  # above MAX and HIGH: still empty
        if kind == at.CATEGORY:
            self.I[s, at.LIMIT] = limit
            self.I[s, at.START] = self._list(limit)
        elif kind == at.CYCLE:
            self.I[s, at.COLUMN] = self.column(f"{name} sin")
            self.I[s, at.START] = self.column(f"{name} cos")
        else:
            self.I[s, at.COLUMN] = self.column(name)
        return s

    def category(self, s: int, k: int, text: str) -> None:
        """Assign a column to category k of input s."""
        self.where[self.I[s, at.START] + k] = self.column(f"{self.raw_input_names[s]}={text}")

    def miss(self, s: int, name: str) -> None:
        """Assign a column to the indicator that input s is missing."""
        self.I[s, at.MISSING] = self.column(f"{name} is missing")

    def alone(self, p: int) -> bool:
        """Return whether a column has a single meaning."""
        return len(self.names[p]) == 1

    def _list(self, limit: int) -> int:
        afford(limit)
        start = self.listed
        self.listed += limit
        if self.listed > len(self.where):
            more = np.full(max(2 * len(self.where), self.listed), -1, dtype=np.int64)
            more[:start] = self.where[:start]
            self.where = more
        return start

    def _grow(self) -> None:
        used, room = self.inputs, max(8, 3 * self.inputs // 2)
        for name, empty in (("I", 0), ("F", 0.0), ("reservoir", np.nan), ("recent", np.nan)):
            old = getattr(self, name)
            new = np.full((room, old.shape[1]), empty, dtype=old.dtype)
            new[:used] = old[:used]
            setattr(self, name, new)
