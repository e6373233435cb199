"""The reader of a policy's contexts: from any context to numbers."""

import math
from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import whole
from ..engine.kernels import inputs as at
from ..errors import InputError, quoted
from ..types import Arrays, Floats, Ints
from . import stored
from .contexts import NAMED, ROW
from .declared import Features
from .feature import FLAGS, Entry, FeatureColumn, coerce, wrap
from .knowledge import Knowledge, warn_of_dates
from .parts import read_part, split_table
from .reading import read_value
from .refit import refit, strayed_inputs
from .tables import ContextTable, table_of
from .values import CATEGORY, CYCLE, FLAG, NUMBER

Raw = Floats
LOOKED = 256  # rows between two checks for numbers that left their edges
DEPTH = 5  # of the binary tree over the 32 cells of a number


@cache
def compiled() -> Any:
    """Return the kernels, loaded on first use."""
    from ..engine.kernels import encode

    return encode


class FeatureReader:
    """Reads contexts for `hsb.HSB(arms=...)`: into raw rows, and these into `z` for the models and `cells` for the trees.

    A raw row has a float for each *input*: one for most features, several for a time. `z` is a row of the design matrix; each
    *column* is a number, a category, a tag, or the indicator of a missing value. `cells` has for each tree the index of the context's cell. A
    number has two trees, by its rank and by its leading bits.

    Reading changes nothing. `admit` adds whatever is new: features, categories, a column for missing values. `observe` counts a raw row.
    `refit`, if it is `due`, freezes new scales and edges from the counts, and returns the map from old to new z. `features` is the
    declaration; `width` the largest number of columns, None for the limit of `features`.

    >>> from hsb.features import FeatureReader, Features
    >>> import numpy as np
    >>> reader = FeatureReader(Features())
    >>> reader.admit({"country": "FR", "age": 31}), reader.admit({"country": "FR", "age": 33})
    (True, False)
    >>> reader.look({"country": "DE", "age": None})
    (array([-1., nan]), True)
    >>> for age in (31, 33):
    ...     reader.observe(reader.read({"country": "FR", "age": age}))
    >>> a, c = reader.refit()
    >>> z, cells = reader.encode_row(reader.read({"country": "FR", "age": 34}))
    >>> dict(zip(reader.column_names, z.tolist())), cells.tolist()
    ({'constant': 1.0, 'country=FR': 1.0, 'age': 2.0}, [2, 31, 12599552])
    """

    def __init__(self, features: Features, width: int | None = None) -> None:
        if not isinstance(features, Features):
            raise InputError(f"A reader of features needs hsb.Features; given {quoted(features):.200}.")
        self.features = features
        self.width = whole("width", features.limits["width"] if width is None else width, 2)
        self.knowledge = Knowledge(features, self.width)
        self.layout = self.knowledge.layout
        self.refresh()

    def read(self, context: Any) -> Raw:
        """Return the raw row of a context. Changes nothing."""
        return self.look(context)[0]

    def look(self, context: Any) -> tuple[Raw, bool]:
        """Return the raw row of a context, and whether `admit` would add something. Changes nothing."""
        if type(context) is not dict or not self._dicts or len(context) > self._most:
            return self._look_at_other(context)
        row, quick, unseen = self._blank[:], self._quick, False
        for name, value in context.items():
            entry = quick.get(name)
            if entry is not None:
                kind, raw_input, codes = entry
                value_type = type(value)
                if codes is None:
                    if (value_type is kind or value_type is int) and value == value:
                        row[raw_input] = value
                        continue
                elif value_type is kind:
                    code = codes.get(value)
                    if code is not None:
                        row[raw_input] = code
                        continue
            new, missing = read_value(self.knowledge, name, value, row)
            unseen = unseen or new or (missing and name in self._complete)
        return self._finish(context, row, unseen)

    def admit(self, context: Any) -> bool:
        """Add whatever is new in a context, and return whether there was anything. After an `InputError` nothing has changed."""
        events = self.knowledge.events(context)
        for event in events:
            self.knowledge.apply(event)
        if events:
            self.refresh()
            warn_of_dates(self.knowledge, events)
        return bool(events)

    def observe(self, raw: Raw) -> None:
        """Count a raw row: means and variances of numbers, and a sample of rows."""
        layout = self.layout
        compiled().observe(raw, layout.head, layout.I, layout.F, layout.reservoir, layout.recent)

    def observe_rows(self, raw: Floats) -> None:
        """Call `observe` for each row of a table (n, inputs)."""
        layout = self.layout
        compiled().observe_rows(raw, layout.head, layout.I, layout.F, layout.reservoir, layout.recent)

    def encode_rows(self, raw: Floats, z: Floats, cells: Ints) -> None:
        """Call `encode` for each row of tables with n rows each."""
        layout = self.layout
        compiled().encode_rows(raw, z, cells, layout.head, layout.I, layout.F, layout.where)

    def table(self, contexts: Any) -> ContextTable:
        """Return a whole table, by columns if it has them: a list of contexts, an array, a dict of columns, a data frame.

        >>> reader = FeatureReader(Features())
        >>> table = reader.table({"age": [31, 33], "country": ["FR", "DE"]})
        >>> reader.admit(table.context(0)), reader.read_part(table, 0, 2)
        (True, (array([[31.,  0.],
               [33., -1.]]), array([False,  True])))
        """
        return split_table(self.features, table_of(contexts))

    def read_part(self, table: ContextTable, start: int, stop: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the raw rows (n, inputs) of rows start .. stop - 1 of a table, and a mask of those with something new."""
        return read_part(self, table, start, stop)

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        """The known features by name, in order, with their kinds, None if all was missing so far; None if contexts have no names.

        >>> from hsb.features import Cycle
        >>> FeatureReader(Features()).named_columns, FeatureReader(Features(hour=Cycle(24))).named_columns
        ({}, {'hour': 'cycle'})
        """
        if self.features.open and self.knowledge.form not in (None, NAMED):
            return None
        return {column.name: column.kind for column in self.knowledge.listed}

    @property
    def due(self) -> bool:
        """Whether it is time to `refit`: after 2, 4, 8, 16 ... rows, and soon after numbers left their edges."""
        rows: int = self.layout.head.item(at.ROWS)
        return (rows >= 2 and rows & (rows - 1) == 0) or (rows % LOOKED == 0 and len(strayed_inputs(self.layout)) > 0)

    @property
    def rows_left(self) -> int:
        """The number of rows before `refit` may be `due`."""
        rows: int = self.layout.head.item(at.ROWS)
        return min((1 << max(1, rows.bit_length())) - rows, LOOKED - rows % LOOKED) if rows else 1

    def refit(self) -> tuple[Floats, Floats]:
        """Freeze new scales and edges. Return (a, c), a number for each column: z becomes a * z + c, up to clipping.

        Numbers that left their edges keep only their last values. A missing number has z = 0 before and after: c then moves the value of its
        column for missing values (`missing_columns`).
        """
        return refit(self.layout)

    @property
    def missing_columns(self) -> Ints:
        """For each column of a number, the column that is 1 if the number is missing; -1 without such a column."""
        layout, indicators = self.layout, np.full(self.columns, -1, dtype=np.int64)
        for s in range(self.inputs):
            if layout.I[s, at.KIND] in (at.NUMBER, at.FLAG) and layout.alone(layout.I[s, at.COLUMN]):
                indicators[layout.I[s, at.COLUMN]] = layout.I[s, at.MISSING]
        return indicators

    def encode(self, raw: Raw, z: Floats, cells: Ints) -> None:
        """Fill z (length at least `columns`) and cells (length at least `trees`), the rest with zeros."""
        layout = self.layout
        compiled().encode(raw, z, cells, layout.head, layout.I, layout.F, layout.where)

    def encode_row(self, raw: Raw) -> tuple[Floats, Ints]:
        """Encode a raw row into new arrays z and cells."""
        z, cells = np.empty(self.columns), np.empty(self.trees, dtype=np.int64)
        self.encode(raw, z, cells)
        return z, cells

    @property
    def inputs(self) -> int:
        """The number of floats in a raw row."""
        return len(self.layout.raw_input_names)

    @property
    def columns(self) -> int:
        """The number of used columns of z."""
        return len(self.layout.names)

    @property
    def rows(self) -> int:
        """The number of observed raw rows."""
        return int(self.layout.head.item(at.ROWS))

    @property
    def unseen(self) -> int:
        """The number of observed values that were categories not yet admitted."""
        return int(self.layout.head[at.UNSEEN])

    @property
    def shared(self) -> int:
        """The number of observed values that share the column of another category or tag, beyond the limit."""
        return int(self.layout.head[at.SHARED])

    @property
    def crowded(self) -> int:
        """The number of meanings that share a column, since all `width` columns were used."""
        return self.layout.crowded

    @property
    def shapes(self) -> list[tuple[str, int]]:
        """For each tree, the way its cells are split: ("binary", depth), ("bits", depth), or ("kary", cells)."""
        I, shapes = self.layout.I[: len(self.layout.raw_input_names)], []
        for kind, limit in zip(I[:, at.KIND].tolist(), I[:, at.LIMIT].tolist(), strict=True):
            shapes.append(("kary", limit + 2) if kind == at.CATEGORY else ("binary", DEPTH))
            if kind == at.NUMBER:
                shapes.append(("bits", at.BITS))
        return shapes

    @property
    def trees(self) -> int:
        """The number of trees, and so of cells of a context: one for each input, two for a number."""
        return int(self.layout.head.item(at.TREES))

    @property
    def tree_inputs(self) -> list[int]:
        """For each tree, its input."""
        numbers = (self.layout.I[: len(self.layout.raw_input_names), at.KIND] == at.NUMBER).tolist()
        return [s for s, number in enumerate(numbers) for _ in range(2 if number else 1)]

    @property
    def coarse(self) -> Ints:
        """For each input, the number of leading bits that its tree ignores."""
        return self.layout.I[: self.inputs, at.COARSE]

    @property
    def raw_input_names(self) -> list[str]:
        """The name of each input."""
        return list(self.layout.raw_input_names)

    @property
    def column_inputs(self) -> Ints:
        """For each column, the first input with it; -1 for the constant."""
        where, owner = self.layout.where.tolist(), [-1] * (self.columns + 1)
        I = self.layout.I[: len(self.layout.raw_input_names), [at.KIND, at.COLUMN, at.START, at.LIMIT, at.MISSING]]
        for s, (kind, column, start, limit, missing) in reversed(list(enumerate(I.tolist()))):
            own = where[start : start + limit] if kind == at.CATEGORY else [column, start] if kind == at.CYCLE else [column]
            for position in (*own, missing):
                owner[position] = s  # a missing column, -1, writes the last entry
        owner[0] = -1
        return np.array(owner[:-1], dtype=np.int64)

    @property
    def column_names(self) -> list[str]:
        """The name of each column; all names if several meanings share it."""
        return [" | ".join(names) for names in self.layout.names]

    @property
    def sample(self) -> Floats:
        """A uniform sample of at most 512 observed raw rows; NaN if an input was not known yet."""
        return self.layout.reservoir[: self.inputs, : min(self.rows, at.SAMPLE)].T

    @property
    def nbytes(self) -> int:
        """The size of its arrays in bytes."""
        layout = self.layout
        return sum(array.nbytes for array in (layout.head, layout.I, layout.F, layout.where, layout.reservoir, layout.recent))

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration and the journal as plain data for JSON; together with `arrays` it is the whole state."""
        return stored.to_dict(self)

    def arrays(self) -> Arrays:
        """Return counts, scales and edges as new arrays by name."""
        return stored.to_arrays(self)

    @classmethod
    def restore(cls, data: dict[str, Any], arrays: Arrays) -> "FeatureReader":
        """Restore the reader from `to_dict` and `arrays`. Raises `ValueError` if they do not fit each other."""
        reader = stored.from_journal(cls, data)
        stored.take_arrays(reader, arrays)
        return reader

    def rename_values(self, rename: Callable[[str, int], str | None]) -> "FeatureReader | None":
        """Return a copy with new names for some categories and tags; None if all names stay (`stored.rename_values`)."""
        return stored.rename_values(self, rename)

    def copy(self) -> "FeatureReader":
        """Return an independent reader in the same state."""
        other = copy(self)
        other.knowledge = self.knowledge.copy()
        other.layout = other.knowledge.layout
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureReader) or self.to_dict() != other.to_dict():
            return False
        theirs = other.arrays()
        return all(array.tobytes() == theirs[name].tobytes() for name, array in self.arrays().items())

    __hash__ = None  # type: ignore[assignment]

    def refresh(self) -> None:
        """Derive the look-up tables of `look` again after the journal grew."""
        known = self.knowledge
        declared = not self.features.open and not self.features.composites  # composites are split first
        self._blank = [math.nan] * len(self.layout.raw_input_names)
        self._columns, self._most = len(known.listed), max(self.features.limits["columns"], len(known.listed))
        self._dicts = declared or known.form == NAMED
        self._row = declared or known.form == ROW  # a row of numbers is its own raw row
        self._quick: dict[str, Entry] = {}
        self._cycles: list[tuple[int, FeatureColumn]] = []
        complete = []
        for j, column in enumerate(known.listed):
            if column.kind == CATEGORY:
                self._quick[column.name] = str, column.inputs[0], column.codes
            elif column.kind == FLAG:
                self._quick[column.name] = bool, column.inputs[0], FLAGS
            elif column.kind == NUMBER or column.kind == CYCLE:
                self._quick[column.name] = float, column.inputs[0], None
            if column.kind == CYCLE:
                self._cycles.append((column.inputs[0], column))
            if not column.missing:
                complete.append(column.name)
            self._row = self._row and column.kind == NUMBER and column.inputs[0] == j
        self._complete = frozenset(complete)  # the features that never missed a value

    def _look_at_other(self, context: Any) -> tuple[Raw, bool]:
        """Look at a context that is not a dict, or at the first one."""
        known = self.knowledge
        if self._row and type(context) is np.ndarray and context.shape == (self._columns,) and context.dtype.char in "dflqiI":
            raw = np.array(context, dtype=np.float64)
            return raw, any(math.isnan(raw[known.columns[name].inputs[0]]) for name in self._complete)
        values = known.named_values(context)[1]
        row, unseen = self._blank[:], self.features.open and known.form is None
        for name, value in values.items():
            new, missing = read_value(self.knowledge, name, value, row)
            unseen = unseen or new or (missing and name in self._complete)
        return self._finish(values, row, unseen)

    def _finish(self, values: dict[str, Any], row: list[float], unseen: bool) -> tuple[Raw, bool]:
        if unseen:
            self.knowledge.check_names(values)
        elif len(values) < self._columns:
            unseen = not self._complete.issubset(values)
        try:
            for raw_input, column in self._cycles:
                row[raw_input] = wrap(row[raw_input], column)
            raw = np.array(row, dtype=np.float64)
        except OverflowError:
            for column in self.knowledge.listed:
                coerce(column, values.get(column.name), self.features.limits["text"])  # raises, and names the feature
            raise
        return raw, unseen
