"""Example 6: arbitrary position splitting."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from itertools import product
from typing import Any

import numpy as np

from .. import reproducible_math
from ..checks import listed, whole
from ..engine.kernels.words.graph import BOXES
from ..engine.state import Member, make_graph
from ..errors import BudgetError, InputError, quoted
from ..types import Floats, Ints
from .base import Cost, Structure, check_cells, code, no_stop, spelled, use_space
from .boxes import Boxes
from .dearest import Level, dearest_in_tree
from .quantise import cells
from .spaces import Space
from .walk import Group, Layer, log_sum

MOST_NODES = 1 << 21
MOST_BITS = 10_000  # whose powers would take too long to compute


class PositionSplits(Structure):
    """Nodes are boxes, one side for each feature; a box may be halved along any feature that has bits left (Example 6, HSB-APS).

    `bits` has an entry for each feature: feature j has 2^bits[j] equal cells. Psi = 2, H_S = number of features with bits,
    A_R = (R-1) log2 N (for the letters see `hsb.Structure`). A round visits prod(bits_j + 1) of the prod(2^(bits_j + 1) - 1) boxes: on d
    features of one bit each, 2^d of 3^d. At most 2^21 boxes in all. Leaves are numbered row by row: the first feature counts most.

    `space`: None is the unit cube with as many features as `bits` has entries. `features`: as in `hsb.Structure`.

    >>> PositionSplits(bits=[1] * 6).cost
    Cost(nodes=64, groups=192)
    """

    resolves = True

    def __init__(self, *, bits: Sequence[int], space: Space | None = None, features: Sequence[int] | None = None) -> None:
        self.bits = [whole(f"bits[{j}]", b, 0) for j, b in enumerate(listed("bits", bits, 10_000))]
        if not self.bits:
            raise InputError(f"bits needs one entry per feature, e.g. [3, 3]; given {quoted(bits)}.")
        self.space, self.features = use_space(space, features, default=len(self.bits))
        if len(self.features) != len(self.bits):
            raise InputError(
                f"bits needs one entry per feature: {len(self.features)} features, {len(self.bits)} entries. "
                "Change bits, or give space= and features= to match."
            )
        if sum(self.bits) > MOST_BITS:
            raise BudgetError(
                f"{sum(self.bits)} bits in all make far more boxes than the limit of {MOST_NODES:,}. Use fewer bits, or hsb.BinaryTree."
            )
        sides = [2 ** (b + 1) - 1 for b in self.bits]
        self.root = (1,) * len(sides)  # side 1 is the whole of a feature, and s has the halves 2s and 2s + 1
        self.inputs = math.prod(sides)
        self._scale = [math.prod(sides[j + 1 :]) for j in range(len(sides))]
        if self.inputs > MOST_NODES:
            raise BudgetError(
                f"bits={self.bits} makes {spelled(self.inputs)} boxes, {spelled(math.prod(b + 1 for b in self.bits))} of them in each round; "
                f"the limit is {MOST_NODES:,}. Use fewer bits, or hsb.BinaryTree, which costs one node per level."
            )
        self.leaves = 2 ** sum(self.bits)
        check_cells(self)
        self.max_group = 2 if self.leaves > 1 else 1
        self.max_groups = sum(b > 0 for b in self.bits)

    def groups(self, node: tuple[int, ...]) -> list[Group]:
        """List the halvings by feature, the first feature first."""
        able = [(j, side) for j, side in enumerate(node) if side < 2 ** self.bits[j]]
        return [tuple((*node[:j], half, *node[j + 1 :]) for half in (2 * side, 2 * side + 1)) for j, side in able]

    def options(self, node: tuple[int, ...]) -> list[Group]:
        """List the halvings, the last feature first (`engine/kernels/locate.py`)."""
        return self.groups(node)[::-1]

    def leaves_of(self, node: tuple[int, ...]) -> list[int]:
        counts = self.divisions()
        cells = [np.arange(round(low * n), round(high * n)) for (low, high), n in zip(*self.boxes(node), counts, strict=True)]
        return [int(leaf) for leaf in np.arange(self.leaves).reshape(counts)[np.ix_(*cells)].ravel()]

    def boxes(self, node: tuple[int, ...]) -> Boxes:
        levels = [2 ** (side.bit_length() - 1) for side in node]
        return (tuple(((side - n) / n, (side - n + 1) / n) for side, n in zip(node, levels, strict=True)),)

    def number(self, node: tuple[int, ...]) -> int:
        """Return the mixed-radix number of the sides."""
        return sum(scale * (side - 1) for scale, side in zip(self._scale, node, strict=True))

    def layers(self) -> Iterator[Layer]:
        """Yield the boxes with sides of the same levels together."""
        for levels in product(*(range(b, -1, -1) for b in self.bits)):
            counts = [2**level for level in levels]
            cells = np.indices(counts).reshape(len(counts), -1)
            nodes = np.array(self._scale) @ (cells + np.array(counts)[:, None] - 1)
            able = [j for j in reversed(range(len(levels))) if levels[j] < self.bits[j]]
            children = np.empty((len(nodes), len(able), 2), dtype=np.int64)
            for o, j in enumerate(able):  # side number 2^l - 1 + c becomes 2^(l+1) - 1 + 2c
                half = nodes + self._scale[j] * (counts[j] + cells[j])
                children[:, o, 0], children[:, o, 1] = half, half + self._scale[j]
            yield Layer(nodes, children, np.arange(len(nodes))[:, None][:, : int(not able)])

    @property
    def cost(self) -> Cost:
        nodes = math.prod(b + 1 for b in self.bits)
        return Cost(nodes, sum(nodes // (b + 1) * b for b in self.bits))

    def splits(self, regions: int, arms: int) -> int:
        return (regions - 1) * sum(self.bits)

    def worst_cost(self, regions: int, arm_cost: float, arms: int, stop: float | None) -> float:
        """Return the cost of the tree that halves the first feature as often as possible, then the second, and so on: an upper bound."""
        no_stop(self, stop)
        levels = []
        for able, bits in enumerate((b for b in reversed(self.bits) if b), start=1):
            each = -reproducible_math.ln(able + 1.0)
            levels += [Level(2, each, each)] * bits
        return min(dearest_in_tree(tuple(levels), -arm_cost, regions - 1), self.leaves * arm_cost - self.log_full)

    @cached_property
    def log_full(self) -> float:
        """Return the log weight; boxes with equal sides are alike."""
        value: dict[tuple[int, ...], float] = {}  # by the remaining bits
        for left in product(*(range(b + 1) for b in self.bits)):
            halves = [2.0 * value[(*left[:j], b - 1, *left[j + 1 :])] for j, b in enumerate(left) if b]
            value[left] = float(log_sum(np.array(halves))) - reproducible_math.ln(len(halves) + 1.0) if halves else 0.0
        return value[tuple(self.bits)]

    def example(self, arms: int, regions: int) -> tuple[float, float, bool]:
        D, options = sum(self.bits), reproducible_math.ln((self.max_groups + 1) * arms)
        return 2 * ((regions - 1) * D + 1) * options, 2 * regions * D * options, D >= 1

    def members(self, arms: int, stop: float | None) -> list[Member]:
        no_stop(self, stop)
        splittable = [np.arange(1, 2 ** (b + 1)) < 2**b for b in self.bits]  # by side
        counts = 1 + reduce(np.add.outer, [each.astype(np.int64) for each in splittable]).ravel()
        return [make_graph(BOXES, [len(self.bits), *self.bits], counts, *self.cost, arms)]

    def leaf_code(self) -> Ints:
        from ..engine.kernels.keys import GRID

        return code(GRID, self.features, *self.bits)

    def leaf(self, points: Floats) -> Ints:
        counts = self.divisions()
        return np.asarray(np.ravel_multi_index(tuple(cells(points[:, list(self.features)], np.array(counts)).T), counts))

    def divisions(self) -> list[int]:
        return [2**b for b in self.bits]

    def region(self, leaf: int) -> list[tuple[float, float]]:
        counts = self.divisions()
        return [(int(cell) / n, (int(cell) + 1) / n) for cell, n in zip(np.unravel_index(leaf, counts), counts, strict=True)]

    def parameters(self) -> dict[str, Any]:
        return {"bits": self.bits}
