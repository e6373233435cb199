"""Keys of contexts with named features: the columns that models see, then a word for each tree over an input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.state import room_for
from ..features import FeatureReader
from ..features.tables import ContextTable
from ..structures.quantise import WORD, digit_bits
from ..types import Floats, Ints

_tuple = tuple.__new__  # makes a NamedTuple in half the time
FEWEST = 16  # rows read at once after something unseen: rows after the next unseen value must be read again


class ContextView(NamedTuple):
    """The view of a context of named features."""

    key: Ints
    """Bits of the columns that models see, then 0, then the path in each tree."""
    cells: Ints
    """The cell of each tree."""
    raw: Floats
    """The raw row of inputs, which the reader observes."""
    unseen: tuple[Any] | None
    """The context, if it has features, categories or missing values that the reader does not know yet."""
    growth: Any = None
    """The successor that knows what is unseen, when the round is about to be learned (`featured.Growth`)."""


class ContextRows:
    """Rows of a table of contexts, to be encoded when their turn comes: a reader learns while they are played."""

    def __init__(self, table: ContextTable, rows: Ints) -> None:
        self.table, self.rows = table, rows
        self.ahead = FEWEST
        """How many rows to read at once next: few after something unseen."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: Any) -> Any:
        """A context, or some of the rows."""
        if isinstance(which, int | np.integer):
            return self.table.context(int(self.rows[which]))
        return ContextRows(self.table, self.rows[which])

    def raw(self, reader: FeatureReader, start: int, stop: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Raw rows by what a reader knows now, and which of them have something unseen."""
        rows = self.rows[start:stop]
        if len(rows) == 0 or rows[-1] - rows[0] == len(rows) - 1:
            return reader.read_part(self.table, int(rows[0]), int(rows[-1]) + 1) if len(rows) else (np.empty((0, 0)), rows > 0)
        return reader.read_part(self.table.take(rows), 0, len(rows))


class FeatureKeys:
    """Keys of contexts as a reader sees them. A key has `room` words, the bits of the columns, then 0, then a word for each tree."""

    def __init__(self, reader: FeatureReader) -> None:
        self.reader = reader
        self.room, self.shifts = room_for(reader.columns, reader.width), _shifts(reader.shapes)
        self.trees = len(self.shifts)
        self._key: Ints = np.zeros(self.room + 1 + self.trees, dtype=np.int64)  # of the context being read
        self._columns, self._paths = self._key[: self.room].view(np.float64), self._key[self.room + 1 :]

    def read(self, context: Any) -> ContextView:
        """Return the view of a context, by what the reader knows now."""
        reader = self.reader
        raw, unseen = reader.look(context)
        cells: Ints = np.empty(self.trees, dtype=np.int64)
        reader.encode(raw, self._columns, cells)
        np.left_shift(cells, self.shifts, out=self._paths)
        return _tuple(ContextView, (self._key.copy(), cells, raw, (context,) if unseen else None, None))

    def with_cells(self, view: ContextView, cells: Any) -> ContextView:
        """Return a view whose trees see the cells of an earlier decision. It may have had fewer inputs, and finer cells of numbers."""
        padded: Ints = np.zeros(self.trees, dtype=np.int64)
        padded[: len(cells)] = cells
        coarse = self._coarse()
        padded = padded >> coarse << coarse
        key = view.key.copy()
        np.left_shift(padded, self.shifts, out=key[self.room + 1 :])
        return view._replace(key=key, cells=padded)

    def fits(self, cells: Any) -> bool:
        """Return whether these can be the cells of a decision."""
        sizes = [size if kind == "kary" else 1 << size for kind, size in self.reader.shapes]
        return len(cells) <= len(sizes) and all(0 <= cell < size for cell, size in zip(cells, sizes, strict=False))

    def groups(self) -> list[int]:
        """Return the feature of each column but the constant; features are numbered in the order of their first column."""
        numbers: dict[int, int] = {}
        return [numbers.setdefault(raw_input, len(numbers)) for raw_input in self.reader.column_inputs[1:].tolist()]

    def validator(self) -> Callable[[Any], object]:
        """Return a function that reads contexts as if all earlier ones had been learned, with a copy of the reader if something is unseen."""
        reader = self.reader

        def read(context: Any) -> None:
            nonlocal reader
            if reader.look(context)[1]:
                reader = self.reader.copy() if reader is self.reader else reader
                reader.admit(context)

        return read

    def check(self, contexts: Any) -> ContextRows:
        """Read a whole table with a copy of the reader, so that a bad row raises InputError before the first round."""
        if isinstance(contexts, ContextRows):
            return contexts
        table = self.reader.table(contexts)
        copy, start, size = self.reader.copy(), 0, FEWEST
        while start < table.rows:
            stop = min(start + size, table.rows)
            _, unseen = copy.read_part(table, start, stop)
            first = int(np.argmax(unseen)) if unseen.any() else -1
            if first >= 0:
                copy.admit(table.context(start + first))
            start, size = (stop, min(2 * size, 4096)) if first < 0 else (start + first + 1, FEWEST)
        return ContextRows(table, np.arange(table.rows))

    def keys(self, points: Any) -> Ints:
        """The keys of many rows, by what is known now: rows of a table, or raw rows themselves."""
        raw = points if isinstance(points, np.ndarray) else points.raw(self.reader, 0, len(points))[0]
        return self.keys_of(raw)

    def keys_of(self, raw: Floats) -> Ints:
        """The keys of raw rows."""
        n, columns = len(raw), self.reader.columns
        keys = np.zeros((n, len(self._key)), dtype=np.int64)
        z, cells = np.empty((n, columns)), np.empty((n, self.trees), dtype=np.int64)
        self.reader.encode_rows(np.ascontiguousarray(raw), z, cells)
        keys.view(np.float64)[:, :columns] = z
        np.left_shift(cells, self.shifts, out=keys[:, self.room + 1 :])
        return keys

    def cells_of(self, keys: Ints) -> Ints:
        """The cell of each tree, of keys one a row."""
        return np.asarray(keys[:, self.room + 1 :] >> self.shifts)

    def _coarse(self) -> Ints:
        """Return, for each tree, the number of low bits of its cells that are 0."""
        coarse, inputs = self.reader.coarse.tolist(), zip(self.reader.tree_inputs, self.reader.shapes, strict=True)
        return np.array([coarse[raw_input] if kind == "bits" else 0 for raw_input, (kind, _) in inputs], dtype=np.int64)

    def copy(self) -> FeatureKeys:
        """Return an independent copy."""
        return FeatureKeys(self.reader.copy())

    def __getstate__(self) -> FeatureReader:
        return self.reader  # the rest are views of one array, which pickle would part

    def __setstate__(self, reader: FeatureReader) -> None:
        self.__init__(reader)  # type: ignore[misc]


def _shifts(shapes: list[tuple[str, int]]) -> Ints:
    """By how many bits the cells of each tree are moved to be paths: digits of one word, the first split first."""
    shifts = []
    for kind, size in shapes:
        bits, depth = (digit_bits(size), 1) if kind == "kary" else (1, size)
        shifts.append(bits * (WORD // bits - depth))
    return np.array(shifts, dtype=np.int64)
