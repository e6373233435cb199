"""Masks of tables: without columns if every arm is available."""

import numpy as np

from hsb.learners.masks import EVERY_ARM, masks_of


def test_some_rows_of_a_table():
    masks = np.array([[1, 0], [1, 1], [0, 1], [1, 1]], dtype=np.uint8)
    assert masks_of(masks, slice(1, 3)).tolist() == [[1, 1], [0, 1]]


def test_where_every_arm_is_available_there_is_nothing_to_read():
    assert masks_of(None, slice(1, 4)).shape == (3, 0) and len(EVERY_ARM) == 0
