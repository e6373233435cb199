"""The columns of a context: what they are called, which values they have, and how a part of them is said in words.

A context is a row of numbers, one for each column: a number as it is, a category as its place among the labels, a flag as 0 or 1, and NaN
where a value is missing. A *side* is a part of a column: of numbers (low, high), the upper end left out unless it ends the column; of
categories and flags a set of codes. A *part* of all contexts has a side of every column.
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

NEW, MISSING = -1, -2  # codes of a category that is not among the labels, and of none
LEAST = -float(np.finfo(np.float64).max)  # a missing number counts as -inf, below every number there is
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MOST_DAYS = 700_000  # since 1970, or before, that a date can have
LONGEST = 8  # labels that a condition names one by one

Form = Literal["plain", "date", "clock", "weekday"]
Side = tuple[float, float] | frozenset[int]
Part = tuple[Side, ...]
Parts = tuple[Part, ...]
Play = Callable[[Floats], Floats]  # contexts as rows of numbers, NaN where a value is missing; the probabilities of the arms


@dataclass(frozen=True)
class Column:
    """One column of a context, as an explanation speaks of it.

    >>> Column("age", low=18, high=90).says((18.0, 36.0)), Column("age", missing=True).says((-math.inf, 30.0))
    ('18 <= age < 36', 'age < 30 (or missing)')
    >>> country = Column("country", "category", labels=("FR", "DE", "IT"))
    >>> country.says(frozenset({0, 1})), country.says(frozenset({0}))
    ('country in FR, DE', 'country is FR')
    >>> Column("member", "flag").says(frozenset({1}))
    'member is true'
    """

    name: str
    """What it is called."""
    kind: Literal["number", "category", "flag"] = "number"
    """What its values are."""
    low: float | None = None
    """The lower end of a number's range; None where it has none."""
    high: float | None = None
    """The upper end."""
    labels: tuple[str, ...] = ()
    """A category's names, in the order of their codes 0, 1, ...; of a flag those of false and true, if they are others."""
    whole: bool = False
    """Is the number that of a cell, 0, 1, ..., high - 1?"""
    missing: bool = False
    """Was a value ever missing?"""
    usual: tuple[float, float] | None = None
    """From where to where a number without ends is drawn in pictures."""
    limit: int | None = None
    """How many categories are told apart, if there may be more: one of number limit + k is taken for number k, whose place it shares."""
    form: Form = "plain"
    """How numbers are written: "plain", or as the "date", "clock" or "weekday" that they stand for."""

    @cached_property
    def everything(self) -> Side:
        """All its values: (low, high) of a number, the set of all codes of a category or flag."""
        if self.kind == "number":
            return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)
        return frozenset({MISSING, *range(2)}) if self.kind == "flag" else frozenset(range(MISSING, len(self.labels)))

    def label(self, code: int) -> str:
        """What the code of a category or flag stands for; -1 is any other category, -2 a missing value."""
        if code in (NEW, MISSING):
            return "missing" if code == MISSING else "any other"
        return self.labels[code] if self.labels else ("false", "true")[code]

    def says(self, side: Side, digits: int = 6, *, short: bool = False) -> str:
        """A part of its values as a condition in words; empty where it is all there is.

        `side` is (low, high) of a number, a set of codes of a category or flag. `digits` is how many digits a number is written with.
        `short=True` leaves out an end that is an end of the whole range.
        """
        if isinstance(side, frozenset):
            return self._says_set(side) if side != self.everything else ""
        low, high = side
        if short:
            low, high = (-math.inf if low == self.low else low), (math.inf if high == self.high else high)
        return self._says_range(low, high, digits) if side != self.everything else ""

    def _says_range(self, low: float, high: float, digits: int) -> str:
        name = self.name
        if high == LEAST:
            return f"{name} is missing"
        if low == LEAST and high == math.inf:
            return f"{name} is not missing"
        last = high == self.high and not self.whole
        end = f"{'<=' if last else '<'} {self._written(high, digits)}" if high < math.inf else ""
        if low in (-math.inf, LEAST):
            return f"{name} {end}{' (or missing)' * (self.missing and low < LEAST)}"
        begin = self._written(low, digits)
        return f"{name} >= {begin}" if high == math.inf else f"{begin} <= {name} {end}"

    def _written(self, number: float, digits: int) -> str:
        """A number in its form."""
        if self.form == "date" and abs(number) < MOST_DAYS:
            return date.fromordinal(date(1970, 1, 1).toordinal() + math.ceil(number)).isoformat()
        if self.form == "clock":
            return f"{round(number * 60) // 60:02d}:{round(number * 60) % 60:02d}"
        return DAYS[math.ceil(number)] if self.form == "weekday" and number <= 6.0 else f"{number:.{digits}g}"

    def _says_set(self, side: frozenset[int]) -> str:
        everything = self.everything
        assert isinstance(everything, frozenset)
        can = {code for code in everything if code != MISSING or self.missing} - {NEW}
        within, without = sorted(can & side), sorted(can - side)
        if not within:
            return f"{self.name} is none of these" if NEW in side else f"{self.name} is missing"
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
        """Labels in their order, the missing one last; of many the first."""
        ordered = [code for code in codes if code >= 0] + [code for code in codes if code < 0]
        more = len(ordered) - LONGEST
        shown = ordered if more <= 1 else ordered[:LONGEST]
        return ", ".join(map(self.label, shown)) + (f" and {more} more" if more > 1 else "")


