"""Rules as a small table for notebooks: no scripts, no external files, for light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ..plotting.html_table import STYLE
from . import words

if TYPE_CHECKING:
    from .result import Explanation, Region

MORE = (
    "<style>"
    ".hsb-rules td.number,.hsb-rules th.number{text-align:right!important}"
    ".hsb-rules .one{white-space:nowrap}"
    ".hsb-rules .bar{display:inline-block;height:.6em;background:currentColor;opacity:.35;margin-right:.5em;border-radius:2px}"
    "</style>"
)
WIDEST = 4.0  # em: the bar of the largest coverage
SHORT = 32  # letters of a condition or an arm that do not break into lines


def page(explanation: Explanation) -> str:
    """Return the table of rules: condition, arm, probability, coverage; the smaller rules are folded."""
    shown, rest = words.split_shown(explanation)
    largest = max([region.coverage for region in shown], default=0.0) or 1.0
    folded = ""
    if rest:
        summary = words.remainder_line(rest, "").removesuffix(": ")
        folded = f"<details><summary>{escape(summary)}</summary>{_table(rest, largest)}</details>"
    notes = "".join(f"<p>{escape(note)}</p>" for note in words.notes(explanation))
    return f'<div class="hsb-table hsb-rules">{STYLE}{MORE}{_table(shown, largest)}{folded}{notes}</div>'


def _table(regions: Sequence[Region], largest: float) -> str:
    earned = any(region.earned is not None for region in regions)
    more = "<th>earns there</th>" if earned else ""
    head = f'<tr><th>where</th><th>play</th><th class="number">probability</th><th>coverage</th>{more}</tr>'
    rows = "".join(_row(region, region.coverage / largest, earned) for region in regions)
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _row(region: Region, length: float, earned: bool) -> str:
    where = _nowrap(region.name) if region.name else " and ".join(map(_nowrap, region.conditions)) or "everywhere"
    arm = f"<b>{_nowrap(str(region.arm))}</b>" if region.seen else "<em>never seen</em>"
    probability = f"{region.probability:.2f}" if region.seen else ""
    bar = f'<span class="bar" style="width:{WIDEST * length:.2f}em"></span>'
    coverage = f'<td class="one">{bar}{words.percent(region.coverage)}</td>'
    reward = "" if region.earned is None else str(region.earned).removeprefix("earns ")
    more = f'<td class="one">{reward}</td>' if earned else ""
    return f'<tr><td>{where}</td><td>{arm}</td><td class="number">{probability}</td>{coverage}{more}</tr>'


def _nowrap(text: str) -> str:
    """Escape a text; a short one does not break into lines."""
    return f'<span class="one">{escape(text)}</span>' if len(text) <= SHORT else escape(text)
