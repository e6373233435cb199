"""Small HTML tables for notebooks, light or dark, without scripts or external files. All text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

STYLE = (
    "<style>"
    ".hsb-table table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".hsb-table th,.hsb-table td{padding:.25em .8em;text-align:left!important;border-bottom:1px solid rgba(128,128,128,.3);vertical-align:top}"
    ".hsb-table th{font-weight:600;white-space:nowrap}"
    ".hsb-table p,.hsb-table summary{opacity:.75;margin:.4em 0;max-width:60em}"
    "</style>"
)


def html_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    lead: str = "",
    notes: Iterable[str] = (),
    folded: tuple[str, str] | None = None,
) -> str:
    """Return HTML: the sentence `lead`, a table of `rows` under `head`, and notes; `folded` is a title and the text that it unfolds.

    Without a `head`, the first text of each row is its title.

    >>> html_table(["arm"], [["<b>"]]).removeprefix(f'<div class="hsb-table">{STYLE}')
    '<table><thead><tr><th>arm</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table></div>'
    """
    titles = f"<thead><tr>{''.join(f'<th>{escape(each)}</th>' for each in head)}</tr></thead>" if head else ""
    body = "".join(f"<tr>{_cells(row, titled=not head)}</tr>" for row in rows)
    table = f"<table>{titles}<tbody>{body}</tbody></table>" if body else ""
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    if folded is not None:
        below += f"<details><summary>{escape(folded[0])}</summary><p>{escape(folded[1])}</p></details>"
    return f'<div class="hsb-table">{STYLE}{f"<p>{escape(lead)}</p>" if lead else ""}{table}{below}</div>'


def _cells(row: Sequence[str], *, titled: bool) -> str:
    first = f"<th>{escape(row[0])}</th>" if titled else f"<td>{escape(row[0])}</td>"
    return first + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
