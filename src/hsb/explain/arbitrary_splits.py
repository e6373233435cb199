"""Sets of leaves: a node's number is its bit mask, and its groups are numbered as `kernels/locate.py` says."""

from __future__ import annotations

import numpy as np

from ..kernels import header as h
from ..state import Member
from ..structures import ArbitrarySplits
from ..types import Ints
from .boxes import Boxes, cover
from .graphs import Graph, Group
from .weights import best_arms, log_options


def graph(structure: ArbitrarySplits, member: Member) -> Graph:
    """V of every set, smaller masks first. O(3^N)."""
    F, I = member
    size = 2**structure.leaves
    value = np.zeros(size)

    def groups(node: int) -> list[Group]:
        """Small first parts first, then in the order of their leaves."""
        found = [(o, (part, node ^ part)) for o, part in enumerate(_first_parts(node).tolist(), start=1)]
        return sorted(found, key=lambda group: (group[1][0].bit_count(), _leaves(group[1][0])))

    def boxes(node: int) -> Boxes:
        return cover(structure, _leaves(node))

    masks = np.arange(1, size)
    rows = I[I[h.NODE0] + masks]
    options = np.array([2 ** (mask.bit_count() - 1) for mask in range(1, size)])
    value[1:] = best_arms(member, rows + 1 + 2 * options).log_share
    for mask in range(1, size):
        logs = log_options(F, rows[mask - 1 : mask], int(options[mask - 1]))[0]
        parts = _first_parts(mask)
        split = logs[1:] + value[parts] + value[mask ^ parts]
        value[mask] = max(logs[0] + value[mask], split.max(initial=-np.inf))
    return Graph(size - 1, value, groups, boxes)


def _first_parts(mask: int) -> Ints:
    """For every division of the set in two, the part with its lowest leaf: that leaf and a subset, falling, of the others."""
    low = mask & -mask
    parts = np.array([low])
    for leaf in _leaves(mask ^ low):
        parts = np.append(parts, parts | 1 << leaf)
    return parts[-2::-1]


def _leaves(mask: int) -> list[int]:
    return [leaf for leaf in range(mask.bit_length()) if mask >> leaf & 1]
