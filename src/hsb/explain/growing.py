"""A decision tree grown on what a policy plays, until it says the same nearly everywhere.

The leaves that are wrong most often are cut first. A leaf with few contexts is given more, drawn within it; so contexts are asked for
where arms meet, and not where all is clear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..types import Floats, Ints
from .columns import Column, Part, inside
from .cuts import best_cut

THIN = 48  # contexts in a leaf below which more are drawn
FULL = 192  # and up to how many
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

    @property
    def arm(self) -> int:
        """The arm played most."""
        return int(np.argmax(np.bincount(self.y, weights=self.w)))

    @property
    def wrong(self) -> float:
        """The weight of the contexts where another arm is played."""
        return float(self.w[self.y != self.arm].sum())


class Growing:
    """The leaves of a tree that grows; `edges` are the only thresholds of a column, where given."""

    def __init__(self, columns: Sequence[Column], edges: Sequence[Floats | None], X: Floats, y: Ints, w: Floats) -> None:
        self.columns, self.edges = tuple(columns), edges
        self.done: list[Leaf] = []  # that cannot be cut
        self.leaves = [Leaf(tuple(column.everything for column in columns), X, y, w)]

    @property
    def all(self) -> list[Leaf]:
        """Every leaf."""
        return self.done + self.leaves

    @property
    def wrong(self) -> float:
        """The share of the contexts known that the tree gets wrong."""
        return sum(leaf.wrong for leaf in self.all)

    def grow(self, error: float, most: int, ask: Ask | None = None) -> None:
        """Cut until no more than `error` is wrong, or there are `most` leaves, or nothing can be cut."""
        while len(self.leaves) + len(self.done) < most:
            wrong = np.array([leaf.wrong for leaf in self.leaves])
            if not len(wrong) or wrong.sum() <= error or not wrong.any():
                return
            order = np.argsort(-wrong, kind="stable")
            some = min(AT_ONCE, most - len(self.leaves) - len(self.done), int(np.count_nonzero(wrong)))
            enough = int(np.searchsorted(np.cumsum(wrong[order]), wrong.sum() - error)) + 1
            chosen = set(order[: min(some, max(1, enough))].tolist())
            now = [self.leaves[i] for i in sorted(chosen)]
            self.leaves = [leaf for i, leaf in enumerate(self.leaves) if i not in chosen]
            for leaf in now if ask is None else topped_up(now, ask):
                self._cut(leaf)

    def _cut(self, leaf: Leaf) -> None:
        cut = best_cut(leaf.part, self.columns, self.edges, leaf.X, leaf.y, leaf.w) if leaf.wrong > 0.0 else None
        if cut is None:
            (self.done if leaf.wrong > 0.0 else self.leaves).append(leaf)
            return
        j = cut.column
        values = leaf.X[:, j]
        left = np.isin(values, sorted(cut.left)) if isinstance(cut.left, frozenset) else values < cut.left[1]
        for side, held in ((cut.left, left), (cut.right, ~left)):
            part = (*leaf.part[:j], side, *leaf.part[j + 1 :])
            self.leaves.append(Leaf(part, leaf.X[held], leaf.y[held], leaf.w[held]))

    def add(self, X: Floats, y: Ints) -> None:
        """More contexts from the whole world: all weights are set anew, each context of a leaf the same."""
        leaves, n = self.all, sum(len(leaf.y) for leaf in self.all)
        self.done = []
        self.leaves = []
        for leaf in leaves:
            held = inside(leaf.part, self.columns, X)
            old = float(leaf.w.sum())
            mass = (old * n + float(held.sum())) / (n + len(X))
            both = np.concatenate([leaf.X, X[held]]), np.concatenate([leaf.y, y[held]])
            self.leaves.append(Leaf(leaf.part, *both, np.full(len(both[1]), mass / max(len(both[1]), 1))))

    def found(self) -> list[tuple[Part, int]]:
        """Every leaf's part and arm."""
        return [(leaf.part, leaf.arm) for leaf in self.all]

    def arms(self, X: Floats) -> Ints:
        """The tree's arms at coded contexts. O(leaves * contexts)."""
        arms = np.full(len(X), -1, dtype=np.int64)
        for leaf in self.all:
            arms[inside(leaf.part, self.columns, X)] = leaf.arm
        return arms


def topped_up(leaves: Sequence[Leaf], ask: Ask) -> list[Leaf]:
    """The same leaves, the thin ones with more contexts."""
    thin = [i for i, leaf in enumerate(leaves) if len(leaf.y) < THIN]
    result = list(leaves)
    answers = ask([(leaves[i].part, FULL - len(leaves[i].y)) for i in thin]) if thin else []
    for i, (X, y) in zip(thin, answers, strict=True):
        leaf, n = leaves[i], len(leaves[i].y) + len(y)
        weights = np.full(n, float(leaf.w.sum()) / n)
        result[i] = Leaf(leaf.part, np.concatenate([leaf.X, X]), np.concatenate([leaf.y, y]), weights)
    return result
