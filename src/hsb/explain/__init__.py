"""What a policy has learned, in words: the most probable mapping.

A structure's posterior is over ways of splitting the space and an arm for each part. Its maximiser is found by the recursion
that computes w, with max for sum, in the odds form:

    V(i) = max( ln option_i[stop] + max_m ln arm_i[m],  max over groups phi of  ln option_i[phi] + sum of V(j), j in phi )

V(root) is the logarithm of the maximiser's posterior probability. A node never learned from is at its prior, and so is V there.
Of equals, stopping comes first, then lower arms, then earlier groups.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..state import Member
from ..structures import Structure
from .advisor import solve as advisor_solve
from .pieces import Piece, in_users_units, names
from .result import Explanation, Region
from .solve import solve

__all__ = ["Explanation", "Region", "explain", "explain_advisor"]


def explain(structure: Structure, members: Sequence[Member], labels: Sequence[Hashable], stop: float | None) -> Explanation:
    """The most probable mapping of a state: `members` as made by `structure.members(len(labels), stop)`, and learned since.

    Reads every node once: O(nodes learned from) for trees, O(all nodes and groups) otherwise, O(K N^3) for intervals.

    >>> from hsb.structures import BinaryTree
    >>> tree = BinaryTree(depth=52)
    >>> print(explain(tree, tree.members(2, None), ["a", "b"], None))
    everywhere: never seen
    """
    best = solve(structure, members, stop)
    return _result(structure, best.structure, best.value, best.pieces, labels)


def explain_advisor(structure: Structure, advisor: Member, labels: Sequence[Hashable]) -> Explanation:
    """What the advisor beside a mixture would have played: node by node the more probable of splitting and not, and the best arm of each part.

    >>> from hsb import BinaryTree
    >>> from hsb.state import make_advisor
    >>> print(explain_advisor(BinaryTree(depth=4), make_advisor(4, 2), ["a", "b"]))
    everywhere: never seen
    """
    chosen = structure.finest
    value, pieces = advisor_solve(advisor, len(chosen.features))
    return _result(structure, chosen, value, pieces, labels)


def _result(
    structure: Structure, chosen: Structure, value: float, pieces: Sequence[Piece], labels: Sequence[Hashable]
) -> Explanation:
    called = names(chosen)
    parts = [(in_users_units(chosen, piece.boxes), piece) for piece in pieces]
    regions = (
        Region(boxes=boxes, arm=labels[piece.arm], probability=piece.share, seen=piece.seen, name=called.get(boxes))
        for boxes, piece in parts
        if all(low < high for box in boxes for low, high in box)
    )
    return Explanation(
        regions=tuple(sorted(regions, key=lambda region: region.boxes)),
        log_probability=value,
        arms=tuple(labels),
        structure=structure,
        chosen=chosen,
    )
