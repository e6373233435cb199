"""Parts of a table as raw rows: the results of `FeatureReader.look`, computed by whole columns if possible."""

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
from .feature import FeatureColumn, coerce
from .reading import category_code, read_value
from .tables import ContextTable, Listed
from .values import CATEGORY, CYCLE, FLAG, NUMBER, TIME

if TYPE_CHECKING:
    from .reader import FeatureReader

Bools = NDArray[np.bool_]


def read_part(reader: "FeatureReader", table: ContextTable, start: int, stop: int) -> tuple[Floats, Bools]:
    """Return the raw rows (n, inputs) of rows start .. stop - 1, and a mask of those with an unseen value."""
    n = stop - start
    raw, unseen = np.full((n, reader.inputs), math.nan), np.zeros(n, dtype=np.bool_)
    if n <= 0:
        return raw, unseen
    if isinstance(table, Listed):
        _one_by_one(reader, table, start, raw, unseen)
        return raw, unseen
    knowledge = reader.knowledge
    names = list(_from(start, knowledge.named_values, table.context(start))[1])
    if reader.features.open and knowledge.form is None:
        unseen[:] = True
    for name, values in zip(names, table.columns.values(), strict=True):
        column = knowledge.columns.get(name)
        missing = ColumnPart(reader, values, start, stop).fill(name, column, raw, unseen)
        if column is None or not column.missing:
            unseen |= missing
    if any(not column.missing and column.name not in names for column in knowledge.listed):
        unseen[:] = True
    return raw, unseen


def split_table(features: Features, table: ContextTable) -> ContextTable:
    """Return the table with the columns of parts instead of composites. A `Listed` table is unchanged: its contexts are split when read."""
    names = list(table.columns) if table.form == NAMED else features.names
    if not features.composites or isinstance(table, Listed) or len(names) != len(table.columns):
        return table
    columns: dict[str, Values] = {}
    for name, values in zip(names, table.columns.values(), strict=True):
        new = {name: values}
        if name in features.composites:
            parts: dict[str, list[Any]] = {part: [] for part in parts_of(name, features.composites[name])}
            for t in range(table.rows):
                context = _from(t, features.split, {name: values.at(t)})
                for part, column in parts.items():
                    column.append(context.get(part))
            new = {part: values_of(column) for part, column in parts.items()}
        if clash := set(new) & set(columns):
            raise InputError(f"Feature {quoted(min(clash))} is given twice: once as a part. Leave one of them out.")
        columns |= new
    return ContextTable(NAMED, columns, table.rows)


def _one_by_one(reader: "FeatureReader", table: ContextTable, start: int, raw: Floats, unseen: Bools) -> None:
    for t in range(len(raw)):
        raw[t], unseen[t] = _from(start + t, reader.look, table.context(start + t))


def _from(t: int, read: Any, *arguments: Any) -> Any:
    """Call `read` for row t; an `InputError` then names the row."""
    try:
        return read(*arguments)
    except InputError as error:
        raise InputError(f"Row {t}: {error}") from None


