"""Curves of average losses: dashes by depth, markers for policies that are not the paper's, a line at a change."""

import numpy as np
import pytest

from hsb.evaluate.simulated.comparison import Comparison
from hsb.experiments.paper.curves import DASHES, OURS, depth_of, draw

NAMES = ["HSB-BT, depth 2", "HSB-BT, depth 10", "S-EXP3, depth 10", "EXP3", OURS[0]]


@pytest.fixture
def axes():
    """Draw and return the axes; figures are closed afterwards."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    rng = np.random.default_rng(0)
    losses = {name: rng.random((3, 1, 4)) for name in NAMES}
    compared = Comparison(marks=np.array([10, 20, 50, 100]), losses=losses)

    def drawn(change=None):
        [ax] = draw(pyplot, compared, change).axes
        return ax

    yield drawn
    pyplot.close("all")


def lines(ax):
    return {line.get_label(): line for line in ax.lines if line.get_label() in NAMES}


def test_depths_are_read_from_names():
    assert [depth_of(name) for name in NAMES] == [2, 10, 10, None, None]


def test_policies_of_one_depth_have_one_dash(axes):
    by_name = lines(axes())
    assert set(by_name) == set(NAMES)
    styles = {name: line.get_linestyle() for name, line in by_name.items()}
    assert styles["HSB-BT, depth 10"] == styles["S-EXP3, depth 10"] == DASHES[0]  # the deepest is solid
    assert styles["HSB-BT, depth 2"] != DASHES[0]
    assert by_name["HSB-BT, depth 2"].get_color() == by_name["HSB-BT, depth 10"].get_color()
    assert by_name["HSB-BT, depth 2"].get_color() != by_name["S-EXP3, depth 10"].get_color()


def test_only_our_policies_have_markers(axes):
    marked = {name for name, line in lines(axes()).items() if line.get_marker() not in ("None", None, "")}
    assert marked == {OURS[0]}


def test_a_change_is_a_line_on_a_linear_scale(axes):
    assert axes().get_xscale() == "log"
    ax = axes(change=50)
    assert ax.get_xscale() == "linear"
    assert any(list(line.get_xdata()) == [50, 50] for line in ax.lines)
    assert any("the arms change places" in text.get_text() for text in ax.texts)
