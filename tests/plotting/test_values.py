"""Average rewards with intervals, and bars."""

import matplotlib as mpl
import pytest

mpl.use("agg")

from matplotlib.figure import Figure

from hsb.plotting.values import Bar, Value, plot_bars, plot_values


@pytest.fixture
def ax():
    return Figure().subplots()


def test_values_are_drawn_in_order_with_their_log(ax):
    values = [Value("new", 0.5, 0.4, 0.6), Value("old", 0.3, 0.2, 0.35, thin=(0.1, 0.5))]
    assert plot_values(values, ax, logged=0.3, title="title", below="reward") is ax
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names.index("new") != names.index("old") and ax.get_title(loc="left") + ax.get_title() != ""
    low, high = ax.get_xlim()
    assert low <= 0.1 and high >= 0.6


def test_bars_begin_at_zero(ax):
    plot_bars([Bar("bound", 3.0, "3"), Bar("loss", 1.0, "1")], ax, title="title", below="rounds")
    assert ax.get_xlim()[0] <= 0 and sorted(patch.get_width() for patch in ax.patches)[-2:] == [1.0, 3.0]
    assert {"3", "1"} <= {text.get_text().strip() for text in ax.texts}
