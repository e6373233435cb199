"""One column of a table in the form that is quickest to read: numbers, flags, coded text, times, or plain objects."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats, Ints
from .feature import stable
from .values import CATEGORY, EPOCH, FLAG, MISSING, NUMBER, TIME, Unfit, infer_kind, is_missing


class Values(ABC):
    """The values of one feature, one for each row. `kind`: the kind of all values but missing ones; None: unknown."""

    kind: str | None = None

    @abstractmethod
    def at(self, t: int) -> Any:
        """Return the value of row t as `FeatureReader.read` takes it; None if it is missing."""

    @abstractmethod
    def missing(self) -> NDArray[np.bool_]:
        """Return a mask of the rows without a value."""

    @abstractmethod
    def take(self, rows: Any) -> "Values":
        """Return some of the rows: a slice, indices or booleans."""

    @abstractmethod
    def __len__(self) -> int: ...


class Objects(Values):
    """Values of any kinds, read one by one."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def at(self, t: int) -> Any:
        return self.values[t]

    def missing(self) -> NDArray[np.bool_]:
        return np.array([is_missing(value) for value in self.values], dtype=np.bool_)

    def take(self, rows: Any) -> "Objects":
        return Objects([self.values[t] for t in np.arange(len(self.values))[rows].tolist()])

    def __len__(self) -> int:
        return len(self.values)


class Numbers(Values):
    """Numbers or flags as floats, NaN for missing ones; `original` has the user's values."""

    def __init__(self, floats: Floats, original: Any, kind: str = NUMBER) -> None:
        self.floats, self.original, self.kind = floats, original, kind

    def at(self, t: int) -> Any:
        value = self.original[t]
        return value.item() if isinstance(value, np.generic) else value

    def missing(self) -> NDArray[np.bool_]:
        return np.isnan(self.floats)

    def take(self, rows: Any) -> "Numbers":
        floats, original = self.floats[rows], self.original
        if original is self.floats:
            original = floats
        elif isinstance(original, np.ndarray):
            original = original[rows]
        else:
            original = [original[t] for t in np.arange(len(original))[rows].tolist()]
        return Numbers(floats, original, self.kind or NUMBER)

    def __len__(self) -> int:
        return len(self.floats)


class Flags(Numbers):
    """True, False and missing values as 1, 0 and NaN."""

    def __init__(self, floats: Floats) -> None:
        super().__init__(floats, floats, FLAG)

    def at(self, t: int) -> Any:
        value = self.floats[t]
        return None if value != value else bool(value)

    def take(self, rows: Any) -> "Flags":
        return Flags(self.floats[rows])


class Words(Values):
    """Text: a code for each row, -1 for missing text, and the words of the codes."""

    kind = CATEGORY

    def __init__(self, codes: Ints, words: list[str]) -> None:
        self.codes, self.words = codes, words
        self.hashes: dict[int, int] = {}

    def missing(self) -> NDArray[np.bool_]:
        return np.asarray(self.codes < 0)

    def take(self, rows: Any) -> "Words":
        some = Words(self.codes[rows], self.words)
        some.hashes = self.hashes
        return some

    def hash(self, code: int) -> int:
        """Return `feature.stable` of a word."""
        if code not in self.hashes:
            self.hashes[code] = stable(self.words[code])
        return self.hashes[code]

    def at(self, t: int) -> Any:
        return None if self.codes[t] < 0 else self.words[self.codes[t]]

    def __len__(self) -> int:
        return len(self.codes)


class Times(Values):
    """numpy.datetime64 values with their parts, as in `values.infer_kind`."""

    kind = TIME

    def __init__(self, original: NDArray[Any], parts: dict[str, Floats]) -> None:
        self.original, self.parts = original, parts

    def missing(self) -> NDArray[np.bool_]:
        return np.asarray(np.isnat(self.original))

    def take(self, rows: Any) -> "Times":
        return Times(self.original[rows], {name: part[rows] for name, part in self.parts.items()})

    def at(self, t: int) -> Any:
        return self.original[t]

    def __len__(self) -> int:
        return len(self.original)


def values_of(column: Any) -> Values:
    """Convert a column to the quickest form that keeps the kind of each value.

    >>> values_of([1, 2.5, None]).kind, values_of(["a", None]).kind, values_of([1, "a"]).kind
    ('number', 'category', None)
    """
    if isinstance(column, np.ndarray) and type(column) is np.ndarray and column.ndim == 1:
        if column.dtype.char in "?":
            return Numbers(column.astype(np.float64), column, FLAG)
        if column.dtype.kind in "iu" or column.dtype.char in "efd":
            return Numbers(column.astype(np.float64), column)
        if column.dtype.kind == "M":
            return _times(column)
        column = list(column) if column.dtype.kind in "mg" else column.tolist()
    column = column if isinstance(column, list) else list(column)
    types = set(map(type, column))
    if not types <= {str, bool, int, float, type(None)}:
        column = [_plain_value(value) for value in column]
        types = set(map(type, column))
    return _listed(column, types)


def _listed(column: list[Any], types: set[type]) -> Values:
    """Convert values of plain types."""
    kinds = types - {type(None)}
    if kinds == {bool}:
        return Numbers(np.array([np.nan if value is None else value for value in column], dtype=np.float64), column, FLAG)
    if kinds and kinds <= {int, float}:
        try:
            return Numbers(np.array(column, dtype=np.float64), column)
        except OverflowError:
            return Objects(column)
    if str in kinds and kinds <= {str, float} and all(value != value for value in column if type(value) is float):
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(value, len(numbers)) if type(value) is str else -1 for value in column]
        return Words(np.array(codes, dtype=np.int64), list(numbers))
    return Objects(column)


def _plain_value(value: Any) -> Any:
    """Return the plain form of a value if it has one of the same kind: None, float, text, True or False."""
    try:
        kind, plain = infer_kind(value)
    except Unfit:
        return value
    if kind == MISSING:
        return None
    if kind == NUMBER:
        return int(value) if isinstance(value, np.integer) else value if isinstance(value, int) else plain
    return bool(plain) if kind == FLAG else plain if kind == CATEGORY else value


def _times(column: NDArray[Any]) -> Values:
    """Convert times with the arithmetic of `values.infer_kind`, a whole column at a time."""
    unit = np.datetime_data(column.dtype)[0]
    missing, has_hours = np.isnat(column), unit not in ("Y", "M", "W", "D")
    try:
        exact = column.astype("datetime64[us]" if has_hours else "datetime64[D]")
    except (OverflowError, ValueError):
        return Objects(list(column))
    day = np.where(missing, np.datetime64(0, "D"), exact.astype("datetime64[D]"))
    number = day.astype(np.int64)
    if ((number + EPOCH < 1) | (number + EPOCH > 3652059)).any():  # the years 1 to 9999
        return Objects(list(column))
    parts = {"day": number.astype(np.float64), "weekday": ((number + 3) % 7).astype(np.float64)}
    if has_hours:
        us = np.where(missing, 0, (exact - day).astype(np.int64))
        seconds = us // 1_000_000
        minute, second = seconds // 60 % 60, seconds % 60
        parts["hour"] = seconds // 3600 + minute / 60 + (second + us % 1_000_000 * 1e-6) / 3600
        parts["day"] = parts["day"] + parts["hour"] / 24
    for part in parts.values():
        part[missing] = np.nan
    return Times(column, parts)
