"""Rules as a small table for notebooks: no scripts, nothing from elsewhere, for light and dark pages."""

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
WIDEST = 4.0  # em: the bar of the largest share
SHORT = 32  # letters of a condition or an arm that are kept in one line


def page(explanation: Explanation) -> str:
    """The table: rule, arm, how sure, share; what is not shown folds away."""
    shown, rest = words.divided(explanation)
    largest = max([region.share for region in shown], default=0.0) or 1.0
    folded = ""
    if rest:
        said = words.left_out(rest, "").removesuffix(": ")
        folded = f"<details><summary>{escape(said)}</summary>{_table(rest, largest)}</details>"
    notes = "".join(f"<p>{escape(note)}</p>" for note in words.notes(explanation))
    return f'<div class="hsb-table hsb-rules">{STYLE}{MORE}{_table(shown, largest)}{folded}{notes}</div>'


def _table(regions: Sequence[Region], largest: float) -> str:
    earned = any(region.earned is not None for region in regions)
    more = "<th>earns there</th>" if earned else ""
    head = f'<tr><th>where</th><th>play</th><th class="number">sure</th><th>share of contexts</th>{more}</tr>'
    rows = "".join(_row(region, region.share / largest, earned) for region in regions)
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _row(region: Region, length: float, earned: bool) -> str:
    where = _kept(region.name) if region.name else " and ".join(map(_kept, region.conditions)) or "everywhere"
    arm = f"<b>{_kept(str(region.arm))}</b>" if region.seen else "<em>never seen</em>"
    sure = f"{region.probability:.2f}" if region.seen else ""
    bar = f'<span class="bar" style="width:{WIDEST * length:.2f}em"></span>'
    share = f'<td class="one">{bar}{words.percent(region.share)}</td>'
    said = "" if region.earned is None else str(region.earned).removeprefix("earns ")
    more = f'<td class="one">{said}</td>' if earned else ""
    return f'<tr><td>{where}</td><td>{arm}</td><td class="number">{sure}</td>{share}{more}</tr>'


def _kept(text: str) -> str:
    """Words in one line, unless they are many."""
    return f'<span class="one">{escape(text)}</span>' if len(text) <= SHORT else escape(text)
