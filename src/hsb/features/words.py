"""Slots, cells and raw values in the user's own words and units."""

from datetime import date

from ..engine.kernels import slots as at
from ..engine.kernels.slots import CELLS, EDGE, EDGES, KIND, LIMIT, PERIOD
from .feature import Column
from .layout import Layout
from .values import EPOCH, TIME

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def cells_in_words(layout: Layout, column: Column, s: int, first: int, last: int) -> str:
    """The values whose cells are first .. last."""
    kind, name = layout.I[s, KIND], layout.slot_names[s]
    if kind == at.CATEGORY:
        return _categories(column, first, last)
    if first <= 0 and last >= CELLS:
        return "anything"
    words = []
    if last >= 1:
        low = max(first, 1)
        if kind == at.NUMBER:
            words += _range(layout, column, s, low, last)
        elif kind == at.CYCLE:
            words += _arc(float(layout.F[s, PERIOD]), name, column, low, last)
        elif low == 1 and last >= CELLS:
            words.append(f"{column.name} is known")
        else:
            words += [value_in_words(layout, column, s, float(x)) for x, cell in ((0, 1), (1, CELLS)) if low <= cell <= last]
    if first <= 0:
        words.append(f"{column.name} is missing")
    return " or ".join(words) or f"no {name}"


def value_in_words(layout: Layout, column: Column, s: int, x: float) -> str:
    """A raw value."""
    kind, name = layout.I[s, KIND], layout.slot_names[s]
    if x != x:
        return f"{column.name} is missing"
    if kind == at.CATEGORY:
        limit = int(layout.I[s, LIMIT])
        cell = 1 if not 0 <= x < 2 * limit else 2 + int(x) % limit
        return _categories(column, cell, cell) + (" or shares its place" if x >= limit else "")
    if kind == at.FLAG:
        return f"{name} is {x > 0.5}"
    if kind == at.TAG:
        tag = name.removeprefix(f"{column.name}: ")
        return f"{column.name} has {tag!r}" if x > 0.5 else f"{column.name} has not {tag!r}"
    return f"{name} is {_shown(column, name, x)}"


def _shown(column: Column, name: str, x: float) -> str:
    if column.kind != TIME:
        return f"{x:.6g}"
    part = name.removeprefix(f"{column.name} ")
    if part == "weekday":
        return DAYS[int(x) % 7]
    if part == "hour":
        minutes = round(x * 60)
        return f"{minutes // 60:02d}:{minutes % 60:02d}"
    try:
        return date.fromordinal(EPOCH + int(x // 1)).isoformat()
    except (ValueError, OverflowError):
        return f"{x:.6g}"


def _categories(column: Column, first: int, last: int) -> str:
    """Cells of a category: 0 is missing, 1 new, then the categories in order."""
    words = list(column.codes)
    found = [f"{column.name} is {word!r}" for word in words[max(first - 2, 0) : max(last - 1, 0)]]
    if first <= 1 <= last:
        found.append(f"{column.name} is new")
    if first <= 0:
        found.append(f"{column.name} is missing")
    return " or ".join(found) or f"no {column.name}"


def _range(layout: Layout, column: Column, s: int, first: int, last: int) -> list[str]:
    name, edges = layout.slot_names[s], int(layout.I[s, EDGES])
    inside = [k for k in range(edges + 1) if first <= spread(k, edges) <= last]
    if not inside:
        return []
    low = _shown(column, name, layout.F[s, EDGE + inside[0] - 1]) if inside[0] > 0 else ""
    high = _shown(column, name, layout.F[s, EDGE + inside[-1]]) if inside[-1] < edges else ""
    if low and high:
        return [f"{low} <= {name} < {high}"]
    return [f"{name} >= {low}" if low else f"{name} < {high}" if high else f"{name} is known"]


def spread(k: int, edges: int) -> int:
    """The cell of the numbers above k of all edges: `spread` of the kernel."""
    return 1 + (2 * k * (CELLS - 1) + edges) // (2 * edges) if edges else 1


def _arc(period: float, name: str, column: Column, first: int, last: int) -> list[str]:
    if first == 1 and last >= CELLS:
        return [f"{name} is known"]
    if column.kind == TIME and period == 7.0:
        days = [day for d, day in enumerate(DAYS) if first <= 1 + int(d / 7 * CELLS) <= last]
        return [f"{name} is {' or '.join(days)}"] if days else []
    low, high = (first - 1) / CELLS * period, min(last, CELLS) / CELLS * period
    return [f"{_shown(column, name, low)} <= {name} < {_shown(column, name, high)}"]
