"""Joining of parts: neighbours along one column that are equal in all others become one part."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from .columns import Part, Parts, Side

Joined = tuple[Part, list[int]]  # a part, and the indices of the parts that it joins


def join(parts: Sequence[Part]) -> list[Joined]:
    """Join disjoint parts along one column after the other until nothing changes. O(parts * columns) a pass.

    >>> left, right, above = ((0.0, 0.5), (0.0, 0.5)), ((0.5, 1.0), (0.0, 0.5)), ((0.0, 1.0), (0.5, 1.0))
    >>> join([left, above, right])
    [(((0.0, 1.0), (0.0, 1.0)), [0, 2, 1])]
    """
    now: list[Joined] = [(part, [i]) for i, part in enumerate(parts)]
    before = -1
    while before != len(now):
        before = len(now)
        for j in range(len(parts[0]) if parts else 0):
            now = _along(j, now)
    return now


def union(parts: Iterable[Part]) -> Parts:
    """Join parts, and sort them by position.

    >>> union([((0.5, 1.0),), ((2.0, 3.0),), ((0.0, 0.5),)])
    (((0.0, 1.0),), ((2.0, 3.0),))
    """
    return tuple(sorted((part for part, _ in join(list(parts))), key=position))


def position(part: Part) -> tuple[tuple[float, ...], ...]:
    """Return the sort key of a part."""
    return tuple(tuple(sorted(side)) if isinstance(side, frozenset) else side for side in part)


def _along(j: int, parts: list[Joined]) -> list[Joined]:
    """Join neighbours along column j."""
    alike: dict[Hashable, list[Joined]] = {}
    for part, members in parts:
        alike.setdefault(part[:j] + part[j + 1 :], []).append((part, members))
    result: list[Joined] = []
    for group in alike.values():
        group.sort(key=lambda joined: position((joined[0][j],)))
        first = len(result)
        for part, members in group:
            both = _union(result[-1][0][j], part[j]) if len(result) > first else None
            if both is None:
                result.append((part, members))
            else:
                result[-1] = ((*part[:j], both, *part[j + 1 :]), result[-1][1] + members)
    return result


def _union(one: Side, other: Side) -> Side | None:
    """Return the union of two sides, None if it is not one side."""
    if isinstance(one, frozenset):
        return one | other if isinstance(other, frozenset) else None
    return None if isinstance(other, frozenset) or one[1] != other[0] else (one[0], other[1])
