"""Detection of columns that are identifiers rather than features: postcodes, users, orders."""

from typing import Any

import numpy as np

from .column_values import Words
from .reader import FeatureReader
from .tables import ContextTable

MOST_COUNTED = 1_000_000  # categories of a column
MOST_SHARED = 0.5  # of a column's rows may have a category that shares its column with others


class CategoryCounts:
    """Counts, part by part of a table, of each text column's categories and of the rows whose category is distinct.

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
        self._rows: dict[str, list[int]] = {}  # all rows, and those with a distinct category
        self._distinct: dict[str, int] = {}

    def add(self, table: ContextTable, reader: FeatureReader) -> None:
        """Count rows that the reader has admitted."""
        for name, values in table.columns.items():
            column = reader.knowledge.columns.get(name)
            if not isinstance(values, Words) or column is None:
                continue
            codes, counts = np.unique(values.codes[values.codes >= 0], return_counts=True)
            distinct = np.array([values.words[code] in column.codes for code in codes.tolist()], dtype=np.bool_)
            rows, names = self._rows.setdefault(name, [0, 0]), self._names.setdefault(name, set())
            rows[0] += int(counts.sum())
            rows[1] += int(counts[distinct].sum())
            self._distinct[name] = len(column.codes)
            if len(names) < MOST_COUNTED:
                names.update(map(values.hash, codes.tolist()))

    def warnings(self) -> list[str]:
        """Return a sentence for each column of which most rows have a category that shares its column with others."""
        return [
            f"Leave out the column '{name}', or group it, e.g. by its first characters: of its {len(self._names[name]):,} categories in "
            f"{rows:,} rows {self._distinct[name]:,} are distinct, those of {distinct / rows:.1%} of the rows; the others share their updates."
            for name, (rows, distinct) in self._rows.items()
            if len(self._names[name]) > self._distinct[name] and distinct < (1.0 - MOST_SHARED) * rows
        ]

    def add_if_named(self, contexts: Any, learner: Any) -> None:
        """Call `add` if the contexts are a table and the learner has a reader."""
        reader = getattr(learner, "reader", None)
        if isinstance(contexts, ContextTable) and isinstance(reader, FeatureReader):
            self.add(contexts, reader)
