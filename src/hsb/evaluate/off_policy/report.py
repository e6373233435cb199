"""A comparison of candidates as a page: the figure, the table, the notes."""

import importlib.util
from html import escape
from typing import TYPE_CHECKING

from ..html_page import document

if TYPE_CHECKING:
    from .comparison import OffPolicyComparison

TITLE = "Candidates on a log"
CLASSES = {"better": "holds", "worse": "fails", "undecided": "tie", "equal": "tie"}


def page(comparison: "OffPolicyComparison") -> str:
    """Return the page. Names are the user's, and are escaped. Without matplotlib there is no figure."""
    picture = ""
    if importlib.util.find_spec("matplotlib") is not None:
        from ...plotting.comparisons import candidates_picture

        svg = candidates_picture(comparison, "svg").decode()
        caption = "Average rewards with intervals, and differences to the baseline."
        drawing = f'<div class="picture" role="img" aria-label="{caption}">{svg[svg.index("<svg") :]}</div>'
        picture = f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>"
    return document(
        TITLE, "\n".join([f"<h1>{TITLE}</h1>", f"<p>{escape(_headline(comparison))}</p>", picture, tables(comparison)])
    )


def _headline(comparison: "OffPolicyComparison") -> str:
    """Summarize the result in a sentence or two."""
    named = {
        verdict: [each.name for each in comparison.sorted if each.difference is not None and each.difference.verdict == verdict]
        for verdict in ("better", "worse")
    }
    clear = [f"{verdict} than {comparison.baseline}: {', '.join(names)}" for verdict, names in named.items() if names]
    if not clear:
        return f"No candidate is clearly better or worse than {comparison.baseline}." if len(comparison) > 1 else ""
    text = "; ".join(clear) + "."
    return f"{text[0].upper()}{text[1:]} This is corrected for the number of candidates."


def tables(comparison: "OffPolicyComparison") -> str:
    """Return the table and the notes below it, as HTML."""
    head = "".join(f"<th>{escape(name)}</th>" for name in comparison.head())
    rows = []
    for each in comparison.sorted:
        kind = "" if each.difference is None else CLASSES[each.difference.verdict]
        named = zip(comparison.head(), comparison.cells(each), strict=True)
        cells = [f'<td data-name="{escape(name)}">{escape(cell)}</td>' for name, cell in named]
        cells[-2] = cells[-2].replace("<td", f'<td class="verdict {kind}"', 1)
        rows.append(f"<tr>{''.join(cells)}</tr>")
    notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in comparison.notes())
    return f'<div class="wide"><table class="rows"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>{notes}'
