"""The figures of LandSat: heights are mean errors in percent, intervals are symmetric, numbers stand on the bars."""

from itertools import pairwise

import numpy as np
import pytest

from hsb.evaluate.intervals import mean_interval
from hsb.experiments.paper.landsat_claims import APS, BT, HAMMING
from hsb.experiments.paper.landsat_figures import bars, gaps, side_by_side

ERRORS = {name: np.random.default_rng(k).uniform(0.1, 0.4, (5, 4)) for k, name in enumerate((HAMMING, APS, BT))}


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def heights(ax):
    groups = [group for group in ax.containers if hasattr(group, "patches")]
    return {group.get_label(): [bar.get_height() for bar in group.patches] for group in groups}


def test_bars_are_mean_errors_in_percent(pyplot):
    [ax] = bars(pyplot, ERRORS, 715).axes
    drawn = heights(ax)
    assert list(drawn) == list(ERRORS)
    for name, rows in ERRORS.items():
        assert drawn[name] == pytest.approx(100 * rows.mean(axis=0))
    assert "715 rows each" in ax.get_xlabel() and "%" in ax.get_ylabel()


def test_bars_of_an_epoch_stand_side_by_side(pyplot):
    [ax] = bars(pyplot, ERRORS, 715).axes
    groups = [group for group in ax.containers if hasattr(group, "patches")]
    for epoch in range(4):
        sides = sorted((group.patches[epoch].get_x(), group.patches[epoch].get_width()) for group in groups)
        assert all(x + width <= after + 1e-9 for (x, width), (after, _) in pairwise(sides))
        assert sides[0][0] >= epoch + 0.5 and sum(sides[-1]) <= epoch + 1.5


def test_gaps_have_intervals_and_the_last_epochs_again(pyplot):
    difference = {name: ERRORS[name] - ERRORS[HAMMING] for name in (APS, BT)}
    whole, last = gaps(pyplot, difference, 2).axes
    assert list(whole.get_xticks()) == [1, 2, 3, 4] and list(last.get_xticks()) == [3, 4]
    for ax, first in ((whole, 0), (last, 2)):
        for container, rows in zip(ax.containers, difference.values(), strict=True):
            assert container[0].get_ydata() == pytest.approx(100 * rows[:, first:].mean(axis=0))
            [segments] = [collection.get_segments() for collection in container[2]]
            interval = mean_interval(rows[:, first])
            assert segments[0][:, 1] == pytest.approx([100 * interval.low, 100 * interval.high])


def test_a_single_repetition_has_no_interval(pyplot):
    [ax] = bars(pyplot, {name: rows[:1] for name, rows in ERRORS.items()}, 715).axes
    errorbars = [container for container in ax.containers if not hasattr(container, "patches")]
    for container in errorbars:
        [segments] = [collection.get_segments() for collection in container[2]]
        assert all(low == high for (_, low), (_, high) in segments)
    assert errorbars


def test_numbers_stand_on_the_bars(pyplot):
    late = {"online": {name: rows.mean(axis=1) for name, rows in ERRORS.items()}}
    late["raw"] = {name: rates + 0.1 for name, rates in late["online"].items()}
    [ax] = side_by_side(pyplot, late).axes
    assert [label.get_text() for label in ax.get_xticklabels()] == ["online", "raw"]
    expected = [f"{100 * late[way][name].mean():.1f}" for name in ERRORS for way in late]
    assert [text.get_text() for text in ax.texts] == expected
