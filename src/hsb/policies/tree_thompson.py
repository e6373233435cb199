"""A context tree with Thompson sampling: the same two passes as HSB's, with Beta counts in the nodes."""

import operator
from collections.abc import Iterable
from itertools import islice, starmap
from typing import Any, ClassVar, Self

import numpy as np

from .. import reproducible_math
from ..checks import is_number, is_scalar, stop_prior
from ..engine.kernels import header as h
from ..engine.kernels.words import tree as tree_words
from ..engine.state import Member, aligned_zeros, chain_prior, checked, resized
from ..errors import BudgetError, InputError, quoted
from ..learners.keys import Keys
from ..policy.loss_range import UNIT
from ..structures import KaryTree, Structure, from_dict
from ..structures.quantise import WORD, digit_bits, key_words
from ..types import Arms, Arrays, Floats, Ints, Masks, Outside, Range, Seed, Table
from .located import Located

LEAST = 1e-12  # propensities are known to 1e-8; that of an arm played is never given as less than this
PRIOR = (1e-3, 1e6)
DEEPEST = 350.0  # depth * ln(1 / (1 - stop)): what a chain's odds may differ from 1 by, out of the 645 that x has
MOST_COUNT = 2.0**53  # adding 1 leaves it what it is
MANY = 1 << 62


