"""Render templates. Everything is escaped except the markup that `svg` makes."""

import math
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import svg, words

HERE = Path(__file__).parent
ICON = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b3a6b"/>
<path d="M8 3V7M8 7L4 13M8 7L12 13" stroke="#fff" stroke-width="2" fill="none"/></svg>"""
STATIC = {
    "icon.svg": (ICON, "image/svg+xml"),
    "page.css": ((HERE / "static" / "page.css").read_bytes(), "text/css"),
    "page.js": ((HERE / "static" / "page.js").read_bytes(), "text/javascript"),
}
ENVIRONMENT = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters.update(
    one_line=words.one_line,
    quantity=words.quantity,
    number=words.number,
    percent=words.percent,
    span=words.span,
    signed=words.signed,
    stamp=words.stamp,
)


def html(name: str, data: dict[str, Any], part: bool) -> str:
    """Render view `name` with `data`: the whole page, or if `part` only the part that refreshes itself."""
    template = ENVIRONMENT.get_template(f"{name}.html")
    if not part:
        return template.render(data)
    context = template.new_context(data)
    return "".join(template.blocks["live"](context))


def plain(value: Any) -> Any:
    """Return figures as JSON can hold them: infinite and NaN sums, of rewards near the largest float, become null.

    >>> plain({"value": 1e308 * 10, "rows": [0.5, (None, "a")]})
    {'value': None, 'rows': [0.5, [None, 'a']]}
    """
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _span(lines: Any, whole: bool = False) -> tuple[float, float]:
    """Return the range of all values in `lines`: of their second halves, because bands begin as wide as possible, or if `whole` of all."""
    values = []
    for line in lines:
        values += [value for value in line[0 if whole else len(line) // 2 :] if value is not None and math.isfinite(value)]
    return (min(values), max(values)) if values else (0.0, 1.0)


def _pick(values: list[Any], count: int = 5) -> list[Any]:
    """Return `count` evenly spaced times from the first to the last; shorter lists unchanged."""
    if len(values) < 2:
        return values
    first, last = values[0], values[-1]
    return [first + (last - first) * k // (count - 1) for k in range(count)]


def _some_of(values: list[Any], count: int = 5) -> list[str]:
    """Return labels of an axis: all of up to eight values, else `count` at even steps."""
    if len(values) > 8:
        values = [values[round(k * (len(values) - 1) / (count - 1))] for k in range(count)]
    return [words.number(v) if isinstance(v, float) else words.one_line(v, 14) for v in values]


ENVIRONMENT.globals.update(some_of=_some_of)
ENVIRONMENT.globals.update(pick=_pick, none_line=lambda line: [None] * len(line))
ENVIRONMENT.globals.update(svg=svg, short_stamp=words.short_stamp, axis=svg.axis, span_of=_span)
ENVIRONMENT.globals["m"] = ENVIRONMENT.get_template("macros.html").module
