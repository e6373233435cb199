"""The hierarchical structures of Section IV: how a node may split, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from ..spaces import space_from_dict
from .arbitrary_splits import ArbitrarySplits
from .base import Cost, Structure
from .grouped_lexicographic import GroupedLexicographic, Lexicographic
from .hierarchy import Hierarchy
from .kary_tree import BinaryTree, KaryTree
from .one_of import OneOf
from .position_splits import PositionSplits

__all__ = [
    "ArbitrarySplits",
    "BinaryTree",
    "Cost",
    "GroupedLexicographic",
    "Hierarchy",
    "KaryTree",
    "Lexicographic",
    "OneOf",
    "PositionSplits",
    "Structure",
    "from_dict",
    "from_json",
]


def from_dict(data: dict[str, Any]) -> Structure:
    """The structure that `to_dict` described.

    >>> from_dict(BinaryTree(depth=3).to_dict())
    BinaryTree(depth=3)
    """
    if not isinstance(data, Mapping):
        raise InputError(f"A structure is described by a dict; given {data!r}.")
    data = dict(data)
    name = data.pop("structure", None)
    kind = Structure.kinds.get(str(name))
    if kind is None:
        raise InputError(f"structure must be one of {sorted(Structure.kinds)}; given {name!r}.")
    try:
        space, features = space_from_dict(data.pop("space")), data.pop("features")
        return kind.from_parameters(data, space, features)
    except (KeyError, TypeError) as error:
        raise InputError(
            f"This description of a {name} has too much or too little in it: {error}. See {name}.to_dict()."
        ) from error


def from_json(text: str) -> Structure:
    """The structure that `to_json` described."""
    try:
        return from_dict(json.loads(text))
    except json.JSONDecodeError as error:
        raise InputError(f"Not JSON: {error}.") from error
