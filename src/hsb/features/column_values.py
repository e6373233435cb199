"""One column of a table, in the form that is quickest to read: numbers, flags, text by number, times, or just values."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats, Ints
from .feature import stable
from .values import CATEGORY, EPOCH, FLAG, MISSING, NUMBER, TIME, Unfit, found, is_missing


class Values(ABC):
    """Values of one feature, a row each. `kind` is what all of them are that are not missing; None where that is not known."""

    kind: str | None = None

    @abstractmethod
    def at(self, t: int) -> Any:
        """The value of row t, as `FeatureReader.read` takes it; None where it is missing."""

    @abstractmethod
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""

    @abstractmethod
    def take(self, rows: Any) -> "Values":
        """Some of the rows: a slice, indices or booleans."""

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
    """Numbers or flags, in a float each, NaN where they are missing; `given` has them as they were given."""

    def __init__(self, floats: Floats, given: Any, kind: str = NUMBER) -> None:
        self.floats, self.given, self.kind = floats, given, kind

    def at(self, t: int) -> Any:
        value = self.given[t]
        return value.item() if isinstance(value, np.generic) else value

    def missing(self) -> NDArray[np.bool_]:
        return np.isnan(self.floats)

    def take(self, rows: Any) -> "Numbers":
        floats, given = self.floats[rows], self.given
        if given is self.floats:
            given = floats
        elif isinstance(given, np.ndarray):
            given = given[rows]
        else:
            given = [given[t] for t in np.arange(len(given))[rows].tolist()]
        return Numbers(floats, given, self.kind or NUMBER)

    def __len__(self) -> int:
        return len(self.floats)


class Flags(Numbers):
    """True, False and what is missing: 1, 0 and NaN."""

    def __init__(self, floats: Floats) -> None:
        super().__init__(floats, floats, FLAG)

    def at(self, t: int) -> Any:
        value = self.floats[t]
        return None if value != value else bool(value)

    def take(self, rows: Any) -> "Flags":
        return Flags(self.floats[rows])


class Words(Values):
    """Text: a number for each row, -1 where it is missing, and the words these stand for."""

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
        """`columns.stable` of a word."""
        if code not in self.hashes:
            self.hashes[code] = stable(self.words[code])
        return self.hashes[code]

    def at(self, t: int) -> Any:
        return None if self.codes[t] < 0 else self.words[self.codes[t]]

    def __len__(self) -> int:
        return len(self.codes)


class Times(Values):
    """numpy.datetime64, with the parts of `values.found`."""

    kind = TIME

    def __init__(self, given: NDArray[Any], parts: dict[str, Floats]) -> None:
        self.given, self.parts = given, parts

    def missing(self) -> NDArray[np.bool_]:
        return np.asarray(np.isnat(self.given))

    def take(self, rows: Any) -> "Times":
        return Times(self.given[rows], {name: part[rows] for name, part in self.parts.items()})

    def at(self, t: int) -> Any:
        return self.given[t]

    def __len__(self) -> int:
        return len(self.given)


def values_of(given: Any) -> Values:
    """Values in the quickest form that keeps what each of them is.

    >>> values_of([1, 2.5, None]).kind, values_of(["a", None]).kind, values_of([1, "a"]).kind
    ('number', 'category', None)
    """
    if isinstance(given, np.ndarray) and type(given) is np.ndarray and given.ndim == 1:
        if given.dtype.char in "?":
            return Numbers(given.astype(np.float64), given, FLAG)
        if given.dtype.kind in "iu" or given.dtype.char in "efd":
            return Numbers(given.astype(np.float64), given)
        if given.dtype.kind == "M":
            return _times(given)
        given = list(given) if given.dtype.kind in "mg" else given.tolist()
    given = given if isinstance(given, list) else list(given)
    types = set(map(type, given))
    if not types <= {str, bool, int, float, type(None)}:
        given = [_plainer(value) for value in given]
        types = set(map(type, given))
    return _listed(given, types)


def _listed(given: list[Any], types: set[type]) -> Values:
    """Values of plain types."""
    kinds = types - {type(None)}
    if kinds == {bool}:
        return Numbers(np.array([np.nan if value is None else value for value in given], dtype=np.float64), given, FLAG)
    if kinds and kinds <= {int, float}:
        try:
            return Numbers(np.array(given, dtype=np.float64), given)
        except OverflowError:
            return Objects(given)
    if str in kinds and kinds <= {str, float} and all(value != value for value in given if type(value) is float):
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(value, len(numbers)) if type(value) is str else -1 for value in given]
        return Words(np.array(codes, dtype=np.int64), list(numbers))
    return Objects(given)


def _plainer(value: Any) -> Any:
    """The plain form of a value where it has one of the same kind: None, float, text, True or False."""
    try:
        kind, plain = found(value)
    except Unfit:
        return value
    if kind == MISSING:
        return None
    if kind == NUMBER:
        return int(value) if isinstance(value, np.integer) else value if isinstance(value, int) else plain
    return bool(plain) if kind == FLAG else plain if kind == CATEGORY else value


def _times(given: NDArray[Any]) -> Values:
    """The same arithmetic as `values.found`, whole columns at a time."""
    unit = np.datetime_data(given.dtype)[0]
    none, has_hours = np.isnat(given), unit not in ("Y", "M", "W", "D")
    try:
        exact = given.astype("datetime64[us]" if has_hours else "datetime64[D]")
    except (OverflowError, ValueError):
        return Objects(list(given))
    day = np.where(none, np.datetime64(0, "D"), exact.astype("datetime64[D]"))
    number = day.astype(np.int64)
    if ((number + EPOCH < 1) | (number + EPOCH > 3652059)).any():  # the years 1 to 9999
        return Objects(list(given))
    parts = {"day": number.astype(np.float64), "weekday": ((number + 3) % 7).astype(np.float64)}
    if has_hours:
        us = np.where(none, 0, (exact - day).astype(np.int64))
        seconds = us // 1_000_000
        minute, second = seconds // 60 % 60, seconds % 60
        parts["hour"] = seconds // 3600 + minute / 60 + (second + us % 1_000_000 * 1e-6) / 3600
        parts["day"] = parts["day"] + parts["hour"] / 24
    for part in parts.values():
        part[none] = np.nan
    return Times(given, parts)
