"""The paper's hierarchies, node by node: the structures of the slow versions in `mixture.py`.

Notation is the paper's (Section III): node i has a region r_i, a set of leaves, and a set Phi_i of child groups phi, each of which
partitions r_i.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt

Node = Hashable
Group = tuple[Node, ...]
Array = npt.NDArray[np.float64]
Region = Callable[[Any], Iterable[int]]
Split = Callable[[Any], Iterable[Group]]
Interval = tuple[int, int]  # first, and one past the last


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A hierarchical structure (Section IV): regions, child groups and prior.

    `stop[i]` is the prior probability of stopping at node i; the rest is shared
    equally among the groups of i. By default, stopping and each group
    have 1 / (|Phi_i| + 1), as in the paper. A node without groups always stops.
    """

    root: Node
    regions: dict[Node, frozenset[int]]
    groups: dict[Node, list[Group]]
    leaves: int
    stop: dict[Node, float] | None = None

    def __post_init__(self) -> None:
        if self.regions[self.root] != set(range(self.leaves)):
            raise ValueError(f"root {self.root!r} does not cover {self.leaves} leaves")
        for node, groups in self.groups.items():
            for group in groups:
                parts = sorted(leaf for child in group for leaf in self.regions[child])
                if parts != sorted(self.regions[node]):
                    raise ValueError(f"group {group!r} does not partition node {node!r}")

    def options(self, node: Node) -> tuple[float, list[tuple[float, Group]]]:
        """Prior of stopping at `node`, and (prior, group) for each of its groups."""
        groups = self.groups[node]
        if not groups:
            return 1.0, []
        stop = (self.stop or {}).get(node, 1 / (len(groups) + 1))
        return stop, [((1 - stop) / len(groups), group) for group in groups]

    @cached_property
    def children_first(self) -> list[Node]:
        """Every node that can be reached, each after all of its children."""
        done: dict[Node, None] = {}

        def visit(node: Node) -> None:
            if node not in done:
                for group in self.groups[node]:
                    for child in group:
                        visit(child)
                done[node] = None

        visit(self.root)
        return list(done)

    def containing(self, leaf: int) -> list[Node]:
        """The nodes whose region contains `leaf`, children first."""
        return [i for i in self.children_first if leaf in self.regions[i]]


def _grow(root: Node, leaves: int, region: Region, split: Split) -> Hierarchy:
    """The hierarchy below `root`, from what a node covers and how it may split."""
    regions: dict[Node, frozenset[int]] = {}
    groups: dict[Node, list[Group]] = {}
    todo = [root]
    while todo:
        node = todo.pop()
        if node not in regions:
            regions[node] = frozenset(region(node))
            groups[node] = list(split(node))
            todo += [child for group in groups[node] for child in group]
    return Hierarchy(root, regions, groups, leaves)


def with_stop(hierarchy: Hierarchy, stop: float | None) -> Hierarchy:
    """The same structure with stop prior `stop` at every node that can split."""
    if stop is None:
        return hierarchy
    return replace(hierarchy, stop={i: stop for i, g in hierarchy.groups.items() if g})


def kary_tree(k: int, depth: int, stop: float | None = None) -> Hierarchy:
    """K-ary tree (Example 3). A node is the path of digits that leads to it."""

    def region(path: tuple[int, ...]) -> Iterable[int]:
        width = k ** (depth - len(path))
        first = width * sum(digit * k**index for index, digit in enumerate(reversed(path)))
        return range(first, first + width)

    def split(path: tuple[int, ...]) -> Iterator[Group]:
        if len(path) < depth:
            yield tuple((*path, digit) for digit in range(k))

    return with_stop(_grow((), k**depth, region, split), stop)


def binary_tree(depth: int, stop: float | None = None) -> Hierarchy:
    """Binary tree (Example 2)."""
    return kary_tree(2, depth, stop)


