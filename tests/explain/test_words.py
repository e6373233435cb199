"""Explanations in words, as plain data and as pictures."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from support.explain_cases import CASES, LABELS, run, some_rounds

import hsb
from hsb import theory
from hsb.explain import Explanation, Region


def test_words() -> None:
    structure = hsb.ArbitrarySplits(leaves=4, space=hsb.Cells(4))
    result, _ = run(structure, None, [0, 1, 2, 3] * 2, [0, 1, 0, 1, 2, 2, 2, 2], [9.0] * 8)
    assert (
        str(result)
        == "0 <= x < 1 or 2 <= x < 3: play 'b' (probability 1.00)\n1 <= x < 2 or 3 <= x < 4: play 'a' (probability 1.00)"
    )
    assert result.regions[0].bounds == ((0.0, 3.0),)
    assert [region.boxes for region in result.merged()] == [region.boxes for region in result]  # cannot be said with fewer
    square = hsb.PositionSplits(bits=[1, 1], space=hsb.Box([0, 10], [1, 20]))
    result, _ = run(square, None, [0, 1, 2, 3] * 2, [0, 1, 0, 1, 2, 2, 2, 2], [9.0] * 8)
    assert (
        str(result)
        == "x1 < 15: play 'b' (probability 1.00, coverage 0.50)\nx1 >= 15: play 'a' (probability 1.00, coverage 0.50)"
    )


def test_the_users_own_nodes_are_called_by_their_names() -> None:
    nodes = {
        "all": {"leaves": [0, 1, 2, 3], "groups": [["young", "old"], ["ends", "middle"]]},
        "young": {"leaves": [0]},
        "old": {"leaves": [1, 2, 3], "groups": [["working", "retired"]]},
        "working": {"leaves": [1, 2]},
        "retired": {"leaves": [3]},
        "ends": {"leaves": [0, 3]},
        "middle": {"leaves": [1, 2]},
    }
    ages = hsb.Hierarchy(nodes)
    result, _ = run(ages, None, [0, 1, 2, 3] * 2, [0, 1, 1, 1, 2, 2, 2, 2], [9.0] * 8)
    assert str(result) == "young: play 'b' (probability 1.00)\nold: play 'a' (probability 1.00)"
    assert [region.name for region in result.merged()] == ["young", "old"]
    assert [region["name"] for region in result.to_dict()["regions"]] == ["young", "old"]
    result, _ = run(ages, None, [0, 1, 2, 3] * 2, [0, 1, 1, 0, 2, 2, 2, 2], [9.0] * 8)
    assert [region.name for region in result] == ["ends", "working"]  # the first of two with that region
    assert [region.name for region in result.merged()] == ["ends", "working"]
    result, _ = run(hsb.Hierarchy(nodes, space=hsb.Box(20, 60)), None, [0, 1, 2, 3] * 2, [0, 0, 0, 1, 2, 2, 2, 2], [9.0] * 8)
    assert [(region.name, region.arm) for region in result] == [("young", "b"), ("working", "b"), ("retired", "a")]
    assert (
        str(result.merged()) == "20 <= x < 50: play 'b' (probability 1.00)\nretired: play 'a' (probability 1.00)"
    )  # no node has that region
    result, _ = run(ages, None, [0, 1, 2, 3] * 2, [0, 0, 0, 1, 2, 2, 2, 2], [9.0] * 8)
    assert (
        str(result) == "young or working: play 'b' (probability 1.00)\nretired: play 'a' (probability 1.00)"
    )  # numbers of cells say nothing
    default = hsb.HSB(ages, arms=["a", "b"], seed=0)
    assert str(default.explain()) == "all: never seen"


def test_a_tree_over_many_numbered_cells_has_a_price() -> None:
    """Its mapping is written out down to the smallest region only."""
    tree = hsb.BinaryTree(depth=17, space=hsb.Cells(2**17))
    policy = hsb.HSB(tree, arms=2, learning_rate=1.0)
    assert policy.certificate().cost == pytest.approx(theory.prior_cost(tree, [0] * tree.leaves, arms=2))
    for cell in (5, 2**16 + 5) * 40:
        policy.learn(hsb.Decision(context=cell, arm=int(cell < 2**16), propensity=0.5), loss=1.0)
    halves = np.repeat([0, 1], 2**16)
    assert policy.certificate().cost == pytest.approx(theory.prior_cost(tree, halves, arms=2))


def test_merged_keeps_what_was_seen_apart() -> None:
    tree = hsb.BinaryTree(depth=3)
    parts = [(0.0, 0.5, "a", True), (0.5, 0.625, "a", True), (0.625, 0.75, "a", False), (0.75, 1.0, "b", True)]
    regions = tuple(Region((((low, high),),), arm, 1 - high / 2, seen) for low, high, arm, seen in parts)
    merged = Explanation(regions, -1.0, ("a", "b"), tree, tree).merged()
    assert [(*r.bounds[0], r.arm, r.seen) for r in merged] == [(0.0, 0.625, "a", True), *parts[2:]]
    assert merged.regions[0].probability == 1 - 0.625 / 2


def test_plain_data() -> None:
    result, _ = run(hsb.BinaryTree(depth=2), None, [0, 3], [0, 1], [5.0, 5.0])
    data = json.loads(json.dumps(result.to_dict()))
    assert (data["structure"]["structure"], data["arms"]) == ("BinaryTree", LABELS)
    assert [Region(**region).probability for region in data["regions"]] == [region.probability for region in result]


def drawable(name: str) -> Explanation:
    structure, _, stop = CASES[name]
    return run(structure, stop, *some_rounds(structure.leaves, 2, high=6.0))[0]


@pytest.mark.parametrize("name", ["binary", "lexicographic, cells", "binary, two features", "arbitrary"])
def test_plot_writes_a_file(name: str, tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = drawable(name)
    ax = result.plot()
    assert len(ax.patches) == sum(len(region.boxes) for region in result)
    assert ax.get_legend() is not None
    ax.figure.savefig(tmp_path / "regions.png")
    assert (tmp_path / "regions.png").stat().st_size > 2000
    matplotlib.pyplot.close(ax.figure)


def test_plot_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'hsb\[plot\]'"):
        drawable("binary").plot()
