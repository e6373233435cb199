"""One column of a table, in the form that is quickest to read; none changes what a value is."""

import datetime
import math

import numpy as np
import pytest

from hsb.features.column_values import Numbers, Objects, Times, Words, values_of

COLUMNS = [
    ([1, 2.5, None], Numbers),
    ([True, None, False], Numbers),
    (["a", None, "b", "a"], Words),
    ([datetime.datetime(2026, 3, 1, 12), None, datetime.datetime(2025, 1, 1)], object),
    ([1, "a", None, True], Objects),
    (np.array(["2026-03-01", "NaT"], dtype="datetime64[s]"), Times),
]


def same(one, other):
    return one == other or (isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize(("given", "kind"), COLUMNS, ids=lambda value: getattr(value, "__name__", ""))
def test_values_come_back_as_they_were_given(given, kind):
    column = values_of(given)
    assert isinstance(column, kind)
    missing = column.missing()
    for t, value in enumerate(given):
        gone = value is None or (isinstance(value, np.datetime64) and np.isnat(value))
        assert missing[t] == gone
        assert gone or same(column.at(t), value)


@pytest.mark.parametrize(("given", "kind"), COLUMNS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("rows", [slice(1, None), np.array([1, 0])], ids=["slice", "indices"])
def test_some_of_the_rows(given, kind, rows):
    column, indices = values_of(given), np.arange(len(given))[rows]
    part = column.take(rows)
    for k, t in enumerate(indices):
        assert part.missing()[k] == column.missing()[t]
        assert column.missing()[t] or part.at(k) == column.at(t)