class ColumnPart:
    """Rows start .. stop - 1 of a column."""

    def __init__(self, reader: "FeatureReader", values: Values, start: int, stop: int) -> None:
        self.knowledge, self.values, self.start, self.rows = reader.knowledge, values, start, slice(start, stop)
        self.text = reader.features.limits["text"]

    def fill(self, name: str, column: FeatureColumn | None, raw: Floats, unseen: Bools) -> Bools:
        """Fill the column's inputs, and return a mask of missing values."""
        values, kind = self.values, None if column is None else column.kind
        if column is None or kind is None:
            return self._unknown(name, column, raw, unseen)
        if isinstance(values, Numbers) and kind in (NUMBER, FLAG, CYCLE) and (values.kind == FLAG) == (kind == FLAG):
            return self._numbers(values, column, raw)
        if isinstance(values, Words) and kind == CATEGORY:
            return self._words(values, column, raw, unseen)
        if isinstance(values, Numbers) and kind == CATEGORY and column.declared:
            return self._codes(column, raw, unseen)
        if isinstance(values, Times) and kind == TIME:
            return self._times(values, column, raw, unseen)
        return self._each(name, column.inputs, raw, unseen)

    def _unknown(self, name: str, column: FeatureColumn | None, raw: Floats, unseen: Bools) -> Bools:
        """Fill in a feature without a known kind: all of its values are unseen, and it has no input."""
        values = self.values
        if isinstance(values, Numbers):
            missing = np.isnan(values.floats[self.rows])
        elif isinstance(values, Words):
            missing = values.codes[self.rows] < 0
            self._meanings(values, column or FeatureColumn(name))
        else:
            return self._each(name, [], raw, unseen)
        unseen |= True if column is None else ~missing
        return missing

    def _each(self, name: str, inputs: list[int], raw: Floats, unseen: Bools) -> Bools:
        """Read the values one by one."""
        missing = np.zeros(len(raw), dtype=np.bool_)
        for t in range(len(raw)):
            row = [math.nan] * raw.shape[1]
            new, missing[t] = _from(self.start + t, read_value, self.knowledge, name, self.values.at(self.start + t), row)
            unseen[t] |= new
            for s in inputs:
                raw[t, s] = row[s]
        return missing

    def _numbers(self, values: Numbers, column: FeatureColumn, raw: Floats) -> Bools:
        x = values.floats[self.rows]
        if column.kind == CYCLE:
            strange = np.isinf(x)
            if strange.any():
                t = int(np.argmax(strange))
                _from(self.start + t, coerce, column, float(x[t]), self.text)
            x = np.remainder(x, column.period)
            x[x == column.period] = 0.0
        raw[:, column.inputs[0]] = x
        return np.isnan(x)

    def _words(self, values: Words, column: FeatureColumn, raw: Floats, unseen: Bools) -> Bools:
        return _write(column, self._meanings(values, column), raw, unseen)

    def _meanings(self, values: Words, column: FeatureColumn) -> Floats:
        """Return the raw values of text, NaN for missing text. Each word is looked up once."""
        rows = values.codes[self.rows]
        few = len(values.words) <= len(rows)
        different, back = (np.arange(len(values.words)), rows) if few else np.unique(rows, return_inverse=True)
        meant = np.full(len(different) + 1, math.nan)  # the last entry is that of code -1
        codes, full, limit = column.codes, column.full, column.limit
        for i, code in enumerate(different.tolist()):
            if code >= 0:
                word = values.words[code]
                if len(word) > self.text and (where := np.flatnonzero(rows == code)).size:
                    _from(self.start + int(where[0]), coerce, column, word, self.text)  # raises
                meant[i] = codes[word] if word in codes else limit + values.hash(code) % limit if full else -1.0
        return np.asarray(meant[back.reshape(-1)])

    def _codes(self, column: FeatureColumn, raw: Floats, unseen: Bools) -> Bools:
        """Fill in numbers and flags as categories, by their text."""
        seen: dict[Any, float] = {}
        row = np.full(len(raw), math.nan)
        for t in range(len(raw)):
            value = self.values.at(self.start + t)
            if value is not None and value == value:
                key = (type(value), value)
                if key not in seen:
                    seen[key] = category_code(column, _from(self.start + t, coerce, column, value, self.text)[1])
                row[t] = seen[key]
        return _write(column, row, raw, unseen)

    def _times(self, values: Times, column: FeatureColumn, raw: Floats, unseen: Bools) -> Bools:
        missing: Bools = np.isnat(values.original[self.rows])
        for part, x in values.parts.items():
            if part in column.codes:
                raw[:, int(column.codes[part])] = x[self.rows]
            else:
                unseen |= ~missing
        return missing


def _write(column: FeatureColumn, codes: Floats, raw: Floats, unseen: Bools) -> Bools:
    raw[:, column.inputs[0]] = codes
    unseen |= codes < 0.0
    return np.isnan(codes)
