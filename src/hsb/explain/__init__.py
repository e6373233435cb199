"""Explanations: the rules that a policy plays (`played.py`), and the most probable mapping that a mixture has learned.

A structure's posterior is over ways of splitting the space, with an arm for each part. The recursion that computes w finds its
maximiser, with max for sum, in the odds form:

    V(i) = max( ln option_i[stop] + max_m ln arm_i[m],  max over groups phi of  ln option_i[phi] + sum of V(j), j in phi )

V(root) is the logarithm of the maximiser's posterior probability. A node without updates is at its prior, and so is its V.
Ties: stopping comes first, then lower arms, then earlier groups.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from ..engine.kernels import header as h
from ..engine.state import Member
from ..engine.state.views import OptionsView
from ..structures import Structure
from . import advisor as advisors
from . import graphs, intervals, trees
from .arms import ArmsExplanation
from .columns import Column, columns_of
from .joining import position
from .pieces import Best, best_arms, first_best, in_users_units, log_options, names, piece
from .result import Explanation, Region
from .samplers import Everywhere

__all__ = ["ArmsExplanation", "Column", "Explanation", "Region", "explain", "explain_advisor"]


def explain(structure: Structure, members: Sequence[Member], labels: Sequence[Hashable], stop: float | None) -> Explanation:
    """Return the most probable mapping of a state: `members` are those of `structure.members(len(labels), stop)`, updated since.

    Reads every node once: O(visited nodes) for trees, O(all nodes and groups) otherwise, O(K N^3) for intervals.

    >>> from hsb.structures import BinaryTree
    >>> tree = BinaryTree(depth=52)
    >>> print(explain(tree, tree.members(2, None), ["a", "b"], None))
    everywhere: never seen
    """
    return _result(structure, _solve(structure, members, stop), labels)


def explain_advisor(structure: Structure, advisor: Member, labels: Sequence[Hashable]) -> Explanation:
    """Return the mapping that an advisor prefers: each node splits if that is more probable than not; each part has its best arm.

    >>> from hsb import BinaryTree
    >>> from hsb.engine.state import make_advisor
    >>> print(explain_advisor(BinaryTree(depth=4), make_advisor(4, 2), ["a", "b"]))
    everywhere: never seen
    """
    return _result(structure, advisors.solve(structure.finest, advisor), labels)


def _solve(structure: Structure, members: Sequence[Member], stop: float | None) -> Best:
    """Return the most probable mapping of a structure's state; `members` are the structure's, parents first."""
    kind = members[0].number
    if kind == h.ONE_OF:
        return _one_of(structure, members, stop)
    (member,) = members
    if kind in (h.DENSE, h.COMPRESSED):
        return trees.solve(structure, member, 0.5 if stop is None else stop)
    if kind == h.INTERVALS:
        return intervals.solve(structure, member)
    return graphs.solve(structure, member)


def _one_of(structure: Structure, members: Sequence[Member], stop: float | None) -> Best:
    """Return one arm everywhere or the best of the structures, whichever is more probable."""
    root = OptionsView(members[0])
    arms = best_arms(members[0], np.array([root.block]))
    logs = log_options(root.F, np.array([root.row]), root.options)[0]
    boxes = ((((0.0, 1.0),) * structure.space.features),)
    candidates = [Best(float(logs[0] + arms.log_share[0]), [piece(boxes, arms, 0, members[0].arms)], structure)]
    first = 1
    for option, part in enumerate(structure.structures, start=1):
        size = len(part.key_words())  # one for each of its members
        best = _solve(part, members[first : first + size], stop)
        candidates.append(best._replace(value=float(logs[option]) + best.value))
        first += size
    return candidates[first_best([best.value for best in candidates])]


def _result(structure: Structure, best: Best, labels: Sequence[Hashable]) -> Explanation:
    """Translate a mapping into the user's units and labels; drop parts without width."""
    names_of_boxes = names(best.structure)
    regions = []
    for part in best.pieces:
        boxes = in_users_units(best.structure, part.boxes)
        if all(low < high for box in boxes for low, high in box):
            regions.append(Region(boxes, labels[part.arm], part.share, part.seen, names_of_boxes.get(boxes)))
    regions.sort(key=lambda region: position(region.boxes[0]))
    shares = Everywhere(columns_of(structure.space)).shares([region.boxes for region in regions])
    regions = [replace(region, coverage=float(share)) for region, share in zip(regions, shares, strict=True)]
    return Explanation(tuple(regions), best.value, tuple(labels), structure, best.structure)