class TreeThompson(Located):
    """Thompson sampling in every node of a tree, the nodes weighed by how well they predicted: for losses that are drawn at random.

    A node counts for each arm good (1 - loss) and bad (loss), beginning with the `prior`. It stops, with prior probability `stop`, or passes
    the context on to its child: the odds are those of Bayes (context tree weighting). With arm I, loss l and p the node's
    bad / (good + bad) of I, the node predicted q = p^l (1-p)^(1-l); from the leaf up, stop *= q and go *= the child's ratio, which is the
    sum of the child's two. A decision walks down to where it stops, draws a Beta for each offered arm of that node and plays
    the arm with the least loss. Learning does not use the propensity.

    - `structure`: `BinaryTree` or `KaryTree`, up to 504 levels with the default `stop`. Memory: at most two rows for each context visited.
    - `forgetting`: a number a little below 1, e.g. 0.997, for losses that change; None never forgets. At each visit to a node, before the
      round is counted, the counts of the arm played are multiplied by it, those of the other arms by 1 - (1 - forgetting)/10, and the
      evidence ratio of child and node is raised to the power of it. All tend to the prior. A chain of nodes that have seen the same
      rounds counts as one node there.
    - `stop`: the prior probability of stopping at a node, in [0, 1); None is one half.
    - `prior`: the counts (good, bad) with which every arm begins in every node, each from 0.001 to 1,000,000.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    A decision's propensity is an integral, good to 1e-8 and at least 1e-12, and takes longer than the decision; `simulate` gives NaN instead.

    >>> import hsb
    >>> policy = TreeThompson(hsb.BinaryTree(depth=10), arms=3, seed=0)
    >>> decision = policy.decide(0.37)
    >>> policy.learn(decision, loss=1.0)
    >>> policy.probabilities(0.37).round(3)[decision.arm]
    np.float64(0.167)
    """

    _kernels: ClassVar[Any]
    _own = ("locator", "_tree")
    guarantee: ClassVar[str] = (
        "None against losses that an adversary picks. For losses drawn at random, arm by arm, it is Bayes' rule with a heuristic choice of arm."
    )
    structure: KaryTree

    def __init__(
        self,
        structure: Structure,
        *,
        arms: Arms,
        forgetting: float | None = None,
        stop: float | None = None,
        prior: tuple[float, float] = (1.0, 1.0),
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        if not isinstance(structure, KaryTree):
            raise InputError(
                f"TreeThompson needs a tree, hsb.BinaryTree(depth=10) or hsb.KaryTree(k=3, depth=6); given {quoted(structure)}. "
                "hsb.HSB takes every structure."
            )
        if forgetting is not None and not (is_number(forgetting) and 0.0 < forgetting < 1.0):
            raise InputError(
                f"forgetting must be in (0, 1), e.g. 0.997, or None to forget nothing; given {quoted(forgetting)}."
            )
        self.stop = stop_prior(stop)
        self.prior = _counts(prior)
        self.forgetting = None if forgetting is None else float(forgetting)
        super().__init__(arms=arms, loss_range=loss_range, reward_range=reward_range, outside=outside, floor=floor, seed=seed)
        self.structure = structure
        self.locator = Keys(structure)
        self._tree = self._fresh(len(self.arms))
        self._refresh()

    def _choose(self, offered: Masks, u: float) -> tuple[int, float]:
        F, I = self._tree
        index: int = self._kernels.choose(F, I, self.locator.key, offered, *self.prior, len(self.arms), u)
        self._fill(offered, self._p)
        return index, min(max(float(self._p[index]), LEAST), 1.0)

    def _fill(self, offered: Masks, p: Floats) -> None:
        F, I = self._tree
        self._kernels.probabilities(F, I, self.locator.key, offered, *self.prior, p, self._work)

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        key, keep = self.locator.key, 1.0 if self.forgetting is None else self.forgetting
        done: list[Any] = self._done
        while True:
            given = (*self._tree, key, index, loss, *self.prior, keep, len(self.arms))
            done.extend(map(operator.not_, starmap(self._kernels.update, (given,))))  # 0 where it was learned, in the same step
            if not done[-1]:
                return
            self._grow()

    def _play(self, points: Table, masks: Masks, losses: Floats, us: Floats, arms: Ints, chances: Floats, to_come: int) -> None:
        keys, keep = self.locator.keys(points), 1.0 if self.forgetting is None else self.forgetting
        chances[:] = np.nan
        done = 0
        while True:
            given = (*self._tree, keys, masks, losses, us, *self.prior, keep, arms, done)
            self._done.extend(zip(starmap(self._kernels.play, (given,)), (0,), strict=False))  # (rounds so far, 0)
            done = self._done[-1][0]
            if done == len(us):
                return
            self._grow(to_come - done)

    def _grow(self, rounds: int = MANY) -> None:
        self._tree = resized(self._tree, *self._tree.kind.room(self._tree, rounds))

    def _fresh(self, arms: int) -> Member:
        """A tree without rows, laid out as `engine/kernels/header.py` says of a compressed one."""
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

    def _widen(self) -> None:
        """The new arm is at its prior in every node."""
        old, arms = self._tree, len(self.arms)
        rows = int(old.I[tree_words.ROWS])
        fresh = self._fresh(arms + 1)
        capacity = int(old.I[tree_words.CAPACITY])
        wider = resized(fresh, len(fresh.F) + capacity * int(fresh.I[tree_words.STRIDE]), len(old.I))
        wider.I[tree_words.ROWS] = rows
        wider.I[wider.I[tree_words.LINKS] :] = old.I[old.I[tree_words.LINKS] :]
        _rows(wider, rows)[:, : 1 + 2 * arms] = _rows(old, rows)[:, : 1 + 2 * arms]
        self._tree = wider

    def _refresh(self) -> None:
        from ..engine.kernels import beta, thompson

        super()._refresh()
        type(self)._kernels = thompson
        self._p = np.empty(len(self.arms))
        self._work = np.empty((len(self.arms), beta.COLUMNS))

    def to_arrays(self) -> Arrays:
        floats, ints = self._tree.settled()
        return {"floats": floats, "ints": ints}

    def take_arrays(self, arrays: Arrays) -> None:
        self._tree = checked(arrays["floats"], arrays["ints"], self._tree, self._take_rows)

    def _take_rows(self, own: Member, F: Floats) -> bool:
        """Counts, and the evidence of what hangs below: 1 in a leaf."""
        I, words = own.I, 1 + 2 * len(self.arms)
        mine, theirs = _rows(own, int(I[tree_words.ROWS])), _rows(Member(F, I), int(I[tree_words.ROWS]))[:, :words]
        leaf = (I[I[tree_words.LINKS] :: I[tree_words.LINK_STRIDE]][: len(mine)] & 4095) == I[tree_words.DEPTH]
        floor, x, counts = self._kernels.FLOOR, theirs[:, 0], theirs[:, 1:]
        mine[:, :words] = theirs
        return bool(
            ((counts >= 0.0) & (counts <= MOST_COUNT)).all()
            and (np.where(leaf, x == 1.0, (x >= floor) & (x <= 1.0 / floor))).all()
        )

    def settings(self) -> dict[str, Any]:
        return {
            "structure": self.structure.to_dict(),
            "forgetting": self.forgetting,
            "stop": self.stop,
            "prior": list(self.prior),
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        return cls(from_dict(settings.pop("structure")), **settings, **common)

    def _shown(self) -> dict[str, Any]:
        return {"structure": self.structure, "forgetting": self.forgetting}


def _rows(tree: Member, rows: int) -> Floats:
    """The rows in use, one a line."""
    start, stride = int(tree.I[tree_words.ROW0]), int(tree.I[tree_words.STRIDE])
    return tree.F[start : start + rows * stride].reshape(rows, stride)


def _counts(prior: tuple[float, float]) -> tuple[float, float]:
    several = isinstance(prior, Iterable) and not isinstance(prior, str | bytes) and not is_scalar(prior)
    pair = tuple(islice(prior, 3)) if several else ()
    if len(pair) != 2 or not all(is_number(v) and PRIOR[0] <= v <= PRIOR[1] for v in pair):
        raise InputError(
            f"prior must be (good, bad): what every node counts of every arm to begin with, two numbers in [{PRIOR[0]:g}, {PRIOR[1]:g}], "
            f"e.g. (1, 1); given {quoted(prior)}."
        )
    return float(pair[0]), float(pair[1])
