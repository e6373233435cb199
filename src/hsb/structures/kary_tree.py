"""Examples 2 and 3: binary and K-ary trees."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import reproducible_math
from ..checks import whole
from ..engine.state import Member, make_tree
from ..errors import BudgetError, InputError
from ..types import Floats, Ints
from .base import Cost, Structure, check_cells, code, use_space
from .boxes import Boxes, tree_box
from .dearest import Level, dearest_in_tree
from .quantise import WORD, digit_bits, halvings, key_words
from .spaces import Space
from .walk import Group

MOST_CHILDREN = 4096
MOST_DEPTH = 4000
FEATURE_BITS = 52  # a double does not resolve cells finer than 2^-52


class KaryTree(Structure):
    """A tree whose nodes, (level, number), divide into `k` equal parts, `depth` times, features taken in turn (Example 3).

    N = k^depth leaves, Psi = k, H_S = 1, A_R = (R-1) depth (see `hsb.Structure`). A round costs O(depth) nodes; memory grows with the
    visited nodes. A large tree is path-compressed: a round then costs O(log rounds) nodes, whatever the depth. Each feature may be divided
    until its cells are 2^-52 wide. `k` is at most 4096, `depth` at most 4000. `space`, `features`: as in `hsb.Structure`.

    >>> KaryTree(k=3, depth=4).leaves
    81
    """

    root = (0, 0)
    resolves = takes_stop = True

    def __init__(self, *, k: int, depth: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        self.space, self.features = use_space(space, features)
        self.k = whole("k", k, 2)
        if self.k > MOST_CHILDREN:
            raise BudgetError(
                f"k={self.k}: a node may have at most {MOST_CHILDREN:,} children. Use more levels and a smaller k."
            )
        self.depth = whole("depth", depth, 0)
        most = math.floor(FEATURE_BITS / math.log2(self.k))
        if max(halvings(self.depth, len(self.features))) > most:
            raise InputError(
                f"depth={self.depth} would divide a feature more than {most} times, finer than the precision of a double. "
                f"With {len(self.features)} feature{'s' * (len(self.features) > 1)} and k={self.k} depth may be "
                f"at most {most * len(self.features)}."
            )
        if self.depth > MOST_DEPTH:
            raise BudgetError(
                f"depth={self.depth}: a tree may have at most {MOST_DEPTH} levels. Use fewer features, or coarser cells."
            )
        self.leaves = self.k**self.depth
        self.max_group, self.max_groups = self.k, min(1, self.depth)
        check_cells(self)

    def groups(self, node: tuple[int, int]) -> list[Group]:
        level, number = node
        return [tuple((level + 1, number * self.k + part) for part in range(self.k))] if level < self.depth else []

    def leaves_of(self, node: tuple[int, int]) -> range:
        width = self.k ** (self.depth - node[0])
        return range(node[1] * width, (node[1] + 1) * width)

    def boxes(self, node: tuple[int, int]) -> Boxes:
        return (tree_box(node[1], node[0], self.k, len(self.features)),)

    @property
    def cost(self) -> Cost:
        return Cost(self.depth + 1, self.depth)

    def splits(self, regions: int, arms: int) -> int:
        return (regions - 1) * self.depth

    def log_beta(self, symbols: Ints, values: Floats, stop: float | None) -> float:
        """Return ln beta at the root, level by level from the leaves. O(symbols). k^d symbols, fewer than leaves, are those of level d."""
        log_q, log_go = (
            reproducible_math.ln(0.5 if stop is None else stop),
            reproducible_math.log1p(-0.5 if stop is None else -stop),
        )
        below = values  # V of a node with one symbol
        levels = round(math.log(len(symbols), self.k))
        for _ in range(self.depth - levels):
            below = np.logaddexp(log_q + values, log_go + self.k * below)
        one, weight = symbols, below[symbols]  # `one`: the symbol of a node if it is constant, else -1
        for _ in range(levels):
            children = one.reshape(-1, self.k)
            one = np.where((children == children[:, :1]).all(axis=1), children[:, 0], -1)
            here = np.where(one >= 0, log_q + values[one], -np.inf)
            weight = np.logaddexp(here, log_go + weight.reshape(-1, self.k).sum(axis=1))
        return float(weight[0])

    def prior_bound(self, regions: int, arms: int, stop: float | None) -> float:
        """Return Theorem 2's bound; with a stop prior, the smaller of the costs of few splits and of splitting everywhere."""
        if stop is None:
            return super().prior_bound(regions, arms, stop)
        log_go, splits = reproducible_math.log1p(-stop), self.splits(regions, arms)
        whole_tree = self.leaves * reproducible_math.ln(arms) - (self.leaves - 1) // (self.k - 1) * log_go
        few = (splits * (self.k - 1) + 1) * (reproducible_math.ln(arms) - reproducible_math.ln(stop)) - splits * log_go
        return min(few, whole_tree)

    def worst_cost(self, regions: int, arm_cost: float, arms: int, stop: float | None) -> float:
        """Return the largest cost, exact if all arms cost the same (`dearest.py`)."""
        stop = 0.5 if stop is None else stop
        log_stop = reproducible_math.ln(stop) if stop > 0.0 else -math.inf
        level = Level(self.k, log_stop, reproducible_math.log1p(-stop))
        return dearest_in_tree((level,) * self.depth, -arm_cost, regions - 1)

    def example(self, arms: int, regions: int) -> tuple[float, float, bool]:
        K, D, options = self.k, self.depth, reproducible_math.ln(2 * arms)
        return K * ((regions - 1) * D + 1) * options, K * regions * D * options, D >= 1

    def members(self, arms: int, stop: float | None) -> list[Member]:
        return [make_tree(self.k, self.depth, arms, 0.5 if stop is None else stop)]

    def codes(self) -> list[Ints]:
        from ..engine.kernels.keys import PATH

        bits = digit_bits(self.k)
        return [code(PATH, self.features, self.k, self.depth, bits, WORD // bits)]

    def key_words(self) -> list[int]:
        return [key_words(self.k, self.depth)]

    def _division(self) -> tuple[int, int]:
        return self.k, self.depth

    def parameters(self) -> dict[str, Any]:
        return {"k": self.k, "depth": self.depth}


class BinaryTree(KaryTree):
    """A tree that halves its features in turn, `depth` times (Example 2; the quantiser of Section V).

    - `depth`: how often; at most 52 times the number of features.
    - `space`: where contexts lie, an `hsb.Box` or `hsb.Cells`; None is the unit interval, `hsb.Box.unit()`.
    - `features`: the numbers of the features of the space that the tree looks at; None: all of them.

    N = 2^depth leaves, Psi = 2, H_S = 1, A_R = (R-1) log2 N (the letters: `hsb.Structure`).

    >>> BinaryTree(depth=10)
    BinaryTree(depth=10)
    >>> import hsb
    >>> hsb.BinaryTree(depth=6, space=hsb.Box([18, 0], [90, 1])).leaf_of([30, 0.5])
    18
    """

    def __init__(self, *, depth: int, space: Space | None = None, features: Sequence[int] | None = None) -> None:
        super().__init__(k=2, depth=depth, space=space, features=features)

    def parameters(self) -> dict[str, Any]:
        return {"depth": self.depth}
