"""One colour an arm: told apart, and read by day and by night."""

import itertools

import pytest

from hsb.serve.page import colours


@pytest.mark.parametrize("arms", [2, 5, 8])
def test_arms_have_colours_of_their_own(arms):
    results = [colours.arm_colour(index, arms) for index in range(arms)]
    assert len(set(results)) == arms and all(len(colour) == 7 and colour[0] == "#" for colour in results)


def test_contrast_is_that_of_wcag():
    assert colours.contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert colours.contrast("#777777", "#777777") == pytest.approx(1.0)
    assert colours.contrast("#123456", "#abcdef") == colours.contrast("#abcdef", "#123456")


@pytest.mark.parametrize("scheme", [colours.LIGHT, colours.DARK], ids=["day", "night"])
def test_text_can_be_read(scheme):
    for ink, paper in itertools.product(("ink", "soft"), ("paper", "panel")):
        assert colours.contrast(scheme[ink], scheme[paper]) >= 4.5


def test_fading_goes_from_paper_to_the_colour():
    assert colours.faded("#102030", 1.0, "#ffffff") == "#102030" and colours.faded("#102030", 0.0, "#ffffff") == "#ffffff"
