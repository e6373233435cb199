"""A decision tree grown on what a policy plays, until it says the same nearly everywhere.

The leaves that are wrong most often are cut first. A leaf with few contexts is given more, drawn within it; so contexts are asked for
where arms meet, and not where all is clear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..types import Floats, Ints
from .columns import Column, Part, holds
from .cuts import Cut, best_cut
from .effort import Effort

THIN = 96  # contexts in a leaf below which more are drawn
FULL = 256  # and up to how many
AT_ONCE = 64  # leaves that are cut before anything is asked again

Ask = Callable[
    [Sequence[tuple[Part, int]]], list[tuple[Floats, Ints]]
]  # contexts (coded) drawn in each part, and the arms played there


class Leaf(NamedTuple):
    """A part, contexts in it (coded), the arms played there, and their weights: what share of all contexts each stands for."""

    part: Part
    X: Floats
    y: Ints
    w: Floats
    arm: int  # the one played most
    wrong: float  # the weight of the contexts where another is played

    @staticmethod
    def of(part: Part, X: Floats, y: Ints, w: Floats) -> Leaf:
        """The leaf of these contexts, of which there is one at least."""
        weights = np.bincount(y, weights=w)
        arm = int(np.argmax(weights))
        return Leaf(part, X, y, w, arm, float(weights.sum() - weights[arm]) if np.count_nonzero(weights) > 1 else 0.0)


class Growing:
    """A tree that grows: nodes by number, 0 the root; a cut for each that has one, a leaf for each that has none.

    `edges` are the only thresholds of a column, where given. `work`: what may be done; None: no limit.
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
        self.cuts: dict[int, tuple[Cut, int, int]] = {}  # and the nodes on its two sides
        self.stuck: set[int] = set()  # leaves whose contexts are all alike, though different arms are played

    @property
    def wrong(self) -> float:
        """The share of the contexts known that the tree gets wrong."""
        return sum(leaf.wrong for leaf in self.leaves.values())

    def grow(self, error: float, most: int, ask: Ask | None = None) -> None:
        """Cut until no more than `error` is wrong, or there are `most` leaves, or nothing can be cut, or no work is left."""
        while len(self.leaves) < most:
            open_ones = [node for node, leaf in self.leaves.items() if leaf.wrong > 0.0 and node not in self.stuck]
            if not open_ones or self.wrong <= error:
                return
            open_ones.sort(key=lambda node: -self.leaves[node].wrong)
            removed = np.cumsum([self.leaves[node].wrong for node in open_ones])
            enough = 1 + int(np.searchsorted(removed, self.wrong - error))
            now = open_ones[: min(enough, AT_ONCE, most - len(self.leaves))]
            if ask is not None:
                self._top_up(now, ask)
            for node in now:
                if self.work is not None and self.work.over:
                    return
                self._cut(node)

    def _cut(self, node: int) -> None:
        leaf = self.leaves[node]
        if self.work is not None:
            self.work.cut(len(leaf.y), len(np.unique(leaf.y)))
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

    def _top_up(self, nodes: Sequence[int], ask: Ask) -> None:
        """More contexts for those of the leaves that have few; each then weighs the same."""
        thin = [node for node in nodes if len(self.leaves[node].y) < THIN]
        answers = ask([(self.leaves[node].part, FULL - len(self.leaves[node].y)) for node in thin]) if thin else []
        for node, (X, y) in zip(thin, answers, strict=True):
            leaf = self.leaves[node]
            self.leaves[node] = _with(leaf, X, y, float(leaf.w.sum()))

    def add(self, X: Floats, y: Ints) -> None:
        """More contexts from the whole world; those of a leaf then weigh the same."""
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
        """The node of each coded context. O(nodes + contexts * depth)."""
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
        """The tree's arms at coded contexts."""
        arm = {node: leaf.arm for node, leaf in self.leaves.items()}
        return np.array([arm[node] for node in self.leaf_of(X).tolist()], dtype=np.int64)

    def found(self) -> list[tuple[Part, int]]:
        """Every leaf's part and arm."""
        return [(leaf.part, leaf.arm) for leaf in self.leaves.values()]


def _with(leaf: Leaf, X: Floats, y: Ints, mass: float) -> Leaf:
    """A leaf with more contexts, which together weigh `mass`."""
    n = len(leaf.y) + len(y)
    return Leaf.of(leaf.part, np.concatenate([leaf.X, X]), np.concatenate([leaf.y, y]), np.full(n, mass / n))
