"""The columns of a context: their names, their values, and conditions on them in words.

A context is a row of numbers, one for each column: a number itself, the index of a category among the labels, 0 or 1 for a flag, NaN for a
missing value. A *side* is a subset of a column's values. For numbers it is (low, high), without the upper end unless that ends the column;
for categories and flags it is a set of codes. A *part* of all contexts has a side for every column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, quoted
from ..structures.spaces import Cells, Space
from ..types import Floats

NEW, MISSING = -1, -2  # codes of a category that is not among the labels, and of a missing one
LEAST = -float(np.finfo(np.float64).max)  # a missing number counts as -inf, below every number
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MOST_DAYS = 700_000  # since 1970 or before 1970: the range of a date
LONGEST = 8  # labels that a condition lists

Form = Literal["plain", "date", "clock", "weekday"]
Side = tuple[float, float] | frozenset[int]
Part = tuple[Side, ...]
Parts = tuple[Part, ...]
Play = Callable[
    [Floats], Floats
]  # from contexts, rows of numbers with NaN for missing values, to the probabilities of the arms


@dataclass(frozen=True)
class Column:
    """A column of a context, as explanations name it.

    >>> Column("age", low=18, high=90).condition((18.0, 36.0)), Column("age", missing=True).condition((-math.inf, 30.0))
    ('18 <= age < 36', 'age < 30 (or missing)')
    >>> country = Column("country", "category", labels=("FR", "DE", "IT"))
    >>> country.condition(frozenset({0, 1})), country.condition(frozenset({0}))
    ('country in FR, DE', 'country is FR')
    >>> Column("member", "flag").condition(frozenset({1}))
    'member is true'
    """

    name: str
    """The name."""
    kind: Literal["number", "category", "flag"] = "number"
    """The kind of its values."""
    low: float | None = None
    """The lower end of a number's range; None for an unbounded one."""
    high: float | None = None
    """The upper end."""
    labels: tuple[str, ...] = ()
    """A category's names, in the order of their codes 0, 1, ...; for a flag other words for false and true."""
    whole: bool = False
    """Is the number the index of a cell: 0, 1, ..., high - 1?"""
    missing: bool = False
    """Was a value ever missing?"""
    usual: tuple[float, float] | None = None
    """The range that pictures show of an unbounded number."""
    limit: int | None = None
    """The number of distinct categories, if there may be more: category limit + k counts as category k."""
    form: Form = "plain"
    """The format of numbers: "plain", "date", "clock" or "weekday"."""

    @cached_property
    def everything(self) -> Side:
        """All its values: (low, high) for numbers, the set of all codes for a category or flag."""
        if self.kind == "number":
            return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)
        return frozenset({MISSING, *range(2)}) if self.kind == "flag" else frozenset(range(MISSING, len(self.labels)))

    def label(self, code: int) -> str:
        """Return the label of a code of a category or flag; -1 is any other category, -2 a missing value."""
        if code in (NEW, MISSING):
            return "missing" if code == MISSING else "any other"
        return self.labels[code] if self.labels else ("false", "true")[code]

    def condition(self, side: Side, digits: int = 6, *, short: bool = False) -> str:
        """Write a side as a condition in words; empty if it has all values.

        `side`: (low, high) for numbers, a set of codes for a category or flag. `digits`: the number of significant digits.
        `short=True` omits an end that is an end of the whole range.
        """
        if isinstance(side, frozenset):
            return self._set_condition(side) if side != self.everything else ""
        low, high = side
        if short:
            low, high = (-math.inf if low == self.low else low), (math.inf if high == self.high else high)
        return self._range_condition(low, high, digits) if side != self.everything else ""

    def _range_condition(self, low: float, high: float, digits: int) -> str:
        name = self.name
        if high == LEAST:
            return f"{name} is missing"
        if low == LEAST and high == math.inf:
            return f"{name} is not missing"
        last = high == self.high and not self.whole
        end = f"{'<=' if last else '<'} {self._format_number(high, digits)}" if high < math.inf else ""
        if low in (-math.inf, LEAST):
            return f"{name} {end}{' (or missing)' * (self.missing and low < LEAST)}"
        begin = self._format_number(low, digits)
        return f"{name} >= {begin}" if high == math.inf else f"{begin} <= {name} {end}"

    def _format_number(self, number: float, digits: int) -> str:
        """Write a number in the column's form."""
        if self.form == "date" and abs(number) < MOST_DAYS:
            return date.fromordinal(date(1970, 1, 1).toordinal() + math.ceil(number)).isoformat()
        if self.form == "clock":
            return f"{round(number * 60) // 60:02d}:{round(number * 60) % 60:02d}"
        return DAYS[math.ceil(number)] if self.form == "weekday" and number <= 6.0 else f"{number:.{digits}g}"

    def _set_condition(self, side: frozenset[int]) -> str:
        everything = self.everything
        assert isinstance(everything, frozenset)
        possible = {code for code in everything if code != MISSING or self.missing} - {NEW}
        within, without = sorted(possible & side), sorted(possible - side)
        if not within:
            return f"{self.name} is any other" if NEW in side else f"{self.name} is missing"
        if not without:
            return "" if NEW in side or self.kind == "flag" else f"{self.name} is known"
        if NEW in side and self.kind == "category" and len(without) < len(within):
            return (
                f"{self.name} is not {self._names(without)}"
                if len(without) == 1
                else f"{self.name} not in {self._names(without)}"
            )
        return f"{self.name} is {self._names(within)}" if len(within) == 1 else f"{self.name} in {self._names(within)}"

    def _names(self, codes: Sequence[int]) -> str:
        """List labels in order, a missing value last; at most `LONGEST` of them."""
        ordered = [code for code in codes if code >= 0] + [code for code in codes if code < 0]
        more = len(ordered) - LONGEST
        shown = ordered if more <= 1 else ordered[:LONGEST]
        return ", ".join(map(self.label, shown)) + (f" and {more} more" if more > 1 else "")


