"""Converting columns of any type to numbers, labels and times. A value that cannot be read becomes NaN or None; the caller reports it."""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import is_hashable
from ..features.encoders.categories import code
from ..features.values import TRUTHS
from ..types import Floats, Ints


class Coded(Sequence[Any]):
    """A dictionary-encoded column: `codes` index into `values`; -1 is a missing value.

    >>> list(Coded(np.array([1, 0, -1]), ["a", "b"]))
    ['b', 'a', None]
    """

    def __init__(self, codes: Ints, values: Sequence[Any]) -> None:
        self.codes, self.values = codes, list(values)

    def each(self, function: Callable[[list[Any]], Floats]) -> Floats:
        """Apply a function from values to numbers to every row; missing values are passed to it as None."""
        return function([*self.values, None])[self.codes]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: Any) -> Any:
        code = self.codes[row]
        return None if code < 0 else self.values[code]

    def __iter__(self) -> Iterator[Any]:
        values = [*self.values, None]
        return map(values.__getitem__, self.codes.tolist())


Column = Sequence[Any] | NDArray[Any]

KEPT = 1 << 16  # codes remembered


def numbers(column: Column) -> Floats:
    """Convert a column to floats; NaN for a value that is not a number.

    >>> numbers(["1.5", "", "x", None])
    array([1.5, nan, nan, nan])
    """
    if isinstance(column, Coded):
        return column.each(numbers)
    if isinstance(column, np.ndarray) and column.dtype.kind in "biufmM":
        return np.full(len(column), np.nan) if column.dtype.kind in "mM" else column.astype(np.float64)
    values = column.tolist() if isinstance(column, np.ndarray) else column
    try:
        floats = np.array(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        floats = np.empty(0)
    if floats.shape != (len(values),):
        floats = np.array([_number(value) for value in values], dtype=np.float64)
    odd = [i for i, value in enumerate(values) if type(value) is not float and isinstance(value, str) and "_" in value]
    floats[odd] = np.nan  # Python reads 1_0 as 10
    return floats


def _number(value: Any) -> float:
    try:
        return float(value)
    except (ValueError, TypeError, OverflowError):
        return math.nan


def truths(column: Column) -> Floats:
    """Convert a column to 1 for true, 0 for false, NaN for anything else.

    >>> truths(["True", "0", "maybe", True])
    array([ 1.,  0., nan,  1.])
    """
    if isinstance(column, Coded):
        return column.each(truths)
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "biuf":
        column = [TRUTHS.get(value.strip().lower(), value) if isinstance(value, str) else value for value in column]
    values = numbers(column)
    values[(values != 0.0) & (values != 1.0)] = np.nan
    return values


def codes(column: Column) -> Floats:
    """Return the `hsb.encode.code` of each row's category; NaN for a missing one."""
    if isinstance(column, Coded):
        return column.each(codes)
    return np.array([_code(value) for value in labels(column)], dtype=np.float64)


@lru_cache(KEPT, typed=True)
def _code(category: Hashable) -> float:
    return math.nan if category is None else code(category)


def labels(column: Column) -> list[Hashable]:
    """Return the labels of a column, whole numbers as int; None for a value that is missing or cannot be a label.

    >>> labels(["a", "", 3.0, None, float("nan")])
    ['a', None, 3, None, None]
    """
    values = column.tolist() if isinstance(column, np.ndarray) else column
    return [value if type(value) is str and value else _label(value) for value in values]


def encode_labels(column: Column) -> Coded:
    """Return the `labels` of a column, dictionary-encoded.

    >>> encoded = encode_labels(np.array([7, 3, 7]))
    >>> encoded.codes, encoded.values, list(encode_labels(["a", "", 3.0]))
    (array([1, 0, 1]), [3, 7], ['a', None, 3])
    """
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        different, numbered = np.unique(column, return_inverse=True)
        column = Coded(numbered.reshape(-1).astype(np.int64), different.tolist())
    if isinstance(column, Coded):
        named = labels(column.values)
        if None not in named:
            return Coded(column.codes, named)
        indices = np.array([-1 if label is None else k for k, label in enumerate(named)] + [-1], dtype=np.int64)
        return Coded(indices[column.codes], named)
    numbers_of: dict[tuple[type, Hashable], int] = {}
    rows = [-1 if label is None else numbers_of.setdefault((type(label), label), len(numbers_of)) for label in labels(column)]
    return Coded(np.array(rows, dtype=np.int64), [label for _, label in numbers_of])


def _label(value: Any) -> Hashable:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return None if not math.isfinite(value) else int(value) if value.is_integer() else value
    if value is None or not is_hashable(value) or value == "" or value != value:
        return None
    return value  # type: ignore[no-any-return]


def identity(label: Hashable) -> Hashable:
    """Return what the log remembers of an event's id: for text a 128-bit BLAKE2 digest, for anything else the id itself.

    >>> len({identity(label) for label in (-1, -2, 0, 2**61 - 1, 1, "1", True, b"1", 0.5)})
    9
    """
    if isinstance(label, str):
        return blake2b(label.encode(errors="surrogatepass"), digest_size=16).digest()
    return (type(label).__name__, label) if isinstance(label, bool | bytes) else label


def times(column: Column) -> tuple[Floats, NDArray[np.bool_]]:
    """Return seconds since 1970, NaN for a missing time; and which values could not be read. Times without a zone are UTC.

    >>> times(["1970-01-01 00:01:00+00:00", "61.5", "", "soon"])
    (array([60. , 61.5,  nan,  nan]), array([False, False, False,  True]))
    """
    if isinstance(column, Coded):
        seconds, bad = times([*column.values, None])
        return seconds[column.codes], bad[column.codes]
    if isinstance(column, np.ndarray) and column.dtype.kind == "M":
        seconds = column.astype("datetime64[us]").astype(np.int64) / 1e6
        return np.where(np.isnat(column), np.nan, seconds), np.zeros(len(column), dtype=np.bool_)
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        seconds = column.astype(np.float64)
        return seconds, np.isinf(seconds)
    seconds, bad = np.full(len(column), np.nan), np.zeros(len(column), dtype=np.bool_)
    for i, value in enumerate(column):
        if value is None or (isinstance(value, str | float) and (value == "" or value != value)):
            continue
        seconds[i] = _time(value)
        bad[i] = not math.isfinite(seconds[i])
    seconds[bad] = np.nan
    return seconds, bad


def _time(value: Any) -> float:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    if isinstance(value, str):
        try:
            return float("x" if "_" in value else value)
        except ValueError:
            pass
        try:
            return _time(datetime.fromisoformat(value.strip()))
        except (ValueError, OverflowError):
            return math.nan
    return _number(value)
