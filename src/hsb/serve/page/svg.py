"""Charts as SVG, without scripts, style attributes or text. Labels are HTML around the chart, so that they keep their size on a phone. A table
beside each chart has the same numbers.
"""

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from .colours import HATCHES, arm_colour, luminance

WIDE, HIGH = 1000, 300
MOST = 1e290  # the largest end of an axis: larger sums of rewards overflow
Line = Sequence[float | None]


def nice(low: float, high: float, parts: int = 4) -> tuple[float, float, float]:
    """Return ends and step of an axis: round numbers around a range.

    >>> nice(0.031, 0.142)
    (0.0, 0.15, 0.05)
    >>> nice(0.0, 1e-14), nice(-1e308, 1e308)[2]
    ((0.0, 1e-14, 2.5e-15), 5e+289)
    """
    low, high = (min(max(end, -MOST), MOST) for end in (low, high))
    if not high - low > 1.0 / MOST:
        pad = abs(high) * 0.1 or 0.5
        low, high = low - pad, high + pad
    raw = (high - low) / parts
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((k * power for k in (1.0, 2.0, 2.5, 5.0) if k * power >= raw * 0.999), 10.0 * power)
    ends = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    digits = 9 - math.floor(math.log10(step))
    return round(ends[0], digits), round(ends[1], digits), round(step, digits)


def axis(low: float, high: float) -> tuple[float, float, list[str]]:
    """Return the ends of an axis that contains a range, and its labels from the top down."""
    bottom, top, step = nice(low, high)
    count = round((top - bottom) / step)
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (
        1 if abs(step / 10 ** math.floor(math.log10(step)) - 2.5) < 1e-6 else 0
    )
    return bottom, top, [f"{bottom + k * step:.{digits}f}" for k in range(count, -1, -1)]


def curves(xs: Sequence[float], lines: Sequence[tuple[str, Line, Line, Line]], bottom: float, top: float, rules: int) -> Markup:
    """Draw lines with bands, each (class, values, low ends, high ends) over `xs`, and `rules` horizontal lines."""
    inside = [_rules(rules)]
    across = _across(xs)
    for name, _, low, high in lines:
        inside += [
            Markup('<polygon class="band {}" points="{}"/>').format(name, _points([*part, *reversed(back)]))
            for part, back in _bands(across, low, high, bottom, top)
        ]
    for name, values, _, _ in lines:
        inside += [
            Markup('<polyline class="curve {}" points="{}"/>').format(name, _points(part))
            for part in _parts(across, values, bottom, top)
        ]
    return _picture(inside)


def stacked(indices: Sequence[int], rows: Sequence[Sequence[float]], arms: int, prefix: str) -> Markup:
    """Draw shares that add up to 1 as one area per arm, the first at the bottom. Each row is at its index; gaps stay empty."""
    inside: list[Any] = [patterns(arms, prefix)]
    count = indices[-1] + 1 if len(indices) else 1
    for some in _runs(indices):
        under = [0.0] * len(some)
        for k in range(arms):
            over = [u + (rows[row][k] if k < len(rows[row]) else 0.0) for u, row in zip(under, some, strict=True)]
            if any(o > u for o, u in zip(over, under, strict=True)):
                across = [indices[row] for row in some]
                points = _points([*_steps(across, over, count), *reversed(_steps(across, under, count))])
                inside.append(Markup('<polygon class="area" fill="url(#{}{})" points="{}"/>').format(prefix, k, points))
            under = over
    return _picture(inside)


def _runs(indices: Sequence[int]) -> list[list[int]]:
    """Group rows at consecutive indices.

    >>> _runs([0, 1, 4, 5])
    [[0, 1], [2, 3]]
    """
    runs: list[list[int]] = []
    for row, index in enumerate(indices):
        if runs and indices[row - 1] == index - 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs


def tiles(rows: Sequence[Sequence[Sequence[float]]], arms: int, prefix: str) -> Markup:
    """Draw a tile for each (arm, probability), in rows from the top; paler tiles have lower probabilities."""
    inside: list[Any] = [patterns(arms, prefix)]
    high = HIGH / max(1, len(rows))
    for j, row in enumerate(rows):
        wide = WIDE / max(1, len(row))
        for k, (arm, probability) in enumerate(row):
            strength = 0.25 + 0.75 * max(0.0, (probability - 1.0 / arms) / (1.0 - 1.0 / arms)) if arms > 1 else 1.0
            inside.append(
                Markup('<rect x="{}" y="{}" width="{}" height="{}" fill="url(#{}{})" fill-opacity="{}"/>').format(
                    f"{k * wide:.1f}",
                    f"{j * high:.1f}",
                    f"{wide + 0.5:.1f}",
                    f"{high + 0.5:.1f}",
                    prefix,
                    int(arm),
                    f"{strength:.2f}",
                )
            )
    return _picture(inside)


def sparkline(values: Line) -> Markup:
    """Draw a line of values, scaled to their range."""
    values = [value if value is not None and math.isfinite(value) else None for value in values]
    some = [value for value in values if value is not None]
    if len(some) < 2:
        return Markup("")
    low, high = min(some), max(some)
    lines = [
        Markup('<polyline class="curve policy" points="{}"/>').format(_points(part))
        for part in _parts(_across(range(len(values))), values, low, high)
    ]
    return Markup('<svg class="spark" viewBox="0 -20 1000 340" preserveAspectRatio="none" aria-hidden="true">{}</svg>').format(
        Markup("").join(lines)
    )


