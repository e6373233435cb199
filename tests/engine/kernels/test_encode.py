"""Contexts as numbers: columns, cells and statistics, by hand."""

import math

import numpy as np
import pytest
from support.kernel_cases import INTERPRETED

from hsb.engine.kernels import encode
from hsb.engine.kernels import inputs as at

NUMBERS = [-math.inf, -1e300, -2.0, -1.5, -1e-300, 0.0, 1e-300, 0.7, 0.70001, 1.0, 3.0, 1e300, math.inf]


@INTERPRETED
def test_leading_bits_keep_the_order_of_numbers():
    bits = [int(encode.leading_bits(x)) for x in NUMBERS]
    assert bits == sorted(bits) and bits[0] > 0 and bits[-1] < 1 << at.BITS
    assert encode.leading_bits(-0.0) == encode.leading_bits(0.0) and len(set(bits)) >= len(bits) - 2


@INTERPRETED
def test_categories_that_share_a_column_are_numbered_behind_the_limit():
    assert [encode.category(x, 10) for x in (-1.0, 0.0, 9.0, 10.0, 13.0, 20.0)] == [-1, 0, 9, 0, 3, -1]


@INTERPRETED
def test_few_edges_are_spread_over_all_cells():
    assert [encode.spread(k, 1) for k in (0, 1)] == [1, at.CELLS]
    assert [encode.spread(k, at.CELLS - 1) for k in range(at.CELLS)] == list(range(1, at.CELLS + 1))
    assert encode.spread(0, 0) == 1


def arrays():
    """Return the arrays of a number, in column 1, and a flag, in column 2; column 3 is for missing numbers."""
    I, F = np.zeros((2, at.INTS), dtype=np.int64), np.zeros((2, at.FLOATS))
    I[:, at.KIND], I[:, at.COLUMN], I[:, at.MISSING], I[:, at.TREE] = [at.NUMBER, at.FLAG], [1, 2], [3, -1], [0, 2]
    I[0, at.EDGES] = at.CELLS - 1
    F[0, at.EDGE :] = np.arange(at.CELLS - 1)
    F[:, at.SHIFT], F[:, at.SCALE], F[:, at.MIN], F[:, at.MAX], F[:, at.LOW] = 5.0, 2.0, 1.0, 0.0, 1.0
    head = np.zeros(at.HEAD, dtype=np.int64)
    head[at.INPUTS] = 2
    return head, I, F


@pytest.mark.parametrize(
    ("raw", "z", "cells"),
    [
        ([7.0, 1.0], [1.0, 1.0, -2.0, 0.0], [9, 31]),
        ([500.0, 0.0], [1.0, at.CLIP, -2.5, 0.0], [31, 1]),
        ([math.nan, 1.0], [1.0, 0.0, -2.0, 1.0], [0, 31]),
        ([], [1.0, 0.0, 0.0, 1.0], [0, 0]),  # read when no input was known
    ],
)
def test_a_row_becomes_columns_and_cells(raw, z, cells):
    head, I, F = arrays()
    columns, trees = np.full(4, 9.0), np.full(3, 9)
    encode.encode(np.array(raw, dtype=float), columns, trees, head, I, F, np.zeros(0, dtype=np.int64))
    assert columns.tolist() == z and trees[[0, 2]].tolist() == cells


def test_statistics_are_those_of_the_finite_numbers():
    head, I, F = arrays()
    rng = np.random.default_rng(0)
    raw = np.column_stack([rng.normal(3.0, 2.0, size=700), rng.integers(2, size=700).astype(float)])
    raw[::7, 0], raw[3, 0] = math.nan, math.inf
    reservoir, recent = np.full((2, at.SAMPLE), -9.0), np.full((2, at.RECENT), -9.0)
    encode.observe_rows(raw, head, I, F, reservoir, recent)
    numbers = raw[np.isfinite(raw[:, 0]), 0]
    assert F[0, [at.COUNT, at.MIN, at.MAX]].tolist() == [len(numbers), numbers.min(), numbers.max()]
    assert F[0, at.MEAN] == pytest.approx(numbers.mean()) and F[0, at.M2] / len(numbers) == pytest.approx(numbers.var())
    assert head[at.ROWS] == 700 and set(reservoir[1]) == {0.0, 1.0} and not (reservoir[0] == -9.0).any()
    assert np.array_equal(np.sort(recent[0]), np.sort(raw[-at.RECENT :, 0]), equal_nan=True)
