"""Parts of a table as raw rows: what `FeatureReader.look` would say of each row, whole columns at a time where that can be."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, quoted
from ..types import Floats
from .column_values import Numbers, Times, Values, Words, values_of
from .composite import parts_of
from .contexts import NAMED
from .declared import Features
from .feature import FeatureColumn, taken
from .reading import category_code, read_value
from .tables import ContextTable, Listed
from .values import CATEGORY, CYCLE, FLAG, NUMBER, TIME

if TYPE_CHECKING:
    from .reader import FeatureReader

Bools = NDArray[np.bool_]


def read_part(reader: "FeatureReader", table: ContextTable, start: int, stop: int) -> tuple[Floats, Bools]:
    """Raw rows (n, inputs) of rows start .. stop - 1 and which of them have something new."""
    n = stop - start
    raw, news = np.full((n, reader.inputs), math.nan), np.zeros(n, dtype=np.bool_)
    if n <= 0:
        return raw, news
    if isinstance(table, Listed):
        _one_by_one(reader, table, start, raw, news)
        return raw, news
    knowledge = reader.knowledge
    names = list(_from(start, knowledge.named, table.context(start))[1])
    if reader.features.open and knowledge.form is None:
        news[:] = True
    for name, values in zip(names, table.columns.values(), strict=True):
        column = knowledge.columns.get(name)
        missing = ColumnPart(reader, values, start, stop).fill(name, column, raw, news)
        if column is None or not column.missing:
            news |= missing
    if any(not column.missing and column.name not in names for column in knowledge.listed):
        news[:] = True
    return raw, news


def split_table(features: Features, table: ContextTable) -> ContextTable:
    """The table with columns of parts in the place of those of composites. Contexts that are kept as given are split when they are read."""
    names = list(table.columns) if table.form == NAMED else features.names
    if not features.composites or isinstance(table, Listed) or len(names) != len(table.columns):
        return table
    columns: dict[str, Values] = {}
    for name, values in zip(names, table.columns.values(), strict=True):
        new = {name: values}
        if name in features.composites:
            parts: dict[str, list[Any]] = {each: [] for each in parts_of(name, features.composites[name])}
            for t in range(table.rows):
                found = _from(t, features.split, {name: values.at(t)})
                for each, column in parts.items():
                    column.append(found.get(each))
            new = {each: values_of(column) for each, column in parts.items()}
        if clash := set(new) & set(columns):
            raise InputError(f"Feature {quoted(min(clash))} is given twice: once as a part. Leave one of them out.")
        columns |= new
    return ContextTable(NAMED, columns, table.rows)


def _one_by_one(reader: "FeatureReader", table: ContextTable, start: int, raw: Floats, news: Bools) -> None:
    for t in range(len(raw)):
        raw[t], news[t] = _from(start + t, reader.look, table.context(start + t))


def _from(t: int, read: Any, *given: Any) -> Any:
    """Read something of row t; where it is refused, say so."""
    try:
        return read(*given)
    except InputError as error:
        raise InputError(f"Row {t}: {error}") from None


class ColumnPart:
    """Rows start .. stop - 1 of a column."""

    def __init__(self, reader: "FeatureReader", values: Values, start: int, stop: int) -> None:
        self.knowledge, self.values, self.start, self.rows = reader.knowledge, values, start, slice(start, stop)
        self.text = reader.features.limits["text"]

    def fill(self, name: str, column: FeatureColumn | None, raw: Floats, news: Bools) -> Bools:
        """Fill the column's inputs; which values are missing?"""
        values, kind = self.values, None if column is None else column.kind
        if column is None or kind is None:
            return self._unknown(name, column, raw, news)
        if isinstance(values, Numbers) and kind in (NUMBER, FLAG, CYCLE) and (values.kind == FLAG) == (kind == FLAG):
            return self._numbers(values, column, raw)
        if isinstance(values, Words) and kind == CATEGORY:
            return self._words(values, column, raw, news)
        if isinstance(values, Numbers) and kind == CATEGORY and column.declared:
            return self._codes(column, raw, news)
        if isinstance(values, Times) and kind == TIME:
            return self._times(values, column, raw, news)
        return self._each(name, column.inputs, raw, news)

    def _unknown(self, name: str, column: FeatureColumn | None, raw: Floats, news: Bools) -> Bools:
        """A feature of which nothing, or only that it was missing, is known: all that it has is new, and there is no input for it."""
        values = self.values
        if isinstance(values, Numbers):
            missing = np.isnan(values.floats[self.rows])
        elif isinstance(values, Words):
            missing = values.codes[self.rows] < 0
            self._meanings(values, column or FeatureColumn(name))
        else:
            return self._each(name, [], raw, news)
        news |= True if column is None else ~missing
        return missing

    def _each(self, name: str, inputs: list[int], raw: Floats, news: Bools) -> Bools:
        """One by one."""
        missing = np.zeros(len(raw), dtype=np.bool_)
        for t in range(len(raw)):
            row = [math.nan] * raw.shape[1]
            new, missing[t] = _from(self.start + t, read_value, self.knowledge, name, self.values.at(self.start + t), row)
            news[t] |= new
            for s in inputs:
                raw[t, s] = row[s]
        return missing

    def _numbers(self, values: Numbers, column: FeatureColumn, raw: Floats) -> Bools:
        x = values.floats[self.rows]
        if column.kind == CYCLE:
            strange = np.isinf(x)
            if strange.any():
                t = int(np.argmax(strange))
                _from(self.start + t, taken, column, float(x[t]), self.text)
            x = np.remainder(x, column.period)
            x[x == column.period] = 0.0
        raw[:, column.inputs[0]] = x
        return np.isnan(x)

    def _words(self, values: Words, column: FeatureColumn, raw: Floats, news: Bools) -> Bools:
        return _write(column, self._meanings(values, column), raw, news)

    def _meanings(self, values: Words, column: FeatureColumn) -> Floats:
        """The raw values of text; NaN where it is missing. Each word is looked up once."""
        given = values.codes[self.rows]
        few = len(values.words) <= len(given)
        different, back = (np.arange(len(values.words)), given) if few else np.unique(given, return_inverse=True)
        meant = np.full(len(different) + 1, math.nan)  # the last is that of -1, where all words are looked up
        codes, full, limit = column.codes, column.full, column.limit
        for i, code in enumerate(different.tolist()):
            if code >= 0:
                word = values.words[code]
                if len(word) > self.text and (where := np.flatnonzero(given == code)).size:
                    _from(self.start + int(where[0]), taken, column, word, self.text)  # refused there
                meant[i] = codes[word] if word in codes else limit + values.hash(code) % limit if full else -1.0
        return np.asarray(meant[back.reshape(-1)])

    def _codes(self, column: FeatureColumn, raw: Floats, news: Bools) -> Bools:
        """Numbers and flags as categories, by their text."""
        seen: dict[Any, float] = {}
        row = np.full(len(raw), math.nan)
        for t in range(len(raw)):
            value = self.values.at(self.start + t)
            if value is not None and value == value:
                key = (type(value), value)
                if key not in seen:
                    seen[key] = category_code(column, _from(self.start + t, taken, column, value, self.text)[1])
                row[t] = seen[key]
        return _write(column, row, raw, news)

    def _times(self, values: Times, column: FeatureColumn, raw: Floats, news: Bools) -> Bools:
        missing: Bools = np.isnat(values.given[self.rows])
        for part, x in values.parts.items():
            if part in column.codes:
                raw[:, int(column.codes[part])] = x[self.rows]
            else:
                news |= ~missing
        return missing


def _write(column: FeatureColumn, codes: Floats, raw: Floats, news: Bools) -> Bools:
    raw[:, column.inputs[0]] = codes
    news |= codes < 0.0
    return np.isnan(codes)
