"""Which search explains which state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import header as h
from ..state import Member
from ..structures import Structure
from . import graphs, intervals, trees
from .pieces import Best, piece
from .weights import best_arms, first_best, log_options


def solve(structure: Structure, members: Sequence[Member], stop: float | None) -> Best:
    """The most probable mapping of a structure's state; `members` are its own, parents first."""
    kind = members[0].I[h.KIND]
    if kind == h.ONE_OF:
        return _one_of(structure, members, stop)
    (member,) = members
    if kind in (h.DENSE, h.COMPRESSED):
        return trees.solve(structure, member, 0.5 if stop is None else stop)
    if kind == h.INTERVALS:
        return intervals.solve(structure, member)
    return graphs.solve(structure, member)


def _one_of(structure: Structure, members: Sequence[Member], stop: float | None) -> Best:
    """One arm everywhere, or the best of the structures."""
    F, I = head = members[0]
    row, n = int(I[h.NODE]), int(I[h.OPTIONS])
    arms = best_arms(head, np.array([row + 1 + 2 * n]))
    logs = log_options(F, np.array([row]), n)[0]
    boxes = ((((0.0, 1.0),) * structure.space.features),)
    ways = [Best(float(logs[0] + arms.log_share[0]), [piece(boxes, arms, 0, int(I[h.ARMS]))], structure)]
    at = 1
    for option, part in enumerate(structure.structures, start=1):
        size = len(part.key_words())  # of its members each has one
        best = solve(part, members[at : at + size], stop)
        ways.append(best._replace(value=float(logs[option]) + best.value))
        at += size
    return ways[first_best([best.value for best in ways])]
