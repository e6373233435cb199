"""The user's own hierarchy: nodes are numbered parents first."""

from __future__ import annotations

import numpy as np

from ..kernels import header as h
from ..state import Member
from ..structures import Hierarchy
from .boxes import Boxes, cover
from .graphs import Graph, Group
from .weights import best_arms, log_options


def graph(structure: Hierarchy, member: Member) -> Graph:
    """V of every node, children first. O(nodes + groups)."""
    F, I = member
    names = structure._order
    number = {name: i for i, name in enumerate(names)}
    value = np.empty(len(names))

    def groups(node: int) -> list[Group]:
        listed = structure.nodes[names[node]]["groups"]
        return [(o, tuple(number[child] for child in group)) for o, group in enumerate(listed, start=1)]

    def boxes(node: int) -> Boxes:
        return cover(structure, structure.nodes[names[node]]["leaves"])

    rows = I[I[h.NODE0] : I[h.NODE0] + len(names)]
    options = np.array([1 + len(structure.nodes[name]["groups"]) for name in names])
    log_share = best_arms(member, rows + 1 + 2 * options).log_share
    for node in range(len(names) - 1, -1, -1):
        logs = log_options(F, rows[node : node + 1], int(options[node]))[0]
        splits = (logs[o] + sum(value[j] for j in group) for o, group in groups(node))
        value[node] = max([logs[0] + log_share[node], *splits])
    return Graph(0, value, groups, boxes)
