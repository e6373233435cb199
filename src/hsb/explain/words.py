"""Boxes in plain words."""

from collections.abc import Sequence

from ..spaces import Box as BoxSpace
from ..spaces import Space
from ..structures.boxes import Box, Boxes

FEWEST, MOST = 6, 17  # significant digits of a bound: the fewest that keep different bounds different


def names(space: Space) -> list[str]:
    """What the features are called: x, or x0, x1, ..."""
    return ["x"] if space.features == 1 else [f"x{j}" for j in range(space.features)]


def rules(space: Space, verdicts: Sequence[tuple[Boxes | str, str]]) -> str:
    """One line for each (boxes or their name, verdict).

    >>> rules(BoxSpace([18, 0], [90, 1]), [((((18.0, 36.0), (0.0, 1.0)),), "one"), ((((36.0, 90.0), (0.0, 1.0)),), "two")])
    '18 <= x0 < 36: one\\n36 <= x0 <= 90: two'
    """
    unnamed = [boxes for boxes, _ in verdicts if not isinstance(boxes, str)]
    digits = [_digits({bound for boxes in unnamed for box in boxes for bound in box[j]}) for j in range(space.features)]
    return "\n".join(f"{_where(space, boxes, digits)}: {verdict}" for boxes, verdict in verdicts)


def _digits(bounds: set[float]) -> int:
    enough = (n for n in range(FEWEST, MOST) if len({f"{bound:.{n}g}" for bound in bounds}) == len(bounds))
    return next(enough, MOST)


def _where(space: Space, boxes: Boxes | str, digits: Sequence[int]) -> str:
    if isinstance(boxes, str):
        return boxes
    parts = [_conditions(space, box, digits) for box in boxes]
    if len(parts) > 1:
        return " or ".join(f"({' and '.join(part)})" if len(part) > 1 else part[0] for part in parts)
    return " and ".join(parts[0]) if parts[0] else "everywhere"


def _conditions(space: Space, box: Box, digits: Sequence[int]) -> list[str]:
    """One condition for each feature whose range the box narrows. The upper end of a range belongs to its last cell."""
    conditions = []
    for j, name in enumerate(names(space)):
        whole = space.bounds(j, 0.0, 1.0)
        low, high = box[j]
        if (low, high) != whole:
            below = "<=" if high == whole[1] and isinstance(space, BoxSpace) else "<"
            conditions.append(f"{low:.{digits[j]}g} <= {name} {below} {high:.{digits[j]}g}")
    return conditions
