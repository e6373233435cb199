"""The hierarchical structures of Section IV: the ways in which a node may split."""

import json

from ..errors import InputError
from .arbitrary_splits import ArbitrarySplits
from .base import Cost, Structure
from .grouped_lexicographic import GroupedLexicographic, Lexicographic
from .hierarchy import Hierarchy
from .kary_tree import BinaryTree, KaryTree
from .one_of import OneOf
from .position_splits import PositionSplits

__all__ = ["ArbitrarySplits", "BinaryTree", "Cost", "GroupedLexicographic", "Hierarchy", "KaryTree", "Lexicographic"]
__all__ += ["OneOf", "PositionSplits", "Structure", "from_dict", "from_json"]


from_dict = Structure.from_dict


def from_json(text: str) -> Structure:
    """Read the structure that `to_json` wrote. Raises `InputError` for any other `text`.

    >>> import hsb
    >>> hsb.structures.from_json(hsb.BinaryTree(depth=3).to_json())
    BinaryTree(depth=3)
    """
    try:
        return from_dict(json.loads(text))
    except json.JSONDecodeError as error:
        raise InputError(f"A structure is read from JSON as to_json writes it; this text is not JSON: {error}.") from error
