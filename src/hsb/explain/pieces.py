"""What the searches hand back: the parts of the most probable mapping, in fractions and in the units of the user, and its value."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..structures import Structure
from ..structures.boxes import Boxes
from .weights import Arms


class Piece(NamedTuple):
    """A part of the space with one arm; boxes are fractions of the features that the structure looks at."""

    boxes: Boxes
    arm: int
    share: float  # the node's posterior share of the arm
    seen: bool


class Best(NamedTuple):
    """The most probable mapping of a structure: V(root), its pieces, and the structure whose nodes they are."""

    value: float
    pieces: list[Piece]
    structure: Structure


def piece(boxes: Boxes, best: Arms, i: int, arms: int) -> Piece:
    """The region of node i of `best`, where it stops."""
    return Piece(boxes, int(best.arm[i]), math.exp(best.log_share[i]), True) if best.seen[i] else unseen(boxes, arms)


def unseen(boxes: Boxes, arms: int) -> Piece:
    """A part never learned from: every arm has the same share, so the first is named."""
    return Piece(boxes, 0, 1.0 / arms, False)


def in_users_units(structure: Structure, boxes: Boxes) -> Boxes:
    """The same boxes over every feature of the space; those that the structure does not look at span their whole range."""
    space = structure.space
    place = {feature: j for j, feature in enumerate(structure.features)}
    whole = (0.0, 1.0)
    return tuple(
        tuple(space.bounds(j, *(box[place[j]] if j in place else whole)) for j in range(space.features)) for box in boxes
    )


def names(structure: Structure) -> dict[Boxes, str]:
    """What its regions are called, by their boxes in the user's units."""
    return {in_users_units(structure, boxes): name for boxes, name in structure.names().items()}
