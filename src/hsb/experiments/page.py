"""The page: plain HTML that needs nothing else, by day and by night."""

import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from ..evaluate.pages import document
from .base import Analysis, Claim, Experiment, Options, Part, Table
from .cache import Finished
from .drawing import Drawn
from .verdicts import ORIGINS, WORDS, changed, count

VERDICTS = {True: ("holds", "✓ holds"), False: ("fails", "✗ does not hold"), None: ("tie", "≈ tie")}
EXPLAINED = (
    "A claim holds where the 95% interval of its difference lies above 0, does not hold where it lies below, and is a tie where it covers 0. "
    "Differences are positive where the claim is true. The paper's claims, the same claims under another reading of what it leaves "
    "open, identities and claims of our own are counted apart, and corrected apart. Of many claims a few hold by chance: a verdict in small "
    "print is what is left after Holm's correction for all claims of the same origin, where it is another one."
)


class Study(NamedTuple):
    """An experiment that was run: its parts, what they returned, and what that shows."""

    experiment: Experiment
    options: Options
    parts: list[Part]
    finished: list[Finished]
    analysis: Analysis


def page(title: str, studies: Sequence[tuple[Study, Sequence[Drawn]]], about: dict[str, str]) -> str:
    """The report as one HTML document: claims first, then each study, then what was run and with what settings."""
    links = " · ".join(f'<a href="#{study.experiment.name}">{escape(study.experiment.title)}</a>' for study, _ in studies)
    inside = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{links}</p>",
        _claims([claim for study, _ in studies for claim in study.analysis.claims]),
        *(_study(study, figures) for study, figures in studies),
        "<h2 id='run'>What was run</h2>",
        _table(Table("", ["", ""], [[name, value] for name, value in about.items()])),
        *(_settings(study) for study, _ in studies),
    ]
    return document(title, "\n".join(inside))


def number(value: Any) -> str:
    """A number for a reader; other values as they are; a dict as its items.

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


def _claims(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    rows = []
    for claim in claims:
        kind, words = VERDICTS[claim.holds]
        if claim.jointly is not claim.holds:
            words += f"<br><small>corrected: {WORDS[claim.jointly]}</small>"
        interval = f"{number(claim.difference)}<br><small>{number(claim.low)} to {number(claim.high)}</small>"
        numbers = "<br>".join(f"{escape(str(name))}: {escape(number(value))}" for name, value in claim.numbers.items())
        why = f"<br><small>{escape(claim.explanation)}</small>" if claim.explanation else ""
        source = f"<br><small>{escape(claim.experiment)}, {ORIGINS[claim.origin]}</small>"
        said = f'<td class="verdict {kind}">{words}</td><td>{escape(claim.claim)}{source}{why}</td>'
        rows.append(f"<tr>{said}<td>{interval}</td><td>{numbers}</td></tr>")
    head = "<tr><th>verdict</th><th>claim</th><th>difference<br><small>95% interval</small></th><th>numbers</th></tr>"
    heading = f"<h2 id='claims'>Claims</h2><p>{escape(count(claims))}</p><p>{escape(changed(claims))}</p><p><small>{EXPLAINED}</small></p>"
    return f'{heading}\n<div class="wide"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def _study(study: Study, figures: Sequence[Drawn]) -> str:
    lines = [f'<h2 id="{study.experiment.name}">{escape(study.experiment.title)}</h2>']
    lines += [f"<p>{escape(note)}</p>" for note in study.analysis.notes]
    for drawn in figures:
        said = escape(drawn.figure.caption + (" Synthetic data." if drawn.figure.synthetic else ""))
        lines.append(f'<figure role="img" aria-label="{said}">{drawn.inline}<figcaption>{said}</figcaption></figure>')
    return "\n".join([*lines, *map(_table, study.analysis.tables)])


def _table(table: Table) -> str:
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in table.head)
    head = f"<thead><tr>{head}</tr></thead>" if any(table.head) else ""
    rows = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f'<div class="wide"><table>{caption}{head}<tbody>{rows}</tbody></table></div>'


def _settings(study: Study) -> str:
    settings = json.dumps(study.experiment.settings(study.options), indent=1, ensure_ascii=False, default=str)
    seconds = sum(finished.seconds for finished in study.finished)
    summary = f"{escape(study.experiment.title)}: {len(study.parts)} parts, {seconds:.1f} s"
    return f"<details><summary>{summary}</summary><pre>{escape(settings)}</pre></details>"
