"""Columns of whatever a source gives, to numbers, labels and times."""

import math

import numpy as np
import pytest

from hsb.logs.values import Coded, encode_labels, identity, labels, numbers, times, truths


@pytest.mark.parametrize(
    "column", [[1, 2.5, 3], ["1", "2.5", "3"], np.array([1, 2.5, 3]), np.array(["1", "2.5", "3"])], ids=str
)
def test_numbers_however_they_are_written(column):
    assert numbers(column).tolist() == [1.0, 2.5, 3.0]


def test_what_is_no_number_is_nan():
    assert np.isnan(numbers(["x", "", None])).all() and np.isnan(truths(["maybe", None])).all()


def test_truths():
    assert truths(["True", "false", "1", 0, True]).tolist() == [1, 0, 1, 0, 1]


def test_labels_are_as_they_are():
    assert labels(["a", 3.0, None, math.nan, "", 7]) == ["a", 3, None, None, None, 7]


def test_a_coded_column_is_its_values():
    column = Coded(np.array([1, 0, -1, 1]), ["a", "b"])
    assert list(column) == ["b", "a", None, "b"] and len(column) == 4
    result = encode_labels(["x", "y", "x", None])
    assert result.values == ["x", "y"] and result.codes.tolist() == [0, 1, 0, -1]


def test_equal_ids_are_one_and_others_are_not():
    assert identity("order-1") == identity("order-1") != identity("order-2")
    assert len({identity(label) for label in (1, "1", True, 1.5, -1)}) >= 4


def test_times_are_seconds():
    result, bad = times(["1970-01-01 00:01:00+00:00", "61.5", "", "soon"])
    assert result[:2].tolist() == [60.0, 61.5] and np.isnan(result[2:]).all() and bad.tolist() == [False, False, False, True]
