"""Columns that are no features but names of single things: postcodes, users, orders."""

from typing import Any

import numpy as np

from .column_values import Words
from .reader import FeatureReader
from .tables import ContextTable

MOST_COUNTED = 1_000_000  # categories of a column
TOLD = 0.5  # of a column's rows must have a category that is told apart


class CategoryCounts:
    """How many categories each column of text has, and in how many rows they are told apart, as a table is learned in parts.

    >>> from hsb.features import Category, Features
    >>> reader, counts = FeatureReader(Features(zip=Category(limit=2))), CategoryCounts()
    >>> table = reader.table({"zip": ["a", "b", "c", "d", "e", "f"]})
    >>> _ = [reader.admit(table.context(t)) for t in range(6)]
    >>> counts.add(table, reader)
    >>> counts.warnings()[0][:54]
    "Leave out the column 'zip', or group it, e.g. by its f"
    """

    def __init__(self) -> None:
        self._names: dict[str, set[int]] = {}
        self._rows: dict[str, list[int]] = {}  # all, and those that are told apart
        self._told: dict[str, int] = {}

    def add(self, table: ContextTable, reader: FeatureReader) -> None:
        """Count rows that the reader has admitted."""
        for name, values in table.columns.items():
            column = reader.knowledge.columns.get(name)
            if not isinstance(values, Words) or column is None:
                continue
            codes, counts = np.unique(values.codes[values.codes >= 0], return_counts=True)
            told = np.array([values.words[code] in column.codes for code in codes.tolist()], dtype=np.bool_)
            rows, names = self._rows.setdefault(name, [0, 0]), self._names.setdefault(name, set())
            rows[0] += int(counts.sum())
            rows[1] += int(counts[told].sum())
            self._told[name] = len(column.codes)
            if len(names) < MOST_COUNTED:
                names.update(map(values.hash, codes.tolist()))

    def warnings(self) -> list[str]:
        """A sentence for each column of which most rows have categories that share their places with others."""
        return [
            f"Leave out the column '{name}', or group it, e.g. by its first characters: of its {len(self._names[name]):,} categories in "
            f"{rows:,} rows {self._told[name]:,} are told apart, those of {told / rows:.1%} of the rows; others share what is learned."
            for name, (rows, told) in self._rows.items()
            if len(self._names[name]) > self._told[name] and told < TOLD * rows
        ]

    def of(self, given: Any, learner: Any) -> None:
        """`add`, where both are what they must be."""
        reader = getattr(learner, "reader", None)
        if isinstance(given, ContextTable) and isinstance(reader, FeatureReader):
            self.add(given, reader)
