"""A decision tree grown on the arms that a policy plays, until the two agree nearly everywhere.

The leaves with the largest error are cut first. A leaf with few contexts gets more, drawn within it; so queries go to the borders
between arms, not to parts with a single arm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..types import Floats, Ints
from .columns import Column, Part, holds
from .cuts import Cut, best_cut
from .effort import Effort

THIN = 96  # a leaf with fewer contexts gets more
FULL = 256  # up to this number
AT_ONCE = 64  # leaves that are cut between two batches of queries

Query = Callable[
    [Sequence[tuple[Part, int]]], list[tuple[Floats, Ints]]
]  # from parts and numbers of contexts to coded contexts drawn there, and their arms


class Leaf(NamedTuple):
    """A part, its coded contexts X, the arms y played there, and weights w: the share of all contexts that each stands for."""

    part: Part
    X: Floats
    y: Ints
    w: Floats
    arm: int  # the one played most
    wrong: float  # the weight of the contexts where another is played

    @staticmethod
    def of(part: Part, X: Floats, y: Ints, w: Floats) -> Leaf:
        """Return the leaf of these contexts, at least one."""
        weights = np.bincount(y, weights=w)
        arm = int(np.argmax(weights))
        return Leaf(part, X, y, w, arm, float(weights.sum() - weights[arm]) if np.count_nonzero(weights) > 1 else 0.0)


class Growing:
    """A tree that grows: nodes by number, 0 the root; each node has a cut or is a leaf.

    `edges`: the only thresholds of a column, or None. `work`: the budget; None: no limit.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        edges: Sequence[Floats | None],
        X: Floats,
        y: Ints,
        w: Floats,
        work: Effort | None = None,
    ) -> None:
        self.columns, self.edges, self.work = tuple(columns), edges, work
        self.leaves = {0: Leaf.of(tuple(column.everything for column in columns), X, y, w)}
        self.cuts: dict[int, tuple[Cut, int, int]] = {}  # with the nodes on the two sides
        self.stuck: set[int] = set()  # leaves with equal contexts but different arms

    @property
    def wrong(self) -> float:
        """The share of the known contexts at which the tree has another arm."""
        return sum(leaf.wrong for leaf in self.leaves.values())

    def grow(self, error: float, most: int, query: Query | None = None) -> None:
        """Cut until at most `error` is wrong, there are `most` leaves, no leaf can be cut, or the budget is spent."""
        while len(self.leaves) < most:
            open_ones = [node for node, leaf in self.leaves.items() if leaf.wrong > 0.0 and node not in self.stuck]
            if not open_ones or self.wrong <= error:
                return
            open_ones.sort(key=lambda node: -self.leaves[node].wrong)
            removed = np.cumsum([self.leaves[node].wrong for node in open_ones])
            enough = 1 + int(np.searchsorted(removed, self.wrong - error))
            now = open_ones[: min(enough, AT_ONCE, most - len(self.leaves))]
            if query is not None:
                self._top_up(now, query)
            for node in now:
                if self.work is not None and self.work.over:
                    return
                self._cut(node)

    def _cut(self, node: int) -> None:
        leaf = self.leaves[node]
        if self.work is not None:
            self.work.charge_cut(len(leaf.y), len(np.unique(leaf.y)))
        cut = best_cut(leaf.part, self.columns, self.edges, leaf.X, leaf.y, leaf.w) if leaf.wrong > 0.0 else None
        if cut is None:
            self.stuck |= {node} if leaf.wrong > 0.0 else set()
            return
        j = cut.column
        left = holds(cut.left, self.columns[j], leaf.X[:, j])
        first = 1 + 2 * len(self.cuts)
        del self.leaves[node]
        for number, side, held in ((first, cut.left, left), (first + 1, cut.right, ~left)):
            part = (*leaf.part[:j], side, *leaf.part[j + 1 :])
            self.leaves[number] = Leaf.of(part, leaf.X[held], leaf.y[held], leaf.w[held])
        self.cuts[node] = (cut, first, first + 1)

    def _top_up(self, nodes: Sequence[int], query: Query) -> None:
        """Draw contexts for leaves that have few; a leaf's contexts then weigh the same."""
        thin = [node for node in nodes if len(self.leaves[node].y) < THIN]
        answers = query([(self.leaves[node].part, FULL - len(self.leaves[node].y)) for node in thin]) if thin else []
        for node, (X, y) in zip(thin, answers, strict=True):
            leaf = self.leaves[node]
            self.leaves[node] = _with(leaf, X, y, float(leaf.w.sum()))

    def add(self, X: Floats, y: Ints) -> None:
        """Add contexts from anywhere; a leaf's contexts then weigh the same."""
        known, where = sum(len(leaf.y) for leaf in self.leaves.values()), self.leaf_of(X)
        order = np.argsort(where, kind="stable")
        nodes, starts = np.unique(where[order], return_index=True)
        new = dict(zip(nodes.tolist(), np.split(order, starts[1:]), strict=True))
        nothing = np.zeros(0, dtype=np.int64)
        for node, leaf in self.leaves.items():
            rows = new.get(node, nothing)
            mass = (float(leaf.w.sum()) * known + len(rows)) / (known + len(X))
            self.leaves[node] = _with(leaf, X[rows], y[rows], mass)
        self.stuck.clear()

    def leaf_of(self, X: Floats) -> Ints:
        """Return the leaf of each coded context. O(nodes + contexts * depth)."""
        where = np.zeros(len(X), dtype=np.int64)
        todo = [(0, np.arange(len(X)))]
        while todo:
            node, rows = todo.pop()
            if node not in self.cuts:
                where[rows] = node
            elif len(rows):
                cut, first, second = self.cuts[node]
                left = holds(cut.left, self.columns[cut.column], X[rows, cut.column])
                todo += [(first, rows[left]), (second, rows[~left])]
        return where

    def arms(self, X: Floats) -> Ints:
        """Return the tree's arms at coded contexts."""
        arm = {node: leaf.arm for node, leaf in self.leaves.items()}
        return np.array([arm[node] for node in self.leaf_of(X).tolist()], dtype=np.int64)

    def arms_of_parts(self) -> list[tuple[Part, int]]:
        """Return every leaf's part and arm."""
        return [(leaf.part, leaf.arm) for leaf in self.leaves.values()]


def _with(leaf: Leaf, X: Floats, y: Ints, mass: float) -> Leaf:
    """Return a leaf with more contexts; all of its contexts together weigh `mass`."""
    n = len(leaf.y) + len(y)
    return Leaf.of(leaf.part, np.concatenate([leaf.X, X]), np.concatenate([leaf.y, y]), np.full(n, mass / n))
