"""What a policy has learned, in words: the most probable mapping.

A structure's posterior is over ways of splitting the space and an arm for each part. Its maximiser is found by the recursion
that computes w, with max for sum, in the odds form:

    V(i) = max( ln option_i[stop] + max_m ln arm_i[m],  max over groups phi of  ln option_i[phi] + sum of V(j), j in phi )

V(root) is the logarithm of the maximiser's posterior probability. A node never learned from is at its prior, and so is V there.
Of equals, stopping comes first, then lower arms, then earlier groups.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..members import Member
from ..structures import Structure
from .boxes import in_users_units
from .result import Explanation, Region
from .solve import solve

__all__ = ["Explanation", "Region", "explain"]


def explain(structure: Structure, members: Sequence[Member], labels: Sequence[Hashable], stop: float | None) -> Explanation:
    """The most probable mapping of a state: `members` as made by `structure.members(len(labels), stop)`, and learned since.

    Reads every node once: O(nodes learned from) for trees, O(all nodes and groups) otherwise, O(K N^3) for intervals.

    >>> from hsb.structures import BinaryTree
    >>> tree = BinaryTree(depth=52)
    >>> print(explain(tree, tree.members(2, None), ["a", "b"], None))
    everywhere: never seen
    """
    best = solve(structure, members, stop)
    regions = (
        Region(
            boxes=in_users_units(best.structure, piece.boxes),
            arm=labels[piece.arm],
            probability=piece.share,
            seen=piece.seen,
        )
        for piece in best.pieces
    )
    return Explanation(
        regions=tuple(sorted(regions, key=lambda region: region.boxes)),
        log_probability=best.value,
        arms=tuple(labels),
        structure=structure,
        chosen=best.structure,
    )
