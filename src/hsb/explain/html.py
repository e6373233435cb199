"""Rules as a small table for notebooks: no scripts, nothing from elsewhere, for light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from . import words

if TYPE_CHECKING:
    from .result import Explanation, Region

STYLE = (
    "<style>"
    ".hsb-rules table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".hsb-rules th,.hsb-rules td{padding:.25em .8em;text-align:left!important;border-bottom:1px solid rgba(128,128,128,.3);vertical-align:top}"
    ".hsb-rules th{font-weight:600}"
    ".hsb-rules td.number,.hsb-rules th.number{text-align:right!important;white-space:nowrap}"
    ".hsb-rules .bar{display:inline-block;height:.6em;background:currentColor;opacity:.35;margin-right:.5em;border-radius:2px}"
    ".hsb-rules p,.hsb-rules summary{opacity:.75;margin:.4em 0}"
    "</style>"
)
WIDEST = 4.0  # em: the bar of a share of 1


def page(explanation: Explanation) -> str:
    """The table: rule, arm, how sure, share; what is not shown folds away."""
    shown, rest = words.divided(explanation)
    folded = ""
    if rest:
        said = words.left_out(rest, "")[: -len(": ")]
        folded = f"<details><summary>{escape(said)}</summary>{_table(rest)}</details>"
    notes = "".join(f"<p>{escape(note)}</p>" for note in words.notes(explanation))
    return f'<div class="hsb-rules">{STYLE}{_table(shown)}{folded}{notes}</div>'


def _table(regions: Sequence[Region]) -> str:
    head = '<tr><th>where</th><th>play</th><th class="number">sure</th><th class="number">share of contexts</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{''.join(map(_row, regions))}</tbody></table>"


def _row(region: Region) -> str:
    arm = escape(str(region.arm)) if region.seen else "<em>never seen</em>"
    sure = f"{region.probability:.2f}" if region.seen else ""
    bar = f'<span class="bar" style="width:{WIDEST * region.share:.2f}em"></span>'
    share = f'<td class="number">{bar}{words.percent(region.share)}</td>'
    return f'<tr><td>{escape(region.where)}</td><td>{arm}</td><td class="number">{sure}</td>{share}</tr>'
