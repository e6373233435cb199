"""What the searches hand back: the parts of the most probable mapping, and its value."""

from __future__ import annotations

from typing import NamedTuple

from ..structures import Structure
from ..structures.boxes import Boxes


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


def unseen(boxes: Boxes, arms: int) -> Piece:
    """A part never learned from: every arm has the same share, so the first is named."""
    return Piece(boxes, 0, 1.0 / arms, False)