def columns_of(space: Space, names: Sequence[str] | None = None) -> tuple[Column, ...]:
    """Return a column for each feature of a space, named x, or x0, x1, ..., or by `names`.

    >>> from hsb.structures.spaces import Box
    >>> [column.name for column in columns_of(Box([18, 0], [90, 1]), names=["age", "spend"])]
    ['age', 'spend']
    """
    usual = ["x"] if space.features == 1 else [f"x{j}" for j in range(space.features)]
    labels = usual if names is None else check_names(names, space.features)
    ends = [space.bounds(j, 0.0, 1.0) for j in range(space.features)]
    return tuple(
        Column(name, low=low, high=high, whole=isinstance(space, Cells)) for name, (low, high) in zip(labels, ends, strict=True)
    )


def check_names(names: Sequence[str], count: int) -> list[str]:
    """Return the list of names; raises `InputError` unless it has `count` different ones."""
    several = [names] if isinstance(names, str) else names
    listed = list(several) if isinstance(several, Iterable) else []
    if len(listed) != count or not all(isinstance(name, str) and name for name in listed) or len(set(listed)) != count:
        raise InputError(
            f"names needs {count} different name{'s' * (count > 1)}, one for each feature in order; given {quoted(names)}."
        )
    return listed


def coded(columns: Sequence[Column], points: Floats) -> Floats:
    """Code rows: a missing number becomes -inf, other numbers finite; a code without a label becomes NEW, a missing one MISSING."""
    table = np.array(points, dtype=np.float64)
    for j, column in enumerate(columns):
        values = table[:, j]
        gone = np.isnan(values)
        if column.kind == "number":
            table[:, j] = np.where(gone, -np.inf, np.clip(values, LEAST, -LEAST))
        else:
            if column.kind == "flag":
                values = np.where(values > 0.5, 1.0, 0.0)  # 2: a tag that shares its column with another
            elif column.limit is not None:
                values = np.where(values >= column.limit, values - column.limit, values)
            most = 2 if column.kind == "flag" else len(column.labels)
            table[:, j] = np.where(gone, MISSING, np.where((values >= 0) & (values < most), np.floor(values), NEW))
    return table


def holds(side: Side, column: Column, values: Floats) -> NDArray[np.bool_]:
    """Return a mask of the coded values in a side. The upper end of a column belongs to its last side."""
    if isinstance(side, frozenset):
        among = np.zeros(2 + max(2, len(column.labels)), dtype=bool)
        among[[code - MISSING for code in side]] = True
        return np.asarray(among[values.astype(np.int64) - MISSING])
    low, high = side
    return np.asarray((values >= low) & ((values < high) | (high == column.high)))


def inside(part: Part, columns: Sequence[Column], table: Floats) -> NDArray[np.bool_]:
    """Return a mask of the rows of a coded table in a part."""
    held = np.ones(len(table), dtype=bool)
    for j, (side, column) in enumerate(zip(part, columns, strict=True)):
        if side != column.everything:
            held &= holds(side, column, table[:, j])
    return held


def plain(part: Part, columns: Sequence[Column] | None) -> list[Any]:
    """Return a part as plain data: [low, high] for numbers, None for no end; labels for categories, or codes without `columns`."""
    return [
        [code if columns is None else columns[j].label(code) for code in sorted(side, key=lambda code: (code < 0, code))]
        if isinstance(side, frozenset)
        else [None if math.isinf(end) else end for end in side]
        for j, side in enumerate(part)
    ]
