"""Figures 1 to 4: mappings, their quantised approximations, experts and trees, drawn from the library's objects."""

import math
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...policies import HSB
from ...policy.decision import Decision
from ...structures import BinaryTree
from ...structures.mappings import every_mapping
from ...structures.spaces import Box
from ...theory import prior_cost
from ...types import Floats, Ints
from ..base import Analysis, Claim, Figure, Options, Part, ReportTable, claim
from . import Paper
from .illustrations_figures import approximations, experts, experts_on_tree, tree_regions

EXACT = 1e-12


class Illustrations(Paper):
    """Small pictures of the paper's notions."""

    name = "illustrations"
    title = "Mappings, experts and trees (Figures 1-4)"
    SETTINGS: ClassVar[dict[str, Any]] = {
        "depths": [4, 6],  # of the trees drawn: 16 and 64 cells
        "more depths": [2, 8, 10],
        "points": 1024,  # a side of the grid on which mappings are compared
        "arms": 2,
        "tree depth": 2,
        "rounds": 500,  # in which the tree is compared with the list of experts
        "counted depths": [1, 2, 5, 10, 20, 40],  # of the trees on which a round's nodes are counted
        "shown": [0, 3, 14, 9],  # the experts drawn on the tree, by their number
        "quick": {"points": 64, "rounds": 50},
    }

    def parts(self, options: Options) -> list[Part]:
        settings = self.settings(options)
        depths = sorted([*settings["depths"], *settings["more depths"]])
        listed = {"arms": settings["arms"], "depth": settings["tree depth"], "rounds": settings["rounds"]}
        return [
            Part("approximations", f"{__name__}:approximate", {"depths": depths, "points": settings["points"]}),
            Part("nodes", f"{__name__}:count_nodes", {"depths": settings["counted depths"], "arms": settings["arms"]}),
            Part("experts", f"{__name__}:list_experts", listed | {"seed": [options.seed, 4]}),
        ]

    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        settings = self.settings(options)
        closest, listed = results["approximations"], results["experts"]
        shares = closest["disagreement"]
        depth = settings["tree depth"]
        tree, mappings, priors = square_tree(depth), np.array(listed["mappings"]), listed["priors"]
        drawn = [(square_tree(d), np.array(closest["mappings"][str(d)]), shares[str(d)]) for d in settings["depths"]]
        shown = [(n, mappings[n], tree_nodes(mappings[n], depth), priors[n]) for n in settings["shown"]]
        square = "A mapping of the unit square to two arms, and the closest mappings of 16 and of 64 cells."
        every = f"All {len(mappings)} experts for two arms and four cells, each with its prior weight on the tree of depth 2."
        regions = "The binary tree of depth 2 over the unit square; each node's region is filled."
        four = "Four of the experts on the tree: the nodes that make up the coarsest partition of each, and their arms."
        far = [[str(2 ** int(level)), f"{share:.2%}"] for level, share in shares.items()]
        weights = [
            [str(k + 1), " ".join(str(arm + 1) for arm in mapping), f"{prior:.5f}", f"{1 / len(mappings):.5f}"]
            for k, (mapping, prior) in enumerate(zip(mappings.tolist(), priors, strict=True))
        ]
        head = ["expert", "arms of the four cells", "prior weight", "with equal weights"]
        share = ["cells", "share of the square on which they disagree"]
        return Analysis(
            claims=[*claims(shares, priors, listed["apart"]), round_cost(results["nodes"])],
            figures=[
                Figure("approximations", square, lambda pyplot: approximations(pyplot, example_mapping, drawn)),
                Figure("experts", every, lambda pyplot: experts(pyplot, tree, mappings, priors)),
                Figure("tree", regions, lambda pyplot: tree_regions(pyplot, depth)),
                Figure("experts-on-tree", four, lambda pyplot: experts_on_tree(pyplot, tree, shown)),
            ],
            tables=[
                ReportTable("How far the closest mapping of N cells is from the example", share, far),
                ReportTable("The experts and their prior weights (binary tree of depth 2)", head, weights),
            ],
            notes=[
                "Cells, regions and weights come from hsb.BinaryTree, hsb.HSB and hsb.theory.prior_cost.",
                "The paper draws its experts on cells of unequal size, since any division will do. Here the cells are the tree's.",
            ],
        )


def example_mapping(points: Floats) -> Ints:
    """Return an example like the paper's first figure: arm 0 inside a wavy region, arm 1 outside. `points` has shape (T, 2).

    >>> example_mapping(np.array([[0.5, 0.5], [0.02, 0.98]])).tolist()
    [0, 1]
    """
    x, y = points[:, 0] - 0.47, points[:, 1] - 0.52
    angle, radius = np.arctan2(y, x), np.hypot(x, y)
    edge = 0.29 + 0.07 * np.sin(3 * angle + 0.5) + 0.04 * np.cos(5 * angle)
    return np.asarray(radius > edge, dtype=np.int64)


def square_tree(depth: int) -> BinaryTree:
    """Return a binary tree over the unit square.

    >>> square_tree(4).leaves
    16
    """
    return BinaryTree(depth=depth, space=Box.unit(2))


