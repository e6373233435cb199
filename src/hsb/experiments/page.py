"""The report as one HTML file without dependencies, with a light and a dark theme, for wide screens and phones.

The results come first: a summary, and a card for each experiment. Then come the figures of each experiment, with its claims and tables folded
below them.
"""

import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from ..evaluate.html_page import document
from ..plotting.figure_files import FigureFiles
from .base import Analysis, Claim, Experiment, Options, Part, ReportTable
from .cache import Finished
from .verdicts import ORIGINS, WORDS, changed, count, decisions, explained, failures, tally

VERDICTS = {True: ("holds", "✓ holds"), False: ("fails", "✗ does not hold"), None: ("tie", "≈ tie")}
EXPLAINED = (
    "A claim holds if the 95% interval of its difference lies above 0, does not hold if it lies below, and is a tie if it covers 0. "
    "A positive difference supports the claim. There are four kinds of claims: the paper's, the paper's under other readings "
    "of what it leaves open, identities, and our own. Each kind is counted and corrected separately. "
    "Among many claims a few hold by chance. If Holm's correction for all claims of the same kind changes a verdict, "
    "the corrected verdict is shown in small print."
)
REDUCED = (
    "This quick run has fewer rounds and repetitions than the paper, so the intervals are wide and the verdicts are not final. "
    "Run it without --quick for the full size."
)


def size_note(options: Options) -> tuple[str, str]:
    """Return a heading and a sentence about the size of a run; both empty for the default size.

    >>> size_note(Options(depths=(4, 7), rounds=3000))[1]
    'Sizes that you chose: depths 4, 7; rounds 3,000. The verdicts apply to this size, and may differ at the default size.'
    """
    if options.quick and not options.chosen_sizes():
        return "Reduced size.", REDUCED
    if not options.chosen_sizes():
        return "", ""
    sizes = "; ".join(
        f"{name} {', '.join(f'{each:,}' for each in (size if isinstance(size, tuple) else (size,)))}"
        for name, size in options.chosen_sizes().items()
    )
    rest = " Other sizes are those of a quick run." if options.quick else ""
    text = f"Sizes that you chose: {sizes}.{rest} The verdicts apply to this size, and may differ at the default size."
    return "Not the default size.", text


class Study(NamedTuple):
    """An experiment that was run: its parts, their results, and the analysis."""

    experiment: Experiment
    options: Options
    parts: list[Part]
    finished: list[Finished]
    analysis: Analysis


def page(title: str, studies: Sequence[tuple[Study, Sequence[FigureFiles]]], about: dict[str, str]) -> str:
    """Return the report as one HTML document: a summary, the studies with their figures, then the settings of the run."""
    claims = [claim for study, _ in studies for claim in study.analysis.claims]
    inside = [
        f"<h1>{escape(title)}</h1>",
        *dict.fromkeys(_size(study.options) for study, _ in studies),
        _summary(claims, [study for study, _ in studies]),
        *(_study(study, figures) for study, figures in studies),
        _how_to_read(claims),
        "<h2 id='run'>Settings of this run</h2>",
        _table(ReportTable("", ["", ""], [[name, value] for name, value in about.items()])),
        *(_settings(study) for study, _ in studies),
    ]
    return document(title, "\n".join(inside))


