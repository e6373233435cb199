"""Helpers of `tests/structures/test_base.py`, shared with other tests."""

import numpy as np
import pytest

import hsb

PLANE = hsb.Box([18, 0], [90, 1])
CUBE = hsb.Box([-1, 0, 10], [1, 5, 11])
OWN = {
    "all": {"leaves": [0, 1, 2, 3], "groups": [["left", "right"], ["ends", "middle"], ["same"]]},
    "same": {"leaves": [3, 2, 1, 0]},
    "left": {"leaves": [0, 1], "groups": [["a", "b"]]},
    "right": {"leaves": [2, 3]},
    "ends": {"leaves": [0, 3]},
    "middle": {"leaves": [1, 2]},
    "a": {"leaves": [0]},
    "b": {"leaves": [1]},
}


# One entry at least for every class in Structure.kinds. Other test files use these too.
EXAMPLES: dict[str, hsb.Structure] = {
    "leaf": hsb.BinaryTree(depth=0),
    "binary": hsb.BinaryTree(depth=4),
    "binary, plane": hsb.BinaryTree(depth=5, space=PLANE),
    "binary, one feature of three": hsb.BinaryTree(depth=3, space=CUBE, features=[2]),
    "binary, features turned round": hsb.BinaryTree(depth=5, space=CUBE, features=[2, 0]),
    "binary, cells": hsb.BinaryTree(depth=3, space=hsb.Cells(8)),
    "binary, clip": hsb.BinaryTree(depth=4, space=hsb.Box(-5, 5, outside="clip")),
    "binary, deep": hsb.BinaryTree(depth=52),
    "binary, deep plane": hsb.BinaryTree(depth=104, space=PLANE),
    "3-ary": hsb.KaryTree(k=3, depth=3),
    "5-ary, plane": hsb.KaryTree(k=5, depth=3, space=PLANE),
    "3-ary, deep": hsb.KaryTree(k=3, depth=32),
    "5-ary, deep": hsb.KaryTree(k=5, depth=20),
    "lexicographic": hsb.Lexicographic(leaves=9),
    "lexicographic, cells": hsb.Lexicographic(leaves=7, space=hsb.Cells(7)),
    "lexicographic, cube": hsb.Lexicographic(leaves=16, space=CUBE),
    "3-group": hsb.GroupedLexicographic(leaves=8, groups=3),
    "7-group of 5": hsb.GroupedLexicographic(leaves=5, groups=7),
    "position": hsb.PositionSplits(bits=[2, 1]),
    "position, idle feature": hsb.PositionSplits(bits=[0, 3, 1], space=CUBE),
    "position, cells": hsb.PositionSplits(bits=[3], space=hsb.Cells(8)),
    "arbitrary": hsb.ArbitrarySplits(leaves=5),
    "arbitrary, plane": hsb.ArbitrarySplits(leaves=8, space=PLANE),
    "own": hsb.Hierarchy(OWN, space=hsb.Box.unit()),
    "own, other root": hsb.Hierarchy(dict(reversed(OWN.items())), root="all"),
    "one of": hsb.OneOf(hsb.Lexicographic(leaves=8), hsb.BinaryTree(depth=3)),
    "one of, features": hsb.OneOf(
        hsb.OneOf(hsb.BinaryTree(depth=4, space=PLANE, features=[0]), hsb.BinaryTree(depth=4, space=PLANE)),
        hsb.PositionSplits(bits=[2, 2], space=PLANE),
    ),
}


each = pytest.mark.parametrize("structure", EXAMPLES.values(), ids=EXAMPLES)


def points(space: hsb.Box | hsb.Cells, count: int, seed: int = 0) -> np.ndarray:
    """Return contexts of a space, its corners first."""
    rng = np.random.default_rng(seed)
    if isinstance(space, hsb.Cells):
        return rng.integers(space.n, size=(count, 1)).astype(float)
    inside = rng.uniform(space.low, space.high, size=(count, space.features))
    inside[0], inside[1] = space.low, space.high
    return inside


def as_context(row: np.ndarray) -> float | list[float]:
    """Return a row as a user would write it."""
    return float(row[0]) if len(row) == 1 else row.tolist()
