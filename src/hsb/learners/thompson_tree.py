"""A context tree with Beta counts in its nodes: the learner of TreeThompson."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, Self

import numpy as np

from .. import reproducible_math
from ..engine.kernels import header as h
from ..engine.kernels.words import tree as tree_words
from ..engine.state import Member, aligned_zeros, chain_prior, member_from_arrays, resized
from ..errors import BudgetError
from ..policy.learner import Choice, Learner, Memo, Played
from ..structures import KaryTree
from ..structures.quantise import WORD, digit_bits, key_words
from ..types import Arrays, Floats, Ints, Masks
from .keys import Keys
from .masks import EVERY_ARM, masks_of

LEAST = 1e-12  # propensities are known to 1e-8; that of an arm played is never given as less than this
DEEPEST = 350.0  # depth * ln(1 / (1 - stop)): what a chain's odds may differ from 1 by, out of the 645 that x has
MOST_COUNT = 2.0**53  # adding 1 leaves it what it is
MANY = 1 << 62


class TreeModel(NamedTuple):
    """The prior of a tree and its forgetting."""

    structure: KaryTree
    stop: float | None
    """The prior probability of stopping at a node; None is one half."""
    prior: tuple[float, float]
    """The counts (good, bad) with which every arm begins in every node."""
    forgetting: float | None

    @property
    def keep(self) -> float:
        """The factor that a visit applies to the counts of the arm played."""
        return 1.0 if self.forgetting is None else self.forgetting

    def fresh(self, arms: int) -> Member:
        """Make a tree without rows, in the layout of a compressed tree in `engine/kernels/header.py`."""
        k, depth, stop = self.structure.k, self.structure.depth, 0.5 if self.stop is None else self.stop
        if -depth * reproducible_math.log1p(-stop) > DEEPEST:
            raise BudgetError(
                f"depth={depth} with stop={stop}: passing every node has prior e^{depth * reproducible_math.log1p(-stop):.0f}; "
                f"depth * ln(1 / (1 - stop)) may be {DEEPEST:.0f} at most. Use a smaller depth or stop."
            )
        links, bits, words = np.arange(depth + 1), digit_bits(k), key_words(k, depth)
        go = 8 + len(links)
        header = {
            h.KIND: h.COMPRESSED,
            h.ARMS: arms,
            h.VISITS: depth + 1,
            h.WEIGHT: 8,
            tree_words.GO: go,
            tree_words.STAY: go + len(links),
            tree_words.ROW0: -(-(go + 2 * len(links)) // 8) * 8,
            tree_words.STRIDE: -(-(1 + 2 * arms) // 8) * 8,  # whole cache lines
            tree_words.PATH: h.HEADER,
            tree_words.LINKS: h.HEADER + len(links),
            tree_words.LINK_STRIDE: 1 + k + words,
            tree_words.DEPTH: depth,
            tree_words.FANOUT: k,
            tree_words.BITS: bits,
            tree_words.PER_WORD: WORD // bits,
            tree_words.WORDS: words,
        }
        F, I = aligned_zeros(header[tree_words.ROW0]), np.zeros(header[tree_words.LINKS], dtype=np.int64)
        I[list(header)] = list(header.values())
        F[go : go + len(links)], F[go + len(links) : go + 2 * len(links)] = chain_prior(stop, depth)
        return Member(F, I)

    def widened(self, tree: Member, arms: int) -> Member:
        """A tree of `arms` arms with one more, which is at its prior in every node."""
        rows, capacity = int(tree.I[tree_words.ROWS]), int(tree.I[tree_words.CAPACITY])
        fresh = self.fresh(arms + 1)
        wider = resized(fresh, len(fresh.F) + capacity * int(fresh.I[tree_words.STRIDE]), len(tree.I))
        wider.I[tree_words.ROWS] = rows
        wider.I[wider.I[tree_words.LINKS] :] = tree.I[tree.I[tree_words.LINKS] :]
        _rows(wider, rows)[:, : 1 + 2 * arms] = _rows(tree, rows)[:, : 1 + 2 * arms]
        return wider


class ThompsonTree(Learner):
    """Thompson sampling in every node of a tree. The view of a context is its key.

    `tree` is what was learned, replaced by one assignment if it needs more room. `counted` has one number, the rounds learned.
    """

    def __init__(self, model: TreeModel, arms: int, tree: Member | None = None, counted: Ints | None = None) -> None:
        from ..engine.kernels import beta, thompson  # loads Numba: on first use

        self._kernels = thompson
        self.model, self.arms, self.keys = model, arms, Keys(model.structure)
        self.tree = model.fresh(arms) if tree is None else tree
        self.counted: Ints = np.zeros(1, dtype=np.int64) if counted is None else counted
        self._p, self._work = np.empty(arms), np.empty((arms, beta.COLUMNS))  # scratch

    # -- a round -------------------------------------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        return int(self.counted.item(0))

    def read(self, context: Any) -> tuple[Ints, int]:
        return self.keys.read(context)

    def recall(self, context: Any, memo: Memo | None) -> tuple[Ints, int]:
        return self.keys.read(context)

    def choose(self, view: Ints, mask: Masks | None, u: float) -> Choice:
        available = EVERY_ARM if mask is None else mask
        arm: int = self._kernels.choose(*self.tree, view, available, *self.model.prior, self.arms, u)
        self.fill(view, mask, self._p)
        return arm, min(max(float(self._p[arm]), LEAST), 1.0), -1.0

    def fill(self, view: Ints, mask: Masks | None, p: Floats) -> None:
        available = EVERY_ARM if mask is None else mask
        self._kernels.probabilities(*self.tree, view, available, *self.model.prior, p, self._work)

    def learn(self, view: Ints, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None) -> None:
        how = loss, *self.model.prior, self.model.keep, self.arms
        while not self._kernels.update(*self.tree, self.counted, view, arm, *how):
            self._grow()

    def _grow(self, rounds: int = MANY) -> None:
        """Make room for at least one more round, or for as many as `rounds` if that is not much."""
        self.tree = resized(self.tree, *self.tree.kind.room(self.tree, rounds))

    # -- tables --------------------------------------------------------------------------------------------------------

    def check(self, contexts: Any) -> tuple[Floats, int]:
        return self.keys.check(contexts)

    def read_rows(self, points: Floats, start: int) -> Ints:
        return self.keys.keys(points[start:])

    def play(self, view: Ints, table: Played, start: int, share: float, to_come: int) -> None:
        n, done = len(view), 0
        rows = slice(start, start + n)
        arguments = (
            view,
            masks_of(table.masks, rows),
            table.losses[rows],
            table.us[rows],
            *self.model.prior,
            self.model.keep,
            table.arms[rows],
        )
        table.probabilities[rows] = np.nan
        while True:
            done = self._kernels.play(*self.tree, self.counted, *arguments, done)
            if done == n:
                return
            self._grow(to_come - done)

    # -- arms, copies, files -------------------------------------------------------------------------------------------

    def with_arm(self, arm: Hashable, features: Any = None) -> Self:
        return type(self)(self.model, self.arms + 1, self.model.widened(self.tree, self.arms), self.counted.copy())

    def copy(self) -> Self:
        return type(self)(self.model, self.arms, self.tree.copy(), self.counted.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model, self.arms, self.tree, self.counted)

    def to_arrays(self) -> Arrays:
        floats, ints = self.tree.settled()
        return {"floats": floats, "ints": ints}

    def from_arrays(self, arrays: Arrays, rounds: int) -> Self:
        tree = member_from_arrays(arrays["floats"], arrays["ints"], self.tree, self._take_rows)
        return type(self)(self.model, self.arms, tree, np.array([rounds], dtype=np.int64))

    def _take_rows(self, own: Member, F: Floats) -> bool:
        """Take counts, and the evidence of what hangs below: 1 in a leaf. False if no rounds lead to them."""
        I, words = own.I, 1 + 2 * self.arms
        mine, theirs = _rows(own, int(I[tree_words.ROWS])), _rows(Member(F, I), int(I[tree_words.ROWS]))[:, :words]
        leaf = (I[I[tree_words.LINKS] :: I[tree_words.LINK_STRIDE]][: len(mine)] & 4095) == I[tree_words.DEPTH]
        floor, x, counts = self._kernels.FLOOR, theirs[:, 0], theirs[:, 1:]
        mine[:, :words] = theirs
        return bool(
            ((counts >= 0.0) & (counts <= MOST_COUNT)).all()
            and (np.where(leaf, x == 1.0, (x >= floor) & (x <= 1.0 / floor))).all()
        )

    def settings(self) -> dict[str, Any]:
        structure, stop, prior, forgetting = self.model
        return {"structure": structure.to_dict(), "forgetting": forgetting, "stop": stop, "prior": list(prior)}

    def repr_settings(self) -> dict[str, Any]:
        return {"structure": self.model.structure, "forgetting": self.model.forgetting}


def _rows(tree: Member, rows: int) -> Floats:
    """The rows in use, one a line."""
    start, stride = int(tree.I[tree_words.ROW0]), int(tree.I[tree_words.STRIDE])
    return tree.F[start : start + rows * stride].reshape(rows, stride)
