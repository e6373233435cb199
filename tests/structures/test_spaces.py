"""Where contexts live."""

import numpy as np
import pytest

import hsb
from hsb.structures.spaces import space_from_dict

BOX = hsb.Box([18, 0], [90, 1])


def test_contexts_become_fractions_of_the_box():
    points, clipped = BOX.check([[18, 0], [54, 0.5], [90, 1]])
    assert clipped == 0 and BOX.to_unit(points).tolist() == [[0, 0], [0.5, 0.5], [1, 1]]
    assert BOX.bounds(0, 0.25, 0.5) == (36, 54)


@pytest.mark.parametrize("context", [[17, 0], [91, 0], [50, np.nan], [50], ["a", 0], [50, 0, 0]])
def test_what_is_not_in_the_box_is_refused(context):
    with pytest.raises(hsb.InputError):
        BOX.check([context])


def test_a_box_may_clip():
    points, clipped = hsb.Box(0, 10, outside="clip").check([[-5], [3], [99]])
    assert clipped == 2 and points.ravel().tolist() == [0, 3, 10]


def test_cells_are_numbers_already():
    cells = hsb.Cells(4)
    points, clipped = cells.check([0, 3])
    assert clipped == 0 and points.ravel().tolist() == [0, 3]
    for wrong in ([4], [-1], [0.5], ["a"]):
        with pytest.raises(hsb.InputError):
            cells.check(wrong)


@pytest.mark.parametrize("space", [BOX, hsb.Box.unit(3), hsb.Box(0, 1, outside="clip"), hsb.Cells(7)])
def test_a_space_comes_back_from_plain_data(space):
    assert space_from_dict(space.to_dict()) == space


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0, np.inf), ([0, 0], [1]), ("a", "b")])
def test_what_is_no_box_is_refused(low, high):
    with pytest.raises(hsb.InputError):
        hsb.Box(low, high)
