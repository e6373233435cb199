"""From fractions to the user's units."""

from __future__ import annotations

from ..structures import Structure
from ..structures.boxes import Boxes


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
