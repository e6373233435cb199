"""The illustrations: what is drawn is what the library computes."""

import json

import numpy as np
import pytest

from hsb.experiments.base import Options
from hsb.experiments.paper import illustrations as module
from hsb.experiments.paper.illustrations import (
    Illustrations,
    approximate,
    claims,
    count_nodes,
    example_mapping,
    round_cost,
    square_tree,
    tree_nodes,
)
from hsb.structures.boxes import tree_box

QUICK = Options(seed=0, quick=True)


@pytest.fixture(scope="module")
def results() -> dict:
    parts = Illustrations().parts(QUICK)
    return {p.name: json.loads(json.dumps(getattr(module, p.function.split(":")[1])(**p.arguments))) for p in parts}


def test_every_claim_holds(results):
    analysis = Illustrations().analyse(QUICK, results)
    assert [claim.holds for claim in analysis.claims] == [True] * 5
    assert {claim.origin for claim in analysis.claims} == {"identity"}
    for claim in analysis.claims:
        json.dumps(claim.numbers)


def test_broken_numbers_fail_their_claims(results):
    """Equal weights are no complexity prior, weights that add to more than 1 no prior, a mixture that is off no mixture."""
    priors, disagreement = results["experts"]["priors"], results["approximations"]["disagreement"]
    assert [claim.holds for claim in claims(disagreement, [1 / 16] * 16, 0.0)] == [True, True, None, True]
    assert [claim.holds for claim in claims(disagreement, [2 * p for p in priors], 1e-3)] == [True, False, True, False]
    coarse = {depth: 0.1 + 0.01 * int(depth) for depth in disagreement}
    assert claims(coarse, priors, 0.0)[0].holds is False
    assert round_cost({"2": 3, "10": 11}).holds is True and round_cost({"2": 3, "10": 2047}).holds is False


def test_a_round_visits_one_node_of_each_level():
    assert count_nodes(depths=[1, 4, 30], arms=3) == {"1": 2, "4": 5, "30": 31}


def test_the_closest_mapping_is_closest():
    """No other arm in any cell comes closer; checked cell by cell against the grid."""
    result = approximate(depths=[3], points=64)
    tree = square_tree(3)
    side = (np.arange(64) + 0.5) / 64
    grid = np.array([(x, y) for x in side for y in side])
    arms = example_mapping(grid)
    leaves = np.array([tree.leaf_of(point) for point in grid])
    for leaf, arm in enumerate(result["mappings"]["3"]):
        inside = arms[leaves == leaf]
        assert (inside == arm).sum() >= (inside != arm).sum()
    mapping = np.array(result["mappings"]["3"])
    assert result["disagreement"]["3"] == pytest.approx((mapping[leaves] != arms).mean(), abs=1e-12)


def test_sixteen_experts_with_the_weights_of_appendix_b(results):
    listed = results["experts"]
    assert len({tuple(mapping) for mapping in listed["mappings"]}) == 16
    by_mapping = {tuple(m): p for m, p in zip(listed["mappings"], listed["priors"], strict=True)}
    # By hand: a leaf chooses its arm with 1/2, a node above stops with 1/2 (then 1/2 for the arm) or splits with 1/2.
    pair = {True: 1 / 4 + 1 / 8, False: 1 / 8}
    for (a, b, c, d), prior in by_mapping.items():
        expected = (a == b == c == d) / 4 + pair[a == b] * pair[c == d] / 2
        assert prior == pytest.approx(expected, abs=1e-15)


def test_nodes_divide_the_square_and_carry_the_mapping(results):
    tree = square_tree(2)
    for mapping in np.array(results["experts"]["mappings"]):
        nodes = tree_nodes(mapping, 2)
        boxes = [tree_box(number, level, 2, 2) for level, number, _ in nodes]
        assert sum((r - l) * (h - w) for (l, r), (w, h) in boxes) == 1.0
        for leaf, arm in enumerate(mapping.tolist()):
            (l, r), (w, h) = tree.region(leaf)
            x, y = (l + r) / 2, (w + h) / 2
            (at,) = (n for n, ((a, b), (c, d)) in zip(nodes, boxes, strict=True) if a <= x < b and c <= y < d)
            assert at[2] == arm


def test_four_figures_are_drawn_from_the_regions(results):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    analysis = Illustrations().analyse(QUICK, results)
    assert [figure.name for figure in analysis.figures] == ["approximations", "experts", "tree", "experts-on-tree"]
    patches = []
    for figure in analysis.figures:
        drawn = figure.draw(pyplot)
        drawn.canvas.draw()
        patches.append([len(ax.patches) for ax in drawn.axes])
        pyplot.close(drawn)
    assert patches[0] == [0, 16, 64]
    assert patches[1] == [4] * 16
    assert patches[2] == [2 * 7]
    assert patches[3][:4] == [4] * 4
