"""Which search explains which structure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from ..kernels import header as h
from ..state import Member
from ..structures import ArbitrarySplits, Hierarchy, OneOf, PositionSplits, Structure
from . import arbitrary_splits, hierarchy, intervals, position_splits, trees
from .graphs import descend
from .pieces import Best, Piece, unseen
from .weights import best_arms, first_best, log_options


def solve(structure: Structure, members: Sequence[Member], stop: float | None) -> Best:
    """The most probable mapping of a structure's state; `members` are its own, parents first."""
    if isinstance(structure, OneOf):
        return _one_of(structure, members, stop)
    (member,) = members
    kind = member.I[h.KIND]
    if kind in (h.DENSE, h.COMPRESSED):
        return trees.solve(structure, member, 0.5 if stop is None else stop)
    if kind == h.INTERVALS:
        return intervals.solve(structure, member)
    if isinstance(structure, Hierarchy):
        return descend(structure, member, hierarchy.graph(structure, member))
    if isinstance(structure, PositionSplits):
        return descend(structure, member, position_splits.graph(structure, member))
    if isinstance(structure, ArbitrarySplits):
        return descend(structure, member, arbitrary_splits.graph(structure, member))
    raise InputError(f"{type(structure).__name__} cannot be explained: hsb does not know the children of its nodes.")


def _one_of(structure: OneOf, members: Sequence[Member], stop: float | None) -> Best:
    """One arm everywhere, or the best of the structures."""
    F, I = head = members[0]
    row, n = int(I[h.NODE]), int(I[h.OPTIONS])
    arms = best_arms(head, np.array([row + 1 + 2 * n]))
    logs = log_options(F, np.array([row]), n)[0]
    boxes = ((((0.0, 1.0),) * structure.space.features),)
    here = Piece(boxes, int(arms.arm[0]), float(np.exp(arms.log_share[0])), True)
    if not arms.seen[0]:
        here = unseen(boxes, int(I[h.ARMS]))
    found = [Best(float(logs[0] + arms.log_share[0]), [here], structure)]
    at = 1
    for option, part in enumerate(structure.structures, start=1):
        size = _size(part)
        best = solve(part, members[at : at + size], stop)
        found.append(best._replace(value=float(logs[option]) + best.value))
        at += size
    return found[first_best([best.value for best in found])]


def _size(structure: Structure) -> int:
    """How many members a structure has."""
    return 1 + sum(map(_size, structure.structures)) if isinstance(structure, OneOf) else 1
