"""Parts of a table as raw rows: equal to reading the rows one by one."""

import contextlib
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsb.errors import InputError
from hsb.features import Category, Cycle, FeatureReader, Features, Flag, Number, Tags, Time

NAN = float("nan")
COLUMNS = {
    "n": [1.0, 2.5, None, -1.0, float("inf"), 2.0],
    "i": [1, 2, 3, 4, 5, 6],
    "c": ["a", "b", None, "a", "c", ""],
    "f": [True, None, False, True, True, False],
    "w": [datetime(2024, 1, 1, 5, 30), datetime(1969, 12, 31, 23, 59, 59, 999999), None, *[datetime(2024, 2, 29)] * 3],
    "d": [date(2024, 1, 1), None, *[date(1960, 5, 5)] * 4],
    "t": [["x"], ["x", "y"], [], None, ["z"], ["y"]],
    "h": [1, 25, -1e-30, 24, 0, 1000.5],
    "z": [7, 7, 8, 9, 7, 7],
}
DECLARED = Features(
    n=Number(), i=Number(), c=Category(limit=2), f=Flag(), w=Time(), d=Time(), t=Tags(limit=2), h=Cycle(24), z=Category()
)
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
MOMENTS = np.array(["2024-01-01T05:30:01.123456789", "NaT", "1960-02-29T01"], dtype="M8[ns]")
TABLES = {
    "dicts": lambda: ROWS,
    "an iterator": lambda: iter(ROWS),
    "columns": lambda: COLUMNS,
    "arrays": lambda: {"n": np.array([1.0, 2.5, NAN]), "i": np.arange(3), "c": np.array(["a", "b", "a"]), "f": np.array([True, False, True])},
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas, nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas, categories": lambda: pd.DataFrame({"c": pd.Categorical(["a", None, "b"]), "z": pd.Categorical([1, 2, 1])}),
    "polars": lambda: pl.DataFrame(COLUMNS, strict=False),
    "pyarrow": lambda: pa.table(COLUMNS),
    "a batch": lambda: pa.table(COLUMNS).to_batches()[0],
    "structured": lambda: np.array([(1.0, "a", 3), (2.0, "b", 30)], dtype=[("n", "f4"), ("c", "U3"), ("h", "i2")]),
    "times": lambda: {"w": MOMENTS, "d": MOMENTS.astype("M8[M]")},
    "zones": lambda: pd.DataFrame({"w": pd.to_datetime(["2024-01-01T05:30"] * 2).tz_localize("Asia/Tokyo")}),
    "nothing": list,
}  # fmt: skip
UNNAMED = {
    "a matrix": lambda: np.array([[1.0, 2.0], [NAN, 3.0], [4.0, 5.0]]),
    "whole numbers": lambda: np.arange(6).reshape(3, 2),
    "objects": lambda: np.array([[1, "a"], [2.0, None], [None, "b"]], dtype=object),
    "text": lambda: np.array([["a", "b"], ["b", "b"]]),
    "lists": lambda: [[1, "a"], [2.5, "b"], [None, None]],
    "rows": lambda: [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
    "mixed": lambda: [[True, "a"], (None, "b"), [False, NAN]],
    "numbers": lambda: [1, 2.5, 3],
    "an array": lambda: np.array([0.5, NAN, 0.25], dtype=np.float32),
    "masked": lambda: np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[True, False], [False, False]]),
}


def same_as_rows(reader, table):
    """`read_part` of the whole and of pieces, against `look` at every row."""
    raws, unseen = reader.read_part(table, 0, table.rows)
    assert raws.shape == (table.rows, reader.inputs) and raws.dtype == np.float64 and unseen.shape == (table.rows,)
    for t in range(table.rows):
        raw, new = reader.look(table.context(t))
        assert np.array_equal(raws[t], raw, equal_nan=True), (t, table.context(t))
        assert unseen[t] == new, (t, table.context(t))
        part, again = reader.read_part(table, t, t + 1)
        assert np.array_equal(part[0], raw, equal_nan=True) and again[0] == new


@pytest.mark.parametrize("name", [*TABLES, *UNNAMED])
def test_tables_equal_rows(name):
    make = TABLES.get(name) or UNNAMED[name]
    holders = [Features(), DECLARED] if name in TABLES else [Features()]
    for features in holders:
        reader = FeatureReader(features)
        table = reader.table(make())
        same_as_rows(reader, table)
        for t in range(table.rows):
            reader.admit(table.context(t))
            same_as_rows(reader, table)
        assert not reader.read_part(table, 0, table.rows)[1].any()


@pytest.mark.parametrize("name", ["columns", "pandas", "pandas, nullable", "polars", "pyarrow", "a batch"])
def test_holders_of_the_same_table_read_the_same(name):
    reader, twin = FeatureReader(DECLARED), FeatureReader(DECLARED)
    table, rows = reader.table(TABLES[name]()), twin.table(ROWS)
    for t in range(len(ROWS)):
        reader.admit(table.context(t))
        twin.admit(rows.context(t))
    assert reader == twin
    assert np.array_equal(reader.read_part(table, 0, 6)[0], twin.read_part(rows, 0, 6)[0], equal_nan=True)


VALUE = (
    st.none()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.booleans()
    | st.sampled_from(["a", "b", "c"])
    | st.just(Decimal("1.5"))
)
COLUMN = st.one_of(
    *[st.lists(v, min_size=5, max_size=5) for v in (VALUE, st.floats(), st.sampled_from(["a", None, NAN, "b"]), st.datetimes())]
)
EITHER = [Features(), Features(a=Category(limit=2), b=Number(), c=Cycle(5))]


@given(
    st.dictionaries(st.sampled_from("abc"), COLUMN, min_size=1),
    st.lists(st.integers(0, 4), max_size=3),
    st.sampled_from(EITHER),
)
def test_any_columns_equal_their_rows(columns, admitted, features):
    reader = FeatureReader(features)
    table = reader.table(columns)
    for t in admitted:
        with contextlib.suppress(InputError):
            reader.admit(table.context(t))
    refused = ""
    try:
        reader.read_part(table, 0, 5)
    except InputError as error:
        refused = str(error)
    if not refused:
        return same_as_rows(reader, table)
    row, _, _ = refused.removeprefix("Row ").partition(": ")
    with pytest.raises(InputError):
        reader.read(table.context(int(row)))
    return None


def test_errors_name_the_row_and_the_feature():
    reader = FeatureReader(Features())
    reader.admit({"a": 1.0, "b": "x"})
    before = reader.copy()
    table = reader.table({"a": [1.0, "x", 2.0], "b": ["x", "y", "z" * 300]})
    with pytest.raises(InputError, match="Row 1: Feature 'a'"):
        reader.read_part(table, 0, 3)
    with pytest.raises(InputError, match="Row 2: Feature 'b'"):
        reader.read_part(table, 2, 3)
    with pytest.raises(InputError, match="Row 7: Feature 'c'"):
        reader.read_part(reader.table([{"c": 1}] * 7 + [{"c": 1j}]), 0, 8)
    with pytest.raises(InputError, match="Row 0: So far"):
        reader.read_part(reader.table([[1, 2]]), 0, 1)
    cyclic = FeatureReader(Features(h=Cycle(24)))
    with pytest.raises(InputError, match="Row 2: Feature 'h' is a Cycle"):
        cyclic.read_part(cyclic.table({"h": [1, 2, float("inf")]}), 0, 3)
    assert reader == before
