"""From nodes to boxes: what part of the space a node covers, first as fractions, then in the user's units."""

from __future__ import annotations

from collections.abc import Iterable

from ..structures import Structure

Box = tuple[tuple[float, float], ...]  # (low, high) per feature
Boxes = tuple[Box, ...]


def cover(structure: Structure, leaves: Iterable[int]) -> Boxes:
    """Boxes that make up a set of leaves: in one dimension its intervals, in several a division into few boxes."""
    return merge(tuple(structure.region(leaf)) for leaf in leaves)


def merge(boxes: Iterable[Box]) -> Boxes:
    """Join boxes that are neighbours along a feature and alike in the others, one feature after the other.

    >>> merge([((0.0, 0.5), (0.0, 0.5)), ((0.5, 1.0), (0.0, 0.5)), ((0.5, 1.0), (0.5, 1.0))])
    (((0.0, 1.0), (0.0, 0.5)), ((0.5, 1.0), (0.5, 1.0)))
    """
    found = list(boxes)
    for j in range(len(found[0])):
        joined: list[Box] = []
        for box in sorted(found, key=lambda box: (box[:j], box[j + 1 :], box[j])):
            last = joined[-1] if joined else None
            if last is not None and last[:j] == box[:j] and last[j + 1 :] == box[j + 1 :] and last[j][1] == box[j][0]:
                joined[-1] = (*box[:j], (last[j][0], box[j][1]), *box[j + 1 :])
            else:
                joined.append(box)
        found = joined
    return tuple(sorted(found))


def in_users_units(structure: Structure, boxes: Boxes) -> Boxes:
    """The same boxes over every feature of the space; those that the structure does not look at span their whole range."""
    space = structure.space
    place = {feature: j for j, feature in enumerate(structure.features)}
    whole = (0.0, 1.0)
    return tuple(
        tuple(space.bounds(j, *(box[place[j]] if j in place else whole)) for j in range(space.features)) for box in boxes
    )
