"""Templates filled in. Everything is escaped; what is not is made in `svg`."""

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
    named=words.named,
    counted=words.counted,
    number=words.number,
    percent=words.percent,
    span=words.span,
    signed=words.signed,
    stamp=words.stamp,
)


def html(name: str, given: dict[str, Any], part: bool) -> str:
    """A view, whole or only the part that refreshes itself."""
    template = ENVIRONMENT.get_template(f"{name}.html")
    if not part:
        return template.render(given)
    context = template.new_context(given)
    return "".join(template.blocks["live"](context))


def plain(value: Any) -> Any:
    """Figures as JSON has them: sums that are no numbers any more, of rewards near the largest, are null.

    >>> plain({"value": 1e308 * 10, "rows": [0.5, (None, "a")]})
    {'value': None, 'rows': [0.5, [None, 'a']]}
    """
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _span(lines: Any, whole: bool = False) -> tuple[float, float]:
    """The range of all values in lists: of their second halves, since bands begin as wide as can be, or of the whole lists."""
    some = []
    for line in lines:
        some += [value for value in line[0 if whole else len(line) // 2 :] if value is not None and math.isfinite(value)]
    return (min(some), max(some)) if some else (0.0, 1.0)


def _pick(values: list[Any], count: int = 5) -> list[Any]:
    """Some of a list, at even steps from first to last; times are filled in between."""
    if len(values) < 2:
        return values
    first, last = values[0], values[-1]
    return [first + (last - first) * k // (count - 1) for k in range(count)]


def _some_of(values: list[Any], count: int = 5) -> list[str]:
    """Labels of an axis: all of a few, else some at even steps."""
    if len(values) > 8:
        values = [values[round(k * (len(values) - 1) / (count - 1))] for k in range(count)]
    return [words.number(v) if isinstance(v, float) else words.named(v, 14) for v in values]


ENVIRONMENT.globals.update(some_of=_some_of)
ENVIRONMENT.globals.update(pick=_pick, none_line=lambda line: [None] * len(line))
ENVIRONMENT.globals.update(svg=svg, short_stamp=words.short_stamp, axis=svg.axis, span_of=_span)
ENVIRONMENT.globals["m"] = ENVIRONMENT.get_template("macros.html").module