def number(value: Any) -> str:
    """Format a value for a reader: rounded numbers, an interval or dict as its items, other values unchanged.

    >>> number(0.123456), number(2), number({"mean": 0.5, "low": 0.25, "high": 0.75}), number({"a": 1.0})
    ('0.1235', '2', '0.5 (0.25 to 0.75)', 'a: 1')
    """
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "unbounded"
    if isinstance(value, dict):
        middle = next((name for name in ("mean", "difference") if name in value), None)
        if middle is not None and set(value) == {middle, "low", "high"}:
            return f"{number(value[middle])} ({number(value['low'])} to {number(value['high'])})"
        return "; ".join(f"{name}: {number(inside)}" for name, inside in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(number(inside) for inside in value)
    return str(value)


def _size(options: Options) -> str:
    heading, text = size_note(options)
    return f'<p class="reduced" role="note"><strong>{heading}</strong> {text}</p>' if heading else ""


def _summary(claims: Sequence[Claim], studies: Sequence[Study]) -> str:
    """Return the counts, the failures, and a card for each study."""
    summary = f"<p>{escape(count(claims))}</p>" if claims else ""
    summary += _listed(failures([claim for claim in claims if claim.origin != "reading"]))
    return f'{summary}<nav class="cards" aria-label="Experiments">{"".join(map(_card, studies))}</nav>'


def _listed(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _card(study: Study) -> str:
    title, claims = escape(study.experiment.title), study.analysis.claims
    bar = _bar(claims) if claims else "<small>figures only</small>"
    return f'<a class="card" href="#{study.experiment.name}"><b>{title}</b>{bar}</a>'


def _bar(claims: Sequence[Claim]) -> str:
    """Return the counts of the verdicts, as a bar with its numbers."""
    counted = _counts(claims)
    stripes = "".join(f'<i class="{kind}" style="flex:{n}"></i>' for kind, n, _ in counted)
    words = " · ".join(f'<span class="{kind}">{text}</span>' for kind, _, text in counted)
    return f'<span class="bar" aria-hidden="true">{stripes}</span><small>{words}</small>'


def _counts(claims: Sequence[Claim]) -> list[tuple[str, int, str]]:
    """Return class, count and words of each verdict that occurs."""
    counted = tally(claims)
    words = {True: ("✓ {} holds", "✓ {} hold"), None: ("≈ {} tie", "≈ {} ties"), False: ("✗ {} does not", "✗ {} do not")}
    return [(VERDICTS[each][0], n, words[each][n > 1].format(n)) for each in (True, None, False) if (n := counted[each])]


def _how_to_read(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    more = f"<p>{escape(changed(claims))}</p>" if changed(claims) else ""
    readings = failures([claim for claim in claims if claim.origin == "reading"])
    return f"<h2 id='claims'>How to read the claims</h2><p>{EXPLAINED}</p>{more}{_listed([*decisions(claims), *readings])}"


def _study(study: Study, figures: Sequence[FigureFiles]) -> str:
    lines = [f'<h2 id="{study.experiment.name}">{escape(study.experiment.title)}</h2>']
    for files in figures:
        caption = escape(files.figure.caption + (" Synthetic data." if files.figure.synthetic else ""))
        picture = f'<div class="picture" role="img" aria-label="{caption}">{files.inline}</div>'
        lines.append(f"<figure>{picture}<figcaption>{caption}</figcaption></figure>")
    analysis = study.analysis
    if analysis.claims:
        lines.append(
            _folded(
                "Claims: " + ", ".join(text for _, _, text in _counts(analysis.claims)),
                "".join(map(_claim, analysis.claims)),
                "claims",
            )
        )
    if analysis.tables:
        lines.append(_folded(f"Tables: {len(analysis.tables)}", "".join(map(_table, analysis.tables))))
    if analysis.notes:
        lines.append("<h3>Notes</h3><ul>" + "".join(f"<li>{escape(note)}</li>" for note in analysis.notes) + "</ul>")
    return "\n".join(lines)


def _folded(summary: str, inside: str, kind: str = "") -> str:
    return f'<details class="{kind}"><summary>{escape(summary)}</summary>{inside}</details>'


def _claim(claim: Claim) -> str:
    """Return a claim as a card: the verdict, the claim, its explanation, its numbers."""
    kind, words = VERDICTS[claim.holds]
    if claim.jointly is not claim.holds:
        words += f"<br><small>corrected: {WORDS[claim.jointly]}</small>"
    interval = f"difference {number(claim.difference)} <br><small>95%: {number(claim.low)} to {number(claim.high)}</small>"
    numbers = "".join(f"<dt>{escape(str(name))}</dt><dd>{escape(number(value))}</dd>" for name, value in claim.numbers.items())
    why = f"<p><small>{escape(explained(claim))}</small></p>" if explained(claim) else ""
    rests = f"<p>{interval}</p>" + (f"<dl>{numbers}</dl>" if numbers else "")
    statement = f"<p>{escape(claim.claim)} <small>({ORIGINS[claim.origin]})</small></p>{why}"
    return f'<article class="claim"><div class="verdict {kind}">{words}</div><div>{statement}</div><div class="numbers">{rests}</div></article>'


def _table(table: ReportTable) -> str:
    """Return a table as HTML. On a phone each row is a card with labelled cells."""
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    names = [escape(str(name)) for name in table.head]
    head = f"<thead><tr>{''.join(f'<th>{name}</th>' for name in names)}</tr></thead>" if any(names) else ""
    rows = "".join(f"<tr>{''.join(map(_cell, names, row))}</tr>" for row in table.rows)
    return f'<div class="wide"><table class="rows">{caption}{head}<tbody>{rows}</tbody></table></div>'


def _cell(name: str, value: str) -> str:
    label = f' data-name="{name}"' if name else ""
    return f"<td{label}>{escape(str(value))}</td>"


def _settings(study: Study) -> str:
    settings = json.dumps(study.experiment.settings(study.options), indent=1, ensure_ascii=False, default=str)
    seconds = sum(finished.seconds for finished in study.finished)
    summary = f"{escape(study.experiment.title)}: {len(study.parts)} parts, {seconds:.1f} s"
    return f"<details><summary>{summary}</summary><pre>{escape(settings)}</pre></details>"