def patterns(arms: int, prefix: str) -> Markup:
    """Return the fill patterns of all arms."""
    return Markup("<defs>{}</defs>").format(Markup("").join(pattern(k, arms, prefix) for k in range(arms)))


def pattern(index: int, arms: int, prefix: str) -> Markup:
    """Return the fill pattern of an arm: colour and hatching."""
    fill = arm_colour(index, arms)
    ink = "#ffffff" if luminance(fill) < 0.2 else "#000000"
    marks = {
        "": "",
        "up": "M0 12L12 0",
        "down": "M0 0L12 12",
        "cross": "M0 0L12 12M0 12L12 0",
        "plus": "M6 0V12M0 6H12",
        "flat": "M0 6H12",
        "dots": "M5 6H7",
        "rings": "M4 6A2 2 0 1 0 8 6A2 2 0 1 0 4 6",
    }[HATCHES[index % len(HATCHES)]]
    path = (
        Markup('<path d="{}" fill="none" stroke="{}" stroke-width="1" stroke-opacity="0.55"/>').format(marks, ink)
        if marks
        else ""
    )
    return Markup(
        '<pattern id="{}{}" width="12" height="12" patternUnits="userSpaceOnUse"><rect width="12" height="12" fill="{}"/>{}</pattern>'
    ).format(prefix, index, fill, path)


def key(index: int, arms: int, prefix: str) -> Markup:
    """Draw a small square with an arm's pattern, for tables and legends."""
    return Markup(
        '<svg class="key" viewBox="0 0 14 14" aria-hidden="true"><defs>{}</defs><rect width="14" height="14" fill="url(#{}{})"/></svg>'
    ).format(pattern(index, arms, prefix), prefix, index)


def bar(share: float, name: str = "bar") -> Markup:
    """Draw a bar whose length is a share of the full width."""
    return Markup(
        '<svg class="{}" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="{}" height="10"/></svg>'
    ).format(name, f"{100 * min(max(share, 0.0), 1.0):.2f}")


def whisker(low: float, high: float, value: float, ends: tuple[float, float], name: str = "") -> Markup:
    """Draw an interval as a line with a mark at `value`. All rows of a table have the same `ends`."""
    span = (ends[1] - ends[0]) or 1.0

    def at(x: float) -> str:
        return f"{100 * min(max((x - ends[0]) / span, 0.0), 1.0):.2f}"

    zero = Markup('<path class="zero" d="M{} 0V20"/>').format(at(0.0)) if ends[0] < 0.0 < ends[1] else ""
    return Markup(
        '<svg class="whisker {}" viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">{}<path d="M{} 10H{}M{} 5V15M{} 5V15"/>'
        '<path class="dot" d="M{} 4V16"/></svg>'
    ).format(name, zero, at(low), at(high), at(low), at(high), at(value))


def _picture(inside: Sequence[Any]) -> Markup:
    return Markup('<svg class="plot" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>').format(
        WIDE, HIGH, Markup("").join(inside)
    )


def _rules(count: int) -> Markup:
    heights = [HIGH * k / count for k in range(count + 1)] if count else []
    return Markup('<path class="rule" d="{}"/>').format("".join(f"M0 {y:.1f}H{WIDE}" for y in heights))


def _across(xs: Sequence[float]) -> list[float]:
    """Return x coordinates from left to right."""
    if not len(xs):
        return []
    first, last = xs[0], xs[-1]
    if first == last:
        return [WIDE * k / max(1, len(xs) - 1) for k in range(len(xs))]
    return [WIDE * (x - first) / (last - first) for x in xs]


def _y(value: float, bottom: float, top: float) -> float:
    share = (value - bottom) / (top - bottom) if top > bottom else 0.5
    return HIGH * (1.0 - min(max(share, 0.0), 1.0))


def _parts(across: Sequence[float], values: Line, bottom: float, top: float) -> list[list[tuple[float, float]]]:
    parts: list[list[tuple[float, float]]] = [[]]
    for x, value in zip(across, values, strict=True):
        if value is None:
            parts.append([])
        else:
            parts[-1].append((x, _y(value, bottom, top)))
    return [part for part in parts if part]


def _bands(across: Sequence[float], low: Line, high: Line, bottom: float, top: float) -> list[tuple[Any, Any]]:
    both = [None if a is None or b is None else a for a, b in zip(low, high, strict=True)]
    other = [None if a is None or b is None else b for a, b in zip(low, high, strict=True)]
    return list(zip(_parts(across, both, bottom, top), _parts(across, other, bottom, top), strict=True))


def _steps(indices: Sequence[int], shares: Sequence[float], count: int) -> list[tuple[float, float]]:
    """Return the points of a step line with `count` steps."""
    width, points = WIDE / count, []
    for index, share in zip(indices, shares, strict=True):
        y = HIGH * (1.0 - min(share, 1.0))
        points += [(index * width, y), ((index + 1) * width, y)]
    return points


def _points(points: Sequence[tuple[float, float]]) -> str:
    return str(escape(" ".join(f"{x:.1f},{y:.1f}" for x, y in points)))
