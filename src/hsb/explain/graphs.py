"""Graphs (`kernels/graph.py`): walk down from the root along the best options, given V of every node."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..kernels import header as h
from ..state import Member
from ..structures import Structure
from ..types import Floats
from .boxes import Boxes
from .pieces import Best, Piece, unseen
from .weights import best_arms, first_best, log_options

Group = tuple[int, tuple[int, ...]]  # which option of its node, and its children


class Graph(NamedTuple):
    """A graph by the numbers of its nodes: where it begins, V of each, how a node may split and what it covers."""

    root: int
    value: Floats
    groups: Callable[[int], Sequence[Group]]
    boxes: Callable[[int], Boxes]


def descend(structure: Structure, member: Member, graph: Graph) -> Best:
    """The most probable mapping of a graph. O(pieces * groups of a node), after V was computed."""
    F, I = member
    pieces = []
    todo = [graph.root]
    while todo:
        node = todo.pop()
        groups = graph.groups(node)
        n = len(groups) + 1
        row = int(I[I[h.NODE0] + node])
        best = best_arms(member, np.array([row + 1 + 2 * n]))
        if not best.seen[0]:
            pieces.append(unseen(graph.boxes(node), int(I[h.ARMS])))
            continue
        logs = log_options(F, np.array([row]), n)[0]
        ways = [logs[0] + best.log_share[0]] + [logs[o] + sum(graph.value[j] for j in group) for o, group in groups]
        way = first_best(ways)
        if way == 0:
            pieces.append(Piece(graph.boxes(node), int(best.arm[0]), math.exp(best.log_share[0]), True))
        else:
            todo += groups[way - 1][1]
    return Best(float(graph.value[graph.root]), pieces, structure)
