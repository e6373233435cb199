"""Helpers of `tests/explain/test_trees.py`, shared with other tests."""

import math

import numpy as np
import numpy.typing as npt
from naive import mixture as naive

import hsb
from hsb.engine.state import Member, State
from hsb.explain import Explanation, explain
from hsb.learners.keys import Keys

Array = npt.NDArray[np.float64]
Data = npt.ArrayLike
ARMS = 3
LABELS = ["a", "b", "c"]
SQUARE = hsb.Box.unit(2)


def as_hierarchy(shape: naive.Hierarchy) -> hsb.Hierarchy:
    """Return the same nodes under other names."""
    name = {node: str(sorted(region)) for node, region in shape.regions.items()}
    nodes = {
        name[i]: {"leaves": sorted(shape.regions[i]), "groups": [[name[j] for j in group] for group in shape.groups[i]]}
        for i in reversed(shape.children_first)
    }
    return hsb.Hierarchy(nodes, root=name[shape.root], space=hsb.Box.unit())


RANDOM = [naive.random_hierarchy(np.random.default_rng(seed), 6) for seed in range(4)]
CASES: dict[str, tuple[hsb.Structure, naive.Hierarchy, float | None]] = {
    "leaf": (hsb.BinaryTree(depth=0), naive.binary_tree(0), None),
    "binary": (hsb.BinaryTree(depth=4), naive.binary_tree(4), None),
    "binary, stop 0.8": (hsb.BinaryTree(depth=3), naive.binary_tree(3, 0.8), 0.8),
    "binary, stop 0.05": (hsb.BinaryTree(depth=3), naive.binary_tree(3, 0.05), 0.05),
    "binary, stop 0": (hsb.BinaryTree(depth=3), naive.binary_tree(3, 0.0), 0.0),
    "binary, two features": (hsb.BinaryTree(depth=5, space=hsb.Box([-1, 18], [1, 90])), naive.binary_tree(5), None),
    "3-ary": (hsb.KaryTree(k=3, depth=3), naive.kary_tree(3, 3), None),
    "5-ary, stop 0.2": (hsb.KaryTree(k=5, depth=2), naive.kary_tree(5, 2, 0.2), 0.2),
    "lexicographic": (hsb.Lexicographic(leaves=9), naive.lexicographic(9), None),
    "lexicographic, cells": (hsb.Lexicographic(leaves=7, space=hsb.Cells(7)), naive.lexicographic(7), None),
    "lexicographic, two features": (hsb.Lexicographic(leaves=8, space=SQUARE), naive.lexicographic(8), None),
    "3-group": (hsb.GroupedLexicographic(leaves=8, groups=3), naive.grouped_lexicographic(8, 3), None),
    "4-group": (hsb.GroupedLexicographic(leaves=9, groups=4), naive.grouped_lexicographic(9, 4), None),
    "7-group of 5": (hsb.GroupedLexicographic(leaves=5, groups=7), naive.grouped_lexicographic(5, 7), None),
    "position": (hsb.PositionSplits(bits=[2, 1]), naive.position_splits([2, 1]), None),
    "position, codes": (hsb.PositionSplits(bits=[1, 1, 1]), naive.position_splits([1, 1, 1]), None),
    "position, idle feature": (hsb.PositionSplits(bits=[0, 3, 1]), naive.position_splits([0, 3, 1]), None),
    "arbitrary": (hsb.ArbitrarySplits(leaves=6), naive.arbitrary_splits(6), None),
    "one of": (
        hsb.OneOf(hsb.BinaryTree(depth=3), hsb.Lexicographic(leaves=8)),
        naive.one_of(naive.binary_tree(3, 0.5), naive.lexicographic(8)),
        None,
    ),
    "one of, nested": (
        hsb.OneOf(
            hsb.OneOf(hsb.BinaryTree(depth=2, space=SQUARE), hsb.ArbitrarySplits(leaves=4, space=SQUARE)),
            hsb.PositionSplits(bits=[1, 1]),
        ),
        naive.one_of(naive.one_of(naive.binary_tree(2), naive.arbitrary_splits(4)), naive.position_splits([1, 1])),
        None,
    ),
    **{f"random {i}": (as_hierarchy(shape), shape, None) for i, shape in enumerate(RANDOM)},
}


def middle(structure: hsb.Structure, leaf: int) -> list[float]:
    """Return a context inside a leaf, in the user's units."""
    context = [sum(structure.space.bounds(j, 0, 1)) / 2 for j in range(structure.space.features)]
    for j, (start, end) in zip(structure.features, structure.region(leaf), strict=True):
        context[j] = sum(structure.space.bounds(j, start, end)) / 2
    return [math.floor(x) if isinstance(structure.space, hsb.Cells) else x for x in context]


def learn(
    structure: hsb.Structure, members: list[Member], contexts: Data, arms: Data, xs: Data, masks: Data | None = None
) -> list[Member]:
    """Teach a state rounds: nothing is drawn."""
    points, _ = structure.space.check(contexts)
    keys, told = Keys(structure).keys(points), State(members, structure.key_words())
    for t, (arm, x) in enumerate(zip(np.asarray(arms), np.asarray(xs), strict=True)):
        available = None if masks is None else np.asarray(masks, dtype=np.uint8)[t]
        told.update(keys[t], available, int(arm), float(x > 0.0), 1.0 / x if x > 0.0 else 1.0)  # the rate is 1
    return told.members


def run(structure: hsb.Structure, stop: float | None, leaves: Data, arms: Data, xs: Data) -> tuple[Explanation, Array]:
    """Return the explanation after these rounds, and their penalties."""
    contexts = np.reshape([middle(structure, int(leaf)) for leaf in np.asarray(leaves)], (-1, structure.space.features))
    members = learn(structure, structure.members(ARMS, stop), contexts, arms, xs)
    penalties = np.zeros((structure.leaves, ARMS))
    np.add.at(penalties, (np.asarray(leaves), np.asarray(arms)), np.asarray(xs))
    return explain(structure, members, LABELS, stop), penalties


def some_rounds(leaves: int, seed: int, high: float = 3.0) -> tuple[Array, Array, Array]:
    """Every arm in every leaf once, so that nothing is tied, and as many again; x from high / 1000 to high."""
    rng = np.random.default_rng(seed)
    pairs = np.concatenate([np.indices((leaves, ARMS)).reshape(2, -1).T, rng.integers((leaves, ARMS), size=(leaves * ARMS, 2))])
    rng.shuffle(pairs)
    return pairs[:, 0], pairs[:, 1], high * 1000.0 ** -rng.random(len(pairs))


def every_mapping(shape: naive.Hierarchy, penalties: Array, node: naive.Node | None = None) -> list[tuple[float, frozenset]]:
    """Return ln of the weight of each way to stop and choose arms, and its pieces as (leaves, label). Exponential: for few leaves."""
    node = shape.root if node is None else node
    region = shape.regions[node]
    losses, (stop, splits) = penalties[sorted(region)].sum(axis=0), shape.options(node)
    ways = [(math.log(stop / ARMS) - losses[m], frozenset([(region, LABELS[m])])) for m in range(ARMS) if stop > 0.0]
    for share, group in splits:
        together = [(math.log(share), frozenset())]
        for child in group:
            below = every_mapping(shape, penalties, child)
            together = [(one + two, pieces | more) for one, pieces in together for two, more in below]
        ways += together
    return ways
