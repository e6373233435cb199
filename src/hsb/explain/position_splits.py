"""Boxes halved along any feature: nodes are numbered by the sides of their boxes, as `kernels/locate.py` says."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from ..kernels import header as h
from ..state import Member
from ..structures import PositionSplits
from ..types import Ints
from .boxes import Boxes
from .graphs import Graph, Group
from .weights import best_arms, log_options


def graph(structure: PositionSplits, member: Member) -> Graph:
    """V of every box, children first: all boxes whose sides have the same levels at once. O(boxes * features)."""
    F, I = member
    bits = structure.bits
    sides = [2 ** (b + 1) - 1 for b in bits]
    scale = [math.prod(sides[j + 1 :]) for j in range(len(bits))]
    value = np.empty(math.prod(sides))

    def levels_and_cells(node: int) -> tuple[list[int], list[int]]:
        numbers = [node // scale[j] % sides[j] + 1 for j in range(len(bits))]
        levels = [number.bit_length() - 1 for number in numbers]
        return levels, [number - 2**level for number, level in zip(numbers, levels, strict=True)]

    def groups(node: int) -> list[Group]:
        levels, cells = levels_and_cells(node)
        found: list[Group] = []
        for option, j in _splittable(levels, bits):
            half = node + scale[j] * (2 ** levels[j] + cells[j])  # side number 2^l - 1 + c becomes 2^(l+1) - 1 + 2c
            found.append((option, (half, half + scale[j])))
        return found

    def boxes(node: int) -> Boxes:
        levels, cells = levels_and_cells(node)
        return (tuple((c / 2**level, (c + 1) / 2**level) for level, c in zip(levels, cells, strict=True)),)

    for levels in product(*(range(b, -1, -1) for b in bits)):
        cells = _grid([2**level for level in levels])
        nodes = np.zeros(len(cells[0]), dtype=np.int64)
        for j, level in enumerate(levels):
            nodes += scale[j] * (2**level - 1 + cells[j])
        ways = _splittable(levels, bits)
        n = len(ways) + 1
        rows = I[I[h.NODE0] + nodes]
        logs = log_options(F, rows, n)
        best = logs[:, 0] + best_arms(member, rows + 1 + 2 * n).log_share
        for option, j in ways:
            half = nodes + scale[j] * (2 ** levels[j] + cells[j])
            best = np.maximum(best, logs[:, option] + value[half] + value[half + scale[j]])
        value[nodes] = best
    return Graph(0, value, groups, boxes)


def _splittable(levels: list[int] | tuple[int, ...], bits: list[int]) -> list[tuple[int, int]]:
    """(option, feature) of each halving, by feature; a node's first option is its last feature's."""
    able = [j for j, level in enumerate(levels) if level < bits[j]]
    return [(len(able) - place, j) for place, j in enumerate(able)]


def _grid(counts: list[int]) -> list[Ints]:
    """Every combination of cells, one flat array per feature."""
    cells = np.arange(math.prod(counts), dtype=np.int64)
    found = []
    for count in reversed(counts):
        found.append(cells % count)
        cells = cells // count
    return found[::-1]
