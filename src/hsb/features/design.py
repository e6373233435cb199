"""Design matrices of named features for a linear model fitted in one pass: the same columns for every part of a table."""

import numpy as np

from ..types import Floats
from .column_values import Numbers, Times, Words
from .feature import stable
from .tables import ContextTable

BUCKETS = 8  # columns for the categories of a feature, which share them by a hash of their text


def design_matrix(table: ContextTable) -> Floats:
    """Return numbers, flags and times as they are, 0 for missing ones, each with an indicator of missing; categories as hashed one-hot columns.

    The number of columns depends only on the kinds of the table's columns. Other kinds are left out.

    >>> from hsb.features.tables import table_of
    >>> design_matrix(table_of({"age": [31, None], "member": [True, False]}))
    array([[31.,  0.,  1.,  0.],
           [ 0.,  1.,  0.,  0.]])
    >>> design_matrix(table_of({"country": ["FR", None]})).sum(axis=1)
    array([1., 0.])
    """
    columns: list[Floats] = []
    for values in table.columns.values():
        if isinstance(values, Numbers):
            columns += _numbers(values.floats)
        elif isinstance(values, Times):
            for part in ("day", "hour", "weekday"):
                columns += _numbers(values.parts[part]) if part in values.parts else []
        elif isinstance(values, Words):
            buckets = np.array([*(stable(word) % BUCKETS for word in values.words), BUCKETS], dtype=np.int64)
            columns += list(np.eye(BUCKETS + 1)[:, buckets[values.codes]][:BUCKETS])
    return np.column_stack(columns) if columns else np.zeros((table.rows, 0))


def _numbers(values: Floats) -> list[Floats]:
    bad = ~np.isfinite(values)
    return [np.where(bad, 0.0, values), bad.astype(np.float64)]
