"""Drawings of mappings and trees: shades are arms, boxes are the cells of the structure."""

import numpy as np
import pytest

import hsb
from hsb.experiments.paper.illustrations_figures import SHADES, approximations, cells, experts, experts_on_tree, tree_regions

TREE = hsb.BinaryTree(depth=2, space=hsb.Box.unit(2))


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def boxes(ax):
    """Return the sides and the shade of each rectangle."""
    sides = [
        ((box.get_x(), box.get_x() + box.get_width()), (box.get_y(), box.get_y() + box.get_height())) for box in ax.patches
    ]
    return [(side, round(box.get_facecolor()[0], 2)) for side, box in zip(sides, ax.patches, strict=True)]


def test_cells_are_the_regions_in_the_shade_of_their_arm(pyplot):
    _, ax = pyplot.subplots()
    cells(ax, TREE, np.array([0, 1, 1, 0]))
    assert [shade for _, shade in boxes(ax)] == [float(SHADES[arm]) for arm in (0, 1, 1, 0)]
    assert [side for side, _ in boxes(ax)] == [tuple(map(tuple, TREE.region(leaf))) for leaf in range(4)]


def test_a_mapping_stands_beside_its_approximations(pyplot):
    figure = approximations(pyplot, lambda points: (points[:, 0] > 0.5).astype(int), [(TREE, np.array([0, 0, 1, 1]), 0.125)])
    whole, coarse = figure.axes
    [image] = whole.images
    pixels = np.asarray(image.get_array())
    assert (pixels[:, : pixels.shape[1] // 2] == 0).all() and (pixels[:, pixels.shape[1] // 2 :] == 1).all()
    assert coarse.get_title() == "closest of 4 cells: 12.5% differ" and len(coarse.patches) == 4


def test_every_expert_has_its_weight(pyplot):
    mappings = np.array([[0, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]])
    figure = experts(pyplot, TREE, mappings, [0.5, 0.25, 0.25])
    used = [ax for ax in figure.axes if ax.patches]
    assert [ax.get_title() for ax in used] == ["$E_{1}$: 0.5000", "$E_{2}$: 0.2500", "$E_{3}$: 0.2500"]
    assert [shade for _, shade in boxes(used[1])] == [float(SHADES[arm]) for arm in mappings[1]]
    assert "All 3 experts" in figure.get_suptitle() and "1.000000" in figure.get_suptitle()


def test_every_node_shows_its_region(pyplot):
    [ax] = tree_regions(pyplot, 2).axes
    assert [text.get_text() for text in ax.texts] == [f"node ({level}, {k})" for level in range(3) for k in range(2**level)]
    squares, regions = boxes(ax)[::2], boxes(ax)[1::2]
    shares = [
        np.prod(np.diff(region)) / np.prod(np.diff(square)) for (square, _), (region, _) in zip(squares, regions, strict=True)
    ]
    assert shares == pytest.approx([1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25])
    assert len(ax.lines) == 6  # from the parent of each node but the root


def test_large_nodes_carry_the_arms_of_an_expert(pyplot):
    halves = (0, np.array([0, 0, 1, 1]), [(1, 0, 0), (1, 1, 1)], 0.125)
    whole = (6, np.array([1, 1, 1, 1]), [(0, 0, 1)], 0.25)
    top, other, ax, root = experts_on_tree(pyplot, TREE, [halves, whole]).axes
    assert (top.get_title(), other.get_title()) == ("$E_{1}$, prior weight 0.1250", "$E_{7}$, prior weight 0.2500")
    assert [text.get_text() for text in ax.texts] == ["1", "2"] and [text.get_text() for text in root.texts] == ["2"]
    assert sum(line.get_markersize() == 19 for line in ax.lines if line.get_marker() == "o") == 2