def lexicographic(n: int) -> Hierarchy:
    """Lexicographical splitting graph (Example 4): an interval splits at every cut."""
    return grouped_lexicographic(n, 2)


def grouped_lexicographic(n: int, k: int) -> Hierarchy:
    """K-group lexicographical splitting (Example 5): every choice of k - 1 cuts.

    An interval shorter than k splits into its leaves, so that every mapping is modelled.
    """

    def split(node: Interval) -> Iterator[Group]:
        a, b = node
        if b - a > 1:
            for cuts in combinations(range(a + 1, b), min(k, b - a) - 1):
                yield tuple(pairwise((a, *cuts, b)))

    return _grow((0, n), n, lambda node: range(*node), split)


def position_splits(bits: Sequence[int]) -> Hierarchy:
    """Arbitrary position splitting (Example 6): halve any side longer than one cell.

    Leaves are numbered row-major by cell, the first feature most significant.
    """
    shape = tuple(2**b for b in bits)

    def region(box: tuple[Interval, ...]) -> Iterable[int]:
        cells = product(*(range(a, b) for a, b in box))
        return (int(np.ravel_multi_index(cell, shape)) for cell in cells)

    def split(box: tuple[Interval, ...]) -> Iterator[Group]:
        for d, (a, b) in enumerate(box):
            if b - a > 1:
                halves = (a, (a + b) // 2), ((a + b) // 2, b)
                yield tuple((*box[:d], half, *box[d + 1 :]) for half in halves)

    return _grow(tuple((0, side) for side in shape), math.prod(shape), region, split)


def arbitrary_splits(n: int) -> Hierarchy:
    """Arbitrary splitting (Example 1): every division of a set into two parts."""

    def split(node: frozenset[int]) -> Iterator[Group]:
        first, *rest = sorted(node)
        for size in range(len(rest)):  # never all of `rest`: the other part is not empty
            for others in combinations(rest, size):
                part = frozenset((first, *others))
                yield part, node - part

    return _grow(frozenset(range(n)), n, lambda node: node, split)


def one_of(*hierarchies: Hierarchy, stop: float | None = None) -> Hierarchy:
    """A root whose options are whole hierarchies, each a group with a single child.

    Node i of hierarchy k is named (k, i); all have the same leaves. `stop` is the stop
    prior of the new root.
    """
    leaves = hierarchies[0].leaves
    root: Node = "one of"
    regions: dict[Node, frozenset[int]] = {root: frozenset(range(leaves))}
    groups: dict[Node, list[Group]] = {root: [((k, h.root),) for k, h in enumerate(hierarchies)]}
    stops: dict[Node, float] = {} if stop is None else {root: stop}
    for k, h in enumerate(hierarchies):
        for i in h.regions:
            regions[k, i] = h.regions[i]
            groups[k, i] = [tuple((k, j) for j in group) for group in h.groups[i]]
        stops |= {(k, i): probability for i, probability in (h.stop or {}).items()}
    return Hierarchy(root, regions, groups, leaves, stops)


def random_hierarchy(rng: np.random.Generator, leaves: int) -> Hierarchy:
    """A random graph on sets of leaves; a set of two or more has 1 to 3 groups."""

    def split(node: frozenset[int]) -> Iterable[Group]:
        result: dict[frozenset[frozenset[int]], Group] = {}
        for _ in range(rng.integers(1, 4) if len(node) > 1 else 0):
            members = rng.permutation(sorted(node)).tolist()
            count = rng.integers(1, min(len(node), 4))  # cuts: one less than parts
            cuts = sorted(rng.choice(range(1, len(node)), count, replace=False).tolist())
            parts = [frozenset(members[a:b]) for a, b in pairwise([0, *cuts, len(node)])]
            result[frozenset(parts)] = tuple(parts)  # a repeated division counts once
        return result.values()

    return _grow(frozenset(range(leaves)), leaves, lambda node: node, split)