def columns_of(space: Space, names: Sequence[str] | None = None) -> tuple[Column, ...]:
    """The features of a space, called x, or x0, x1, ..., or by the names given.

    >>> from hsb.structures.spaces import Box
    >>> [column.name for column in columns_of(Box([18, 0], [90, 1]), names=["age", "spend"])]
    ['age', 'spend']
    """
    usual = ["x"] if space.features == 1 else [f"x{j}" for j in range(space.features)]
    called = usual if names is None else named(names, space.features)
    ends = [space.bounds(j, 0.0, 1.0) for j in range(space.features)]
    return tuple(
        Column(name, low=low, high=high, whole=isinstance(space, Cells)) for name, (low, high) in zip(called, ends, strict=True)
    )


def named(names: Sequence[str], count: int) -> list[str]:
    """Names for so many features, checked."""
    given = [names] if isinstance(names, str) else names
    listed = list(given) if isinstance(given, Iterable) else []
    if len(listed) != count or not all(isinstance(name, str) and name for name in listed) or len(set(listed)) != count:
        raise InputError(
            f"names needs {count} different name{'s' * (count > 1)}, one for each feature in order; given {quoted(names)}."
        )
    return listed


def coded(columns: Sequence[Column], points: Floats) -> Floats:
    """Rows with missing numbers as -inf, the others finite; codes that no label has as NEW, or MISSING where there is none."""
    table = np.array(points, dtype=np.float64)
    for j, column in enumerate(columns):
        values = table[:, j]
        gone = np.isnan(values)
        if column.kind == "number":
            table[:, j] = np.where(gone, -np.inf, np.clip(values, LEAST, -LEAST))
        else:
            if column.kind == "flag":
                values = np.where(values > 0.5, 1.0, 0.0)  # a tag's 2 is one that shares the place
            elif column.limit is not None:
                values = np.where(values >= column.limit, values - column.limit, values)
            most = 2 if column.kind == "flag" else len(column.labels)
            table[:, j] = np.where(gone, MISSING, np.where((values >= 0) & (values < most), np.floor(values), NEW))
    return table


def holds(side: Side, column: Column, values: Floats) -> NDArray[np.bool_]:
    """Which coded values lie in a side. The upper end of a column belongs to its last side."""
    if isinstance(side, frozenset):
        among = np.zeros(2 + max(2, len(column.labels)), dtype=bool)
        among[[code - MISSING for code in side]] = True
        return np.asarray(among[values.astype(np.int64) - MISSING])
    low, high = side
    return np.asarray((values >= low) & ((values < high) | (high == column.high)))


def inside(part: Part, columns: Sequence[Column], table: Floats) -> NDArray[np.bool_]:
    """Which rows of a coded table lie in a part."""
    held = np.ones(len(table), dtype=bool)
    for j, (side, column) in enumerate(zip(part, columns, strict=True)):
        if side != column.everything:
            held &= holds(side, column, table[:, j])
    return held


def plain(part: Part, columns: Sequence[Column] | None) -> list[Any]:
    """A part as plain data: [low, high] of numbers, None for no end; the labels of categories, or without columns their codes."""
    return [
        [code if columns is None else columns[j].label(code) for code in sorted(side, key=lambda code: (code < 0, code))]
        if isinstance(side, frozenset)
        else [None if math.isinf(end) else end for end in side]
        for j, side in enumerate(part)
    ]
