"""Rows as data frames."""

import pandas as pd
import pytest

import hsb
from hsb.data_frame import data_frame


def test_dicts_and_tuples_make_the_same_frame():
    dicts = data_frame([{"a": 1, "b": 2.5}, {"a": 3, "b": None}])
    tuples = data_frame([(1, 2.5), (3, None)], ["a", "b"])
    pd.testing.assert_frame_equal(dicts, tuples)
    assert list(data_frame([], ["a", "b"]).columns) == ["a", "b"]


def test_without_pandas_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(hsb.InputError, match="pip install pandas"):
        data_frame([{"a": 1}])
