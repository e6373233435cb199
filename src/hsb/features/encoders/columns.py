"""Columns of a table by name, of mixed kinds and with missing values, as numbers."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ...engine.kernels.inputs import CELLS, RECENT, SAMPLE
from ...errors import InputError, quoted
from ...types import Floats
from .. import FeatureReader, Features
from ..tables import ContextTable
from .base import Encoder, Head

ROWS = 4096  # encoded at once


class Columns(Encoder):
    """Encodes mixed columns with missing values as numbers, as HSB without a structure sees them (`docs/contexts.md`).

    A number is standardised: its distance from the mean in standard deviations. Each category, true and false, and "is missing" have an
    indicator, 0 or 1. Means, deviations and categories are those of the head; a category that the head lacks is 0 everywhere.

    `features`: the declaration of the columns; None: inferred from the head. Logs of `hsb.logs` are read by name: columns may come in any
    order, others are left out, and a log without one of them raises `InputError`.
    `hsb.learn_from`, `hsb.replay` and `hsb.evaluate.off_policy` take it as `context=`.

    >>> import hsb.features.encoders
    >>> shop = {"country": ["FR", "DE", "FR"], "age": [30, None, 40]}
    >>> encoder = Columns().fit(shop)
    >>> encoder.names, encoder.transform({"age": [40, None], "country": ["DE", "IT"]})
    (['age', 'country=FR', 'age is missing', 'country=DE'], array([[1., 0., 0., 1.],
           [0., 0., 1., 0.]]))
    """

    def __init__(self, features: Features | None = None) -> None:
        super().__init__()
        if features is not None and not isinstance(features, Features):
            raise InputError(f"Columns takes hsb.Features(age=hsb.Number(), ...), or nothing; given {quoted(features)}.")
        self._reader = FeatureReader(Features() if features is None else features)

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return self._reader.named_columns

    @property
    def declared(self) -> Features:
        """The declaration of the columns, empty if they are inferred from the head."""
        return self._reader.features

    @property
    def names(self) -> list[str]:
        """The names of the numbers of a context."""
        return self._reader.column_names[1:]

    def fit(self, head: Head) -> Self:
        """Fit to a table, named columns or rows, or the head of a log. Raises `InputError` for fewer than two rows."""
        reader, rows = FeatureReader(self._reader.features), 0
        for table in self.parts(head):
            _learn(reader, _select(reader, table))
            rows += len(table)
        if rows < 2:
            raise InputError(f"Columns needs at least 2 rows to be fitted on; given {rows}.")
        reader.refit()
        self._reader, self.features, self.clipped = reader, len(reader.knowledge.listed), 0
        return self

    def transform(self, rows: Any) -> Floats:
        """Return the contexts of a table, an array with a column for each of `names`. The table has columns by name, or rows if fitted so."""
        if not self.features:
            raise InputError("This Columns has not been fitted. Call fit(head) first.")
        reader = self._reader
        table = _select(reader, reader.table(rows))
        encoded = np.empty((table.rows, reader.columns))
        for start in range(0, table.rows, ROWS):
            raw, _ = reader.read_part(table, start, min(start + ROWS, table.rows))
            z, cells = np.empty((len(raw), reader.columns)), np.empty((len(raw), reader.trees), dtype=np.int64)
            reader.encode_rows(np.ascontiguousarray(raw), z, cells)
            encoded[start : start + len(raw)] = z
        return encoded[:, 1:]

    __call__ = transform

    def parts(self, head: Any) -> Iterable[ContextTable]:
        """Yield the tables of a head; those of a log are its batches by name."""
        if hasattr(head, "by_name"):
            head = head.by_name()
        is_batches = hasattr(head, "head") and hasattr(head, "arms")
        if isinstance(head, list | tuple) and len(head):
            is_batches = hasattr(head[0], "contexts") or getattr(head[0], "ndim", 0) == 2
        for part in head if is_batches else [head]:
            named = getattr(part, "named", None)
            yield self._reader.table(getattr(part, "contexts", part) if named is None else named)

    def _transform(self, table: ArrayLike) -> Floats:
        return self.transform(table)

    def _plain(self) -> dict[str, Any]:
        arrays = self._reader.arrays()
        return {"reader": self._reader.to_dict(), **{name: arrays[name].tolist() for name in ("counts", "moments")}}

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        """Restore an encoder. The edges for trees and the sample of the head are not stored."""
        inputs, counts = len(data["moments"]), np.array(data["counts"], dtype=np.int64)
        moments = np.array(data["moments"], dtype=np.float64) if inputs else FeatureReader(Features()).arrays()["moments"]
        none = np.zeros(inputs, dtype=np.int64)
        kept = {"counts": counts, "moments": moments, "cuts": none, "coarse": none}
        unused = {"edges": np.zeros((inputs, CELLS - 1)), "ranges": np.zeros((inputs, 4)), "recent": np.zeros((inputs, RECENT))}
        unused |= {"sample": np.zeros((min(int(counts[0]), SAMPLE), inputs))}
        encoder = cls()
        encoder._reader = FeatureReader.restore(data["reader"], {**kept, **unused})
        encoder.features = len(encoder._reader.knowledge.listed) if int(counts[0]) else 0
        return encoder


def _select(reader: FeatureReader, table: ContextTable) -> ContextTable:
    """Return the columns that a reader knows, or all in the order of their names. Raises `InputError` if one is missing."""
    known = reader.named_columns
    if known is None or table.form != "named" or not table.columns:
        return table
    if lacking := [name for name in known if name not in table.columns]:
        raise InputError(f"Columns was fitted on {', '.join(known)}; the table has no {', '.join(lacking)}.")
    return table.select(known or sorted(table.columns))


def _learn(reader: FeatureReader, table: ContextTable) -> None:
    """Admit and observe all rows of a table."""
    start = 0
    while start < table.rows:
        raw, news = reader.read_part(table, start, min(start + ROWS, table.rows))
        known = int(np.argmax(news)) if news.any() else len(raw)
        if known:
            reader.observe_rows(np.ascontiguousarray(raw[:known]))
        start += known
        if known < len(raw):
            reader.admit(table.context(start))
