"""The figure of Section VI-C: a group of bars for each depth, in percent, and a line for uniform play."""

import numpy as np
import pytest

from hsb.experiments.paper import today
from hsb.experiments.paper.today_figures import bars

DEPTHS = {"HSB-BT": [2, 5], "S-EXP3": [5]}
NAMES = ["EXP3", "HSB-BT, depth 2", "HSB-BT, depth 5", "S-EXP3, depth 5", today.DEFAULT]
RATES = {name: np.array([0.03, 0.05]) + 0.01 * (5 - k) for k, name in enumerate([*NAMES, "Uniform"])}


@pytest.fixture
def draw():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    def drawn(rates):
        [ax] = bars(pyplot, rates, DEPTHS, "a title", today.DEFAULT, "Uniform").axes
        return ax

    yield drawn
    pyplot.close("all")


def test_each_policy_has_a_bar_of_its_rate(draw):
    ax = draw(RATES)
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([100 * RATES[name].mean() for name in NAMES])
    assert [text.get_text() for text in ax.texts] == [f"{100 * RATES[name].mean():.2f}" for name in NAMES]


def test_groups_are_depths_with_their_cells(draw):
    ax = draw(RATES)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels[:3] == ["EXP3", "depth 2\n(4 cells)", "depth 5\n(32 cells)"] and len(labels) == 4
    starts = [bar.get_x() for bar in ax.patches]
    assert starts[3] - starts[2] == pytest.approx(1.0) and starts[2] - starts[1] > 1.0  # the two of depth 5 are together


def test_each_kind_has_one_entry_in_the_legend(draw):
    [legend] = draw(RATES).figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert sorted(labels) == sorted({name.split(", ")[0] for name in [*NAMES, "Uniform"]})


def test_uniform_play_is_a_line_and_all_bars_fit(draw):
    ax = draw(RATES)
    assert any(np.allclose(line.get_ydata(), 100 * RATES["Uniform"].mean()) for line in ax.lines)
    assert ax.get_ylim()[1] > max(bar.get_height() for bar in ax.patches)


def test_a_single_log_has_no_interval(draw):
    ax = draw({name: rates[:1] for name, rates in RATES.items()})
    assert ax.get_ylim()[1] == pytest.approx(1.12 * max(bar.get_height() for bar in ax.patches))
