"""Charts as SVG: no script, whatever the numbers."""

import math

import pytest

from hsb.serve.page import svg


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.031, 0.142), (-5.0, 3.0), (2.0, 2.0), (0.0, 1e-14), (-1e280, 1e280)])
def test_an_axis_holds_its_range(low, high):
    bottom, top, labels = svg.axis(low, high)
    assert bottom <= low and top >= high and math.isfinite(bottom) and math.isfinite(top) and len(labels) >= 2


def test_ends_too_far_for_pictures_are_drawn_as_far_as_they_can_be():
    bottom, top, _ = svg.axis(-1e308, 1e308)
    assert (bottom, top) == (-svg.MOST, svg.MOST)


def test_pictures_are_markup_without_scripts():
    pictures = [
        svg.sparkline([0.1, None, 0.5]),
        svg.stacked([0, 1], [[0.5, 0.5], [0.2, 0.8]], 2, "p"),
        svg.tiles([[[0, 0.5], [1, 0.5]]], 2, "p"),
        svg.patterns(3, "p"),
        svg.key(1, 3, "p"),
        svg.bar(0.3),
        svg.whisker(0.1, 0.4, 0.2, (0.0, 1.0)),
    ]
    for picture in pictures:
        assert "<script" not in picture and "style=" not in picture and picture.count("<") == picture.count(">")


def test_nothing_to_draw_is_no_fault():
    assert "nan" not in svg.sparkline([]) and "nan" not in svg.sparkline([None, None])
