"""Every structure beside its slow oracle, for the tests that compare the two.

A case has cells, one for each leaf of the oracle: a box with a (start, end) for each feature. They are laid out here by
hand, not by the library's own arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from naive import mixture as naive

import hsb
from hsb.engine.state import trees

Array = npt.NDArray[np.float64]
Box = tuple[tuple[float, float], ...]
STOPS = [None, 0.0, 0.2, 0.5, 0.9]


@dataclass(frozen=True)
class Case:
    structure: hsb.Structure
    shape: naive.Hierarchy
    cells: Sequence[Box]
    stop: float | None = None
    compressed: bool = False

    def policy(self, arms: int | Sequence[str], **settings: object) -> hsb.HSB:
        with pytest.MonkeyPatch.context() as patch:
            if self.compressed:
                patch.setattr(trees, "DENSE_WORDS", 0)
            return hsb.HSB(self.structure, arms=arms, stop=self.stop, **settings)  # type: ignore[arg-type]

    def context(self, leaf: int, rng: np.random.Generator | None = None) -> float | Array:
        """Return a context in a cell: a random one, or its middle."""
        if isinstance(self.structure.space, hsb.Cells):
            return float(leaf)
        low, high = np.array(self.cells[leaf]).T
        share = 0.5 if rng is None else rng.uniform(0.01, 0.99, size=len(low))
        result: Array = low + share * (high - low)
        return result if len(result) > 1 else float(result[0])

    @property
    def middles(self) -> list[float | Array]:
        return [self.context(leaf) for leaf in range(self.shape.leaves)]


def line(n: int) -> list[Box]:
    return [((k / n, (k + 1) / n),) for k in range(n)]


def grid(counts: Sequence[int]) -> list[Box]:
    """Return cells row by row, the first feature counting most."""
    boxes: list[Box] = [()]
    for n in counts:
        boxes = [(*box, *side) for box in boxes for side in line(n)]
    return boxes


def divided(k: int, depth: int, features: int) -> list[Box]:
    """Divide every box into k, one feature after the other."""
    boxes: list[Box] = [((0.0, 1.0),) * features]
    for level in range(depth):
        j = level % features
        parts = []
        for box in boxes:
            a, b = box[j]
            parts += [(*box[:j], (a + i * (b - a) / k, a + (i + 1) * (b - a) / k), *box[j + 1 :]) for i in range(k)]
        boxes = parts
    return boxes


def over(shape: naive.Hierarchy, own: Sequence[Box], cells: Sequence[Box]) -> naive.Hierarchy:
    """Return the hierarchy on finer cells; `own` are the boxes of its leaves."""

    def home(cell: Box) -> int:
        middle = [(a + b) / 2 for a, b in cell]
        return next(k for k, box in enumerate(own) if all(a < x < b for x, (a, b) in zip(middle, box, strict=True)))

    homes = [home(cell) for cell in cells]
    regions = {i: frozenset(c for c, k in enumerate(homes) if k in region) for i, region in shape.regions.items()}
    return replace(shape, regions=regions, leaves=len(cells))


def as_hierarchy(shape: naive.Hierarchy) -> hsb.Hierarchy:
    """Return the library's structure with the same nodes, by name."""
    name = {node: str(sorted(region)) for node, region in shape.regions.items()}
    nodes = {
        name[i]: {"leaves": sorted(shape.regions[i]), "groups": [[name[j] for j in group] for group in shape.groups[i]]}
        for i in shape.children_first
    }
    return hsb.Hierarchy(nodes, root=name[shape.root], space=hsb.Box.unit())


def binary(depth: int, stop: float | None = None, features: int = 1, compressed: bool = False) -> Case:
    tree = hsb.BinaryTree(depth=depth, space=hsb.Box.unit(features))
    return Case(tree, naive.binary_tree(depth, stop), divided(2, depth, features), stop, compressed)


def kary(k: int, depth: int, stop: float | None = None, features: int = 1, compressed: bool = False) -> Case:
    tree = hsb.KaryTree(k=k, depth=depth, space=hsb.Box.unit(features))
    return Case(tree, naive.kary_tree(k, depth, stop), divided(k, depth, features), stop, compressed)


def lexicographic(leaves: int) -> Case:
    return Case(hsb.Lexicographic(leaves=leaves), naive.lexicographic(leaves), line(leaves))


def grouped(leaves: int, groups: int) -> Case:
    graph = hsb.GroupedLexicographic(leaves=leaves, groups=groups, space=hsb.Cells(leaves))
    return Case(graph, naive.grouped_lexicographic(leaves, groups), line(leaves))


