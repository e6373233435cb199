"""The frequencies of cosines: fixed numbers, whatever is asked for beside them."""

import math

import numpy as np

from hsb.engine.state import frequencies as module
from hsb.engine.state.frequencies import frequencies, normals


def test_a_column_has_the_same_numbers_alone_and_among_others():
    table = frequencies(range(5), 16, 3)
    assert np.array_equal(frequencies(range(2, 4), 16, 3), table[2:4])
    assert np.array_equal(normals(7, 100)[:30], normals(7, 30))
    assert len(np.unique(table)) == table.size


def test_numbers_far_out_are_rounded_and_the_others_are_not():
    numbers = np.concatenate([normals(column, 500) for column in range(40)])
    far = np.abs(numbers) >= module.RIM
    assert far.any() and (numbers[far] * module.GRID == np.round(numbers[far] * module.GRID)).all()
    assert (numbers[~far] * module.GRID != np.round(numbers[~far] * module.GRID)).mean() > 0.9
    assert abs(numbers.mean()) < 0.03 and abs(numbers.std() - 1.0) < 0.03


def test_each_cosine_has_a_bandwidth_between_the_two_limits():
    """In turns, and divided by the root of the number of features."""
    columns, features = 1000, 4
    spread = frequencies(range(columns), 8, features).std(axis=0) * 2.0 * math.pi * math.sqrt(features)
    low, high = module.BANDWIDTHS
    assert (spread > 0.92 * low).all() and (spread < 1.08 * high).all() and spread.max() - spread.min() > 0.2
