"""Boxes of fractions: they tile the space, and neighbours are joined."""

import math

import pytest

from hsb.structures.boxes import merge, tree_box


def volume(box):
    return math.prod(high - low for low, high in box)


@pytest.mark.parametrize(("k", "features", "level"), [(2, 1, 4), (2, 2, 5), (3, 2, 3), (4, 3, 2)])
def test_the_boxes_of_a_level_tile_the_space(k, features, level):
    boxes = [tree_box(number, level, k, features) for number in range(k**level)]
    assert len(set(boxes)) == k**level and sum(map(volume, boxes)) == pytest.approx(1.0)
    assert all(volume(box) == pytest.approx(k**-level) for box in boxes)
    (whole,) = merge(boxes)
    assert whole == ((0.0, 1.0),) * features


def test_boxes_that_only_touch_at_a_corner_stay_apart():
    boxes = [((0.0, 0.5), (0.0, 0.5)), ((0.5, 1.0), (0.5, 1.0))]
    assert sorted(merge(boxes)) == boxes