def position(bits: Sequence[int]) -> Case:
    return Case(hsb.PositionSplits(bits=bits), naive.position_splits(bits), grid([2**b for b in bits]))


def arbitrary(leaves: int) -> Case:
    return Case(hsb.ArbitrarySplits(leaves=leaves), naive.arbitrary_splits(leaves), line(leaves))


def hierarchy(leaves: int, seed: int = 0) -> Case:
    shape = naive.random_hierarchy(np.random.default_rng(seed), leaves)
    return Case(as_hierarchy(shape), shape, line(leaves))


def one_of(stop: float | None = None, compressed: bool = False) -> Case:
    """Return two structures with different leaves: eight cells and six."""
    cells = line(24)
    shape = naive.one_of(
        over(naive.binary_tree(3, stop), line(8), cells), over(naive.grouped_lexicographic(6, 3), line(6), cells)
    )
    if stop is None:
        return Case(hsb.OneOf(hsb.BinaryTree(depth=3), hsb.GroupedLexicographic(leaves=6, groups=3)), shape, cells, stop)
    pair = hsb.OneOf(hsb.BinaryTree(depth=3), hsb.KaryTree(k=3, depth=1))
    other = over(naive.kary_tree(3, 1, stop), line(3), cells)
    return Case(pair, naive.one_of(over(naive.binary_tree(3, stop), line(8), cells), other), cells, stop, compressed)


def nested() -> Case:
    """A tree on each of two features, or both features together."""
    square = hsb.Box.unit(2)
    cells = grid([4, 4])
    first = over(naive.binary_tree(2), [(*side, (0.0, 1.0)) for side in line(4)], cells)
    second = over(naive.binary_tree(1), [((0.0, 1.0), *side) for side in line(2)], cells)
    structure = hsb.OneOf(
        hsb.OneOf(hsb.BinaryTree(depth=2, space=square, features=[0]), hsb.BinaryTree(depth=1, space=square, features=[1])),
        hsb.PositionSplits(bits=[2, 2]),
    )
    return Case(structure, naive.one_of(naive.one_of(first, second), naive.position_splits([2, 2])), cells)


STOP = st.sampled_from(STOPS)
FEATURES = st.integers(1, 2)
FAMILIES: dict[type[hsb.Structure], SearchStrategy[Case]] = {
    hsb.BinaryTree: st.builds(binary, st.integers(0, 4), STOP, FEATURES, st.booleans()),
    hsb.KaryTree: st.builds(kary, st.integers(2, 5), st.integers(0, 2), STOP, FEATURES, st.booleans()),
    hsb.Lexicographic: st.builds(lexicographic, st.integers(1, 9)),
    hsb.GroupedLexicographic: st.builds(grouped, st.integers(1, 8), st.integers(2, 5)),
    hsb.PositionSplits: st.builds(position, st.sampled_from([[0], [3], [1, 1], [2, 1], [1, 0, 1], [1, 1, 1]])),
    hsb.ArbitrarySplits: st.builds(arbitrary, st.integers(1, 5)),
    hsb.Hierarchy: st.builds(hierarchy, st.integers(2, 8), st.integers(0, 1000)),
    hsb.OneOf: st.one_of(st.builds(nested), st.builds(one_of, st.sampled_from([None, 0.2, 0.9]), st.booleans())),
}
EXAMPLES = {
    "binary": binary(3),
    "binary, compressed": binary(3, compressed=True),
    "binary, stop 0.9": binary(4, 0.9, features=2),
    "binary, never stop, compressed": binary(3, 0.0, compressed=True),
    "3-ary, stop 0.2": kary(3, 2, 0.2),
    "lexicographic": lexicographic(7),
    "3 groups, cells": grouped(6, 3),
    "position": position([2, 1]),
    "arbitrary": arbitrary(4),
    "hierarchy": hierarchy(6, seed=3),
    "one of": one_of(),
    "one of, nested": nested(),
}
each_example = pytest.mark.parametrize("case", EXAMPLES.values(), ids=EXAMPLES)


def with_tree(policy: hsb.HSB) -> hsb.HSB:
    """Return the policy as in files from before ensembles: advised by a tree of cells, whatever its features."""
    settings = {name: value for name, value in policy.settings().items() if name != "advisor"}
    return hsb.HSB.from_settings(settings, {"arms": policy.arms, "seed": 0})
