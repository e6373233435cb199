"""Keys of contexts: every code by hand."""

import math

import numpy as np
import pytest

from hsb.engine.kernels import keys

HERE = np.array([[0.3, 0.9]])
ENDS = np.zeros(2), np.ones(2)
CODES = {
    "path of one feature: cell 2 of 8": ([keys.PATH, 1, 0, 2, 3, 1, 62], [0b010 << 59]),
    "path of two features in turn: 0, 1, 1": ([keys.PATH, 2, 0, 1, 2, 3, 1, 62], [0b011 << 59]),
    "path in thirds: digits 2 and 2 of two bits": ([keys.PATH, 1, 1, 3, 2, 2, 31], [0b1010 << 58]),
    "path of two words, two digits in each: 0, 1, 1": ([keys.PATH, 2, 0, 1, 2, 3, 1, 2], [0b01, 0b10]),
    "number of a leaf in thirds: 0 * 3 + 2": ([keys.NUMBER, 2, 0, 1, 3, 2], [2]),
    "number of two features in turn: 0, 1, 1": ([keys.NUMBER, 2, 0, 1, 2, 3], [3]),
    "cells of the second feature": ([keys.CELLS, 1, 1, 7], [6]),
    "grid, the first feature counting most: 1, 1": ([keys.GRID, 2, 1, 0, 1, 2], [0b101]),
    "no key": ([keys.NOTHING, 0], [0]),
}


@pytest.mark.parametrize(("code", "words"), CODES.values(), ids=CODES)
def test_a_key_is_what_a_hand_computes(code, words):
    table, key = np.zeros((1, 5), dtype=np.int64), np.zeros(5, dtype=np.int64)
    keys.encode(np.array(code), *ENDS, HERE, table, 1, len(words))
    assert table[0].tolist() == [0, *words, *[0] * (4 - len(words))]
    assert keys.locate(np.array(code), *ENDS, HERE[0], key, 1, len(words))
    assert key.tolist() == table[0].tolist()


def test_columns_are_distances_from_the_middle_in_standard_deviations():
    code, low, high = np.array([keys.NUMBERS, 2, 1, 0, 4]), np.array([0.0, -1.0]), np.array([1.0, 3.0])
    table = np.zeros((1, 4), dtype=np.int64)
    keys.encode(code, low, high, np.array([[0.75, 0.0]]), table, 0, 4)
    assert table.view(np.float64)[0] == pytest.approx([1.0, -0.25 * math.sqrt(12), 0.25 * math.sqrt(12), 0.0])


def test_the_upper_end_belongs_to_the_last_cell():
    table = np.zeros((3, 1), dtype=np.int64)
    keys.encode(np.array([keys.CELLS, 1, 0, 4]), *ENDS, np.array([[1.0, 0.0], [0.25, 0.0], [0.0, 0.0]]), table, 0, 1)
    assert table[:, 0].tolist() == [3, 1, 0]


@pytest.mark.parametrize("point", [[-1e-9, 0.5], [0.5, 1.0 + 1e-9], [0.5, math.nan]])
def test_a_context_outside_has_no_key(point):
    key = np.array([7])
    assert not keys.locate(np.array([keys.CELLS, 1, 0, 4]), *ENDS, np.array(point), key, 0, 1)
    assert key.tolist() == [7]
