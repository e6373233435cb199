"""Boxes of fractions: the parts of the features that a node covers."""

from collections.abc import Iterable

Box = tuple[tuple[float, float], ...]  # (low, high) per feature
Boxes = tuple[Box, ...]


def merge(boxes: Iterable[Box]) -> Boxes:
    """Join boxes that are neighbours along a feature and equal in the others, one feature after the other.

    >>> merge([((0.0, 0.5), (0.0, 0.5)), ((0.5, 1.0), (0.0, 0.5)), ((0.5, 1.0), (0.5, 1.0))])
    (((0.0, 1.0), (0.0, 0.5)), ((0.5, 1.0), (0.5, 1.0)))
    """
    merged = list(boxes)
    for j in range(len(merged[0])):
        joined: list[Box] = []
        for box in sorted(merged, key=lambda box: (box[:j], box[j + 1 :], box[j])):
            last = joined[-1] if joined else None
            if last is not None and last[:j] == box[:j] and last[j + 1 :] == box[j + 1 :] and last[j][1] == box[j][0]:
                joined[-1] = (*box[:j], (last[j][0], box[j][1]), *box[j + 1 :])
            else:
                joined.append(box)
        merged = joined
    return tuple(sorted(merged))


def tree_box(number: int, level: int, k: int, features: int) -> Box:
    """Return the box of node `number` of a level of a k-ary tree that divides its features in turn.

    Each fraction is one division of whole numbers, so that neighbours on any levels have exactly equal bounds.

    >>> tree_box(5, 3, 2, 1), tree_box(5, 3, 2, 2)
    (((0.625, 0.75),), ((0.75, 1.0), (0.0, 0.5)))
    """
    index, parts = [0] * features, [1] * features
    for turn in range(level):
        j = turn % features
        index[j] = index[j] * k + number // k ** (level - 1 - turn) % k
        parts[j] *= k
    return tuple((i / n, (i + 1) / n) for i, n in zip(index, parts, strict=True))
