"""From any context to numbers: what a policy keeps to read what it is given."""

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
from .feature import FLAGS, Entry, FeatureColumn, taken, turned
from .knowledge import Knowledge, warn_of_dates
from .parts import read_part, split_table
from .reading import read_value
from .refit import refit, strayed
from .tables import ContextTable, table_of
from .values import CATEGORY, CYCLE, FLAG, NUMBER

Raw = Floats
LOOKED = 256  # rows, after each of which it is looked whether any did
DEPTH = 5  # of the binary tree over the 32 cells of a number


@cache
def compiled() -> Any:
    """The kernels, loaded on first use."""
    from ..engine.kernels import encode

    return encode


class FeatureReader:
    """What `hsb.HSB(arms=...)` reads contexts with: into raw rows, and these into `z`, which models see, and `cells`, which trees see.

    A raw row has a float for each *input*: one for most features, several for a time. `z` has a number for each *place*: a number, a category,
    a
    tag, or that a value is missing. `cells` has for each tree the number of the part of its input's values that the context falls into: a
    number has two, by its rank and by its leading bits.

    Reading changes nothing. `admit` takes in what is new: features, categories, a place for missing values. `observe` counts a raw row;
    `refit`, when it is `due`, freezes new scales and edges from what was counted and says how z has moved. `features` says what is declared;
    `width` is the most places, None for the limit of `features`.

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
    >>> z, cells = reader.encoded(reader.read({"country": "FR", "age": 34}))
    >>> dict(zip(reader.place_names, z.tolist())), cells.tolist()
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
        """The raw row of a context. Changes nothing."""
        return self.look(context)[0]

    def look(self, context: Any) -> tuple[Raw, bool]:
        """The raw row of a context, and whether `admit` would add something. Changes nothing."""
        if type(context) is not dict or not self._dicts or len(context) > self._most:
            return self._look_at_other(context)
        row, quick, unseen = self._blank[:], self._quick, False
        for name, value in context.items():
            entry = quick.get(name)
            if entry is not None:
                kind, raw_input, codes = entry
                given = type(value)
                if codes is None:
                    if (given is kind or given is int) and value == value:
                        row[raw_input] = value
                        continue
                elif given is kind:
                    code = codes.get(value)
                    if code is not None:
                        row[raw_input] = code
                        continue
            new, missing = read_value(self.knowledge, name, value, row)
            unseen = unseen or new or (missing and name in self._complete)
        return self._finish(context, row, unseen)

    def admit(self, context: Any) -> bool:
        """Take in what is new in a context, all of it or, where it is refused, nothing: was there anything?"""
        events = self.knowledge.events(context)
        for event in events:
            self.knowledge.apply(event)
        if events:
            self.refresh()
            warn_of_dates(self.knowledge, events)
        return bool(events)

    def observe(self, raw: Raw) -> None:
        """Count a raw row: means and spreads of numbers, and a sample of rows."""
        layout = self.layout
        compiled().observe(raw, layout.head, layout.I, layout.F, layout.reservoir, layout.recent)

    def observe_rows(self, raw: Floats) -> None:
        """`observe` for each row of a table (n, inputs) of them."""
        layout = self.layout
        compiled().observe_rows(raw, layout.head, layout.I, layout.F, layout.reservoir, layout.recent)

    def encode_rows(self, raw: Floats, z: Floats, cells: Ints) -> None:
        """`encode` for each row of tables, n rows each."""
        layout = self.layout
        compiled().encode_rows(raw, z, cells, layout.head, layout.I, layout.F, layout.where)

    def table(self, contexts: Any) -> ContextTable:
        """A whole table, in columns where it has them: a list of contexts, an array, a dict of columns, a data frame.

        >>> reader = FeatureReader(Features())
        >>> table = reader.table({"age": [31, 33], "country": ["FR", "DE"]})
        >>> reader.admit(table.context(0)), reader.read_part(table, 0, 2)
        (True, (array([[31.,  0.],
               [33., -1.]]), array([False,  True])))
        """
        return split_table(self.features, table_of(contexts))

    def read_part(self, table: ContextTable, start: int, stop: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Rows start .. stop - 1 of a table as `read` would give them now, (n, inputs), and which of them have something new."""
        return read_part(self, table, start, stop)

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        """The features that it knows by name, in order, and their kinds, None where all was missing; None where contexts have no names.

        >>> from hsb.features import Cycle
        >>> FeatureReader(Features()).named_columns, FeatureReader(Features(hour=Cycle(24))).named_columns
        ({}, {'hour': 'cycle'})
        """
        if self.features.open and self.knowledge.form not in (None, NAMED):
            return None
        return {column.name: column.kind for column in self.knowledge.listed}

    @property
    def due(self) -> bool:
        """Is it time to `refit`? After 2, 4, 8, 16 ... rows, and soon after numbers have left their edges."""
        rows: int = self.layout.head.item(at.ROWS)
        return (rows >= 2 and rows & (rows - 1) == 0) or (rows % LOOKED == 0 and len(strayed(self.layout)) > 0)

    @property
    def rows_left(self) -> int:
        """How many rows there are before it may be `due`."""
        rows: int = self.layout.head.item(at.ROWS)
        return min((1 << max(1, rows.bit_length())) - rows, LOOKED - rows % LOOKED) if rows else 1

    def refit(self) -> tuple[Floats, Floats]:
        """Freeze new scales and edges: (a, c), a number for each place; what was z is now a * z + c, up to clipping.

        What numbers that have left their edges were like is forgotten, but for their last values.
        Where a number is missing its z is 0 before and after: c then moves what its place for missing values (`missing_places`) adds.
        """
        return refit(self.layout)

    @property
    def missing_places(self) -> Ints:
        """Of each place of a number, the place that is 1 where that number is missing; -1 where there is none."""
        layout, found = self.layout, np.full(self.places, -1, dtype=np.int64)
        for s in range(self.inputs):
            if layout.I[s, at.KIND] in (at.NUMBER, at.FLAG) and layout.alone(layout.I[s, at.PLACE]):
                found[layout.I[s, at.PLACE]] = layout.I[s, at.MISSING]
        return found

    def encode(self, raw: Raw, z: Floats, cells: Ints) -> None:
        """Fill z (at least `places` long) and cells (at least `trees` long), zeros behind."""
        layout = self.layout
        compiled().encode(raw, z, cells, layout.head, layout.I, layout.F, layout.where)

    def encoded(self, raw: Raw) -> tuple[Floats, Ints]:
        """`encode` into fresh arrays, just long enough."""
        z, cells = np.empty(self.places), np.empty(self.trees, dtype=np.int64)
        self.encode(raw, z, cells)
        return z, cells

    @property
    def inputs(self) -> int:
        """How many floats a raw row has."""
        return len(self.layout.raw_input_names)

    @property
    def places(self) -> int:
        """How many numbers of z mean something."""
        return len(self.layout.names)

    @property
    def rows(self) -> int:
        """How many raw rows were observed."""
        return int(self.layout.head.item(at.ROWS))

    @property
    def unseen(self) -> int:
        """How many of the values observed were categories not admitted by then."""
        return int(self.layout.head[at.UNSEEN])

    @property
    def shared(self) -> int:
        """How many of the values observed share the place of another category or tag, because there were more than the limit."""
        return int(self.layout.head[at.SHARED])

    @property
    def crowded(self) -> int:
        """How many categories, numbers and so on share a place with something else, because `width` places were used up."""
        return self.layout.crowded

    @property
    def shapes(self) -> list[tuple[str, int]]:
        """Of each tree, how its cells are split: ("binary", depth), ("bits", depth), or ("kary", cells)."""
        I, found = self.layout.I[: len(self.layout.raw_input_names)], []
        for kind, limit in zip(I[:, at.KIND].tolist(), I[:, at.LIMIT].tolist(), strict=True):
            found.append(("kary", limit + 2) if kind == at.CATEGORY else ("binary", DEPTH))
            if kind == at.NUMBER:
                found.append(("bits", at.BITS))
        return found

    @property
    def trees(self) -> int:
        """How many cells a context has: one for each input, two for a number."""
        return int(self.layout.head.item(at.TREES))

    @property
    def tree_inputs(self) -> list[int]:
        """Of each tree, whose cells it has."""
        numbers = (self.layout.I[: len(self.layout.raw_input_names), at.KIND] == at.NUMBER).tolist()
        return [s for s, number in enumerate(numbers) for _ in range(2 if number else 1)]

    @property
    def coarse(self) -> Ints:
        """Of each input, how many of the leading bits of a number its tree does not look at."""
        return self.layout.I[: self.inputs, at.COARSE]

    @property
    def raw_input_names(self) -> list[str]:
        """The name of each input."""
        return list(self.layout.raw_input_names)

    @property
    def place_inputs(self) -> Ints:
        """Of each place, the first input that has it; -1 for the constant."""
        where, owner = self.layout.where.tolist(), [-1] * (self.places + 1)
        I = self.layout.I[: len(self.layout.raw_input_names), [at.KIND, at.PLACE, at.START, at.LIMIT, at.MISSING]]
        for s, (kind, place, start, limit, missing) in reversed(list(enumerate(I.tolist()))):
            own = where[start : start + limit] if kind == at.CATEGORY else [place, start] if kind == at.CYCLE else [place]
            for each in (*own, missing):
                owner[each] = s  # of none, -1, the last one
        owner[0] = -1
        return np.array(owner[:-1], dtype=np.int64)

    @property
    def place_names(self) -> list[str]:
        """The name of each place; where several things share one, all of their names."""
        return [" | ".join(names) for names in self.layout.names]

    @property
    def sample(self) -> Floats:
        """The reservoir: raw rows, at most 512, a uniform choice of all that were observed. NaN where an input was not known yet."""
        return self.layout.reservoir[: self.inputs, : min(self.rows, at.SAMPLE)].T

    @property
    def nbytes(self) -> int:
        """How many bytes its arrays take."""
        layout = self.layout
        return sum(array.nbytes for array in (layout.head, layout.I, layout.F, layout.where, layout.reservoir, layout.recent))

    def to_dict(self) -> dict[str, Any]:
        """What was declared and admitted, as plain data for JSON; with `arrays`, all there is to know of it."""
        return stored.to_dict(self)

    def arrays(self) -> Arrays:
        """What was counted and frozen, in arrays of its own by name."""
        return stored.to_arrays(self)

    @classmethod
    def restore(cls, data: dict[str, Any], arrays: Arrays) -> "FeatureReader":
        """The reader that `to_dict` and `arrays` describe; ValueError where they do not fit each other."""
        reader = stored.from_journal(cls, data)
        stored.take_arrays(reader, arrays)
        return reader

    def renamed(self, rename: Callable[[str, int], str | None]) -> "FeatureReader | None":
        """The same reader, which knows some categories and tags by other names; None where all names stay (`stored.renamed`)."""
        return stored.renamed(self, rename)

    def copy(self) -> "FeatureReader":
        """An independent reader in the same state."""
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
        """Derive the look-up tables of `look` again, after the journal grew."""
        known = self.knowledge
        declared = not self.features.open and not self.features.composites  # these are split first
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
        """`look` at what is no dict, or at the first context."""
        known = self.knowledge
        if self._row and type(context) is np.ndarray and context.shape == (self._columns,) and context.dtype.char in "dflqiI":
            raw = np.array(context, dtype=np.float64)
            return raw, any(math.isnan(raw[known.columns[name].inputs[0]]) for name in self._complete)
        values = known.named(context)[1]
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
                row[raw_input] = turned(row[raw_input], column)
            raw = np.array(row, dtype=np.float64)
        except OverflowError:
            for column in self.knowledge.listed:
                taken(column, values.get(column.name), self.features.limits["text"])  # says which feature it is
            raise
        return raw, unseen