def approximate(*, depths: list[int], points: int) -> dict[str, Any]:
    """Return for each depth the closest mapping of the tree's cells to the example, and the share of the square on which they differ."""
    side = (np.arange(points) + 0.5) / points
    grid = np.column_stack([part.ravel() for part in np.meshgrid(side, side, indexing="ij")])
    arms = example_mapping(grid)
    mappings, disagreement = {}, {}
    for depth in depths:
        tree = square_tree(depth)
        leaf = tree.leaf(grid)
        ones = np.bincount(leaf, weights=arms, minlength=tree.leaves)
        rows = np.bincount(leaf, minlength=tree.leaves)
        closest = (2 * ones > rows).astype(np.int64)  # most of the cell
        mappings[str(depth)] = closest.tolist()
        disagreement[str(depth)] = float((closest[leaf] != arms).mean())
    return {"mappings": mappings, "disagreement": disagreement}


def list_experts(*, arms: int, depth: int, rounds: int, seed: list[int]) -> dict[str, Any]:
    """Return every mapping of the tree's leaves, its prior weight, and the error of the tree's mixture."""
    tree = square_tree(depth)
    table = every_mapping(tree, arms=arms).table
    priors = [math.exp(-prior_cost(tree, row.astype(np.int64), arms=arms)) for row in table]
    return {"mappings": table.tolist(), "priors": priors, "apart": _apart(tree, table, np.array(priors), rounds, seed)}


def _apart(tree: BinaryTree, table: NDArray[np.int32], priors: Floats, rounds: int, seed: list[int]) -> float:
    """Train the tree and the list of experts on the same rounds. Returns the largest difference of their probabilities (Section III)."""
    rng = np.random.default_rng(seed)
    arms, rate = int(table.max()) + 1, 0.5
    policy = HSB(tree, arms=arms, learning_rate=rate)
    weights, most = priors.copy(), 0.0
    for context in rng.random((rounds, 2)):
        advice = table[:, tree.leaf_of(context)]
        p = np.bincount(advice, weights=weights, minlength=arms) / weights.sum()
        most = max(most, float(np.abs(p - policy.probabilities(context)).max()))
        arm, loss = int(rng.integers(arms)), float(rng.random())
        policy.learn(Decision(context=context, arm=arm, propensity=1 / arms), loss=loss)  # as from a log of uniform play
        weights[advice == arm] *= math.exp(-rate * loss * arms)
        weights /= weights.sum()
    return most


def count_nodes(*, depths: list[int], arms: int) -> dict[str, int]:
    """Return for each depth the most nodes that a round visits: for a context on whose path others branch off at every node."""
    visited = {}
    for depth in depths:
        policy = HSB(BinaryTree(depth=depth), arms=arms, learning_rate=0.1, seed=0)
        for context in [*(2.0**-level for level in range(1, depth + 1)), 0.0, 0.0]:
            policy.learn(policy.decide(context), loss=0.5)
        visited[str(depth)] = int(policy._rank(0).mixture.state.visited[-1])
    return visited


def round_cost(visited: dict[str, int]) -> Claim:
    """Return the abstract's claim that a round costs O(M ln N).

    A tree of N = 2^D leaves has D + 1 nodes on a path, each with a weight for every arm.
    """
    off = max(abs(nodes - int(depth) - 1) for depth, nodes in visited.items())
    numbers = {f"nodes, of {2 ** int(depth):,} cells": nodes for depth, nodes in visited.items()}
    text = "A round on the binary tree of N cells visits log2 N + 1 nodes at most, each with a weight for every arm: O(M ln N)"
    return _certain(text, EXACT - off, **numbers)


def tree_nodes(mapping: Ints, depth: int) -> list[tuple[int, int, int]]:
    """Return the fewest nodes of a binary tree on which a mapping is constant: (level, number, arm) from the left.

    >>> tree_nodes(np.array([0, 0, 0, 1]), 2)
    [(1, 0, 0), (2, 2, 0), (2, 3, 1)]
    """

    def below(level: int, number: int) -> list[tuple[int, int, int]]:
        width = 2 ** (depth - level)
        part = mapping[number * width : (number + 1) * width]
        if (part == part[0]).all():
            return [(level, number, int(part[0]))]
        return below(level + 1, 2 * number) + below(level + 1, 2 * number + 1)

    return below(0, 0)


def claims(disagreement: dict[str, float], priors: list[float], apart: float) -> list[Claim]:
    """Return the claims behind the figures. Nothing is averaged, so a claim's interval is a point."""
    shares = {int(depth): share for depth, share in disagreement.items()}
    cells = {f"{2**depth} cells": share for depth, share in sorted(shares.items())}
    fall = min(a - b for a, b in pairwise(cells.values()))
    total = abs(sum(priors) - 1.0)
    most, least = max(priors), min(priors)
    off = {"off by at most": apart, "allowed": EXACT}
    return [
        _certain("The closest mapping gets closer with every finer quantisation", fall, **cells),
        _certain("The prior weights of all experts add to 1", EXACT - total, **{"off by": total, "allowed": EXACT}),
        _certain("Simple experts start with more weight than complicated ones", most - least, most=most, least=least),
        _certain("The tree's two passes give the mixture of all experts", EXACT - apart, **off),
    ]


def _certain(text: str, difference: float, **numbers: float) -> Claim:
    why = "Computed, not averaged: the interval is a point."
    return claim("illustrations", text, [difference, difference], numbers=numbers, origin="identity", explanation=why)
