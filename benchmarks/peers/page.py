"""docs/peers.md: what a reader wants of all that was measured; and everything, as Markdown for out/ and as a data file for docs/."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from .base import Library
from .conduct import Plan
from .problems import PROBLEMS
from .summary import BEST, OURS, Loss, Row, Summary
from .tables import (
    chosen,
    configurations,
    glance,
    markdown,
    middle_length,
    overview,
    problem_table,
    settings_text,
    speeds,
    table,
    troubles,
    us_text,
)

ENCODINGS = """\
raw: the features as they are; cubic: all products of up to three of them; bins: one column a cell, 1 in the context's own (32 cells of one
feature, 36 of two, all 64 codewords); none: an algorithm without contexts. Models without an intercept are given a column of ones."""


class About(NamedTuple):
    """Where and when."""

    date: str
    machine: str
    python: str
    minutes: float
    plan: Plan
    quick: bool
    absent: dict[str, tuple[Library, str]]  # by file: the library, why not


class Section(NamedTuple):
    """A table with its words: what `everything` writes as Markdown and `data` as JSON."""

    title: str
    says: str
    head: list[str]
    rows: list[list[str]]


def page(summary: Summary, about: About) -> str:
    """The page: what a reader wants. `everything` has the rest."""
    middle = middle_length(summary)
    absent = "\n".join(f"- {library.name}: {why}." for library, why in about.absent.values())
    return composed(
        head=_head(about),
        since=since(about.date),
        glance=table(*glance(*overview(summary, markdown))),
        rounds=middle,
        short=short(summary),
        legend=_legend(summary, about),
        overview=table(*overview(summary, markdown)),
        absent=absent,
    )


def composed(
    *, head: str, since: str, glance: str, rounds: int, short: list[str], legend: str, overview: str, absent: str
) -> str:
    """The page of its parts."""
    parts = [
        "# hsb beside its peers",
        head,
        since,
        "## At a glance",
        f"Average loss over {rounds:,} rounds: of each library its best algorithm on each problem, at settings and encodings "
        "chosen on another seed, which favours libraries "
        "with many; hsb's row is its default, and nothing of it was chosen. **Bold**: lower than hsb beyond chance, on the same rounds.",
        glance,
        f"![Average loss against time a round]({PICTURE})",
        "## Who wins what",
        "\n".join(f"- {line}" for line in short),
        "## Every algorithm",
        legend,
        overview,
        "## The rest",
        f"[{DATA}]({DATA}) has every table as text: each problem with intervals, defaults and what was chosen; what NaN, "
        "unknown arms, late feedback and ten million "
        "rounds do to whom; speed, import and memory; every row's configuration. `make peers` writes the same as Markdown to "
        "`out/peers/everything.md`.",
        *(["## Not run", absent] if absent else []),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


SINCE = Path(__file__).with_name("since.md")


def since(date: str, file: Path = SINCE) -> str:
    """What has changed since this measurement: `since.md`, whose first line is the date of the measurement that it speaks of."""
    if not file.exists():
        return ""
    first, _, text = file.read_text().partition("\n")
    return text.strip() if first.strip() == date else ""


def details(summary: Summary, about: About) -> list[Section]:
    """Everything that was measured."""
    return [
        Section("Every algorithm", _legend(summary, about), *overview(summary, markdown)),
        *(Section(name, *problem_table(summary, name)) for name in summary.problems),
        Section("What goes wrong", _trouble_legend(about), *troubles(summary, about.plan.long)),
        Section(
            "Speed, import, memory",
            "One at a time: `decide` and `learn` from Python, the features put into the library's own form before. At once: a thousand "
            "decisions in one call, then a thousand updates in one call; for hsb a whole table, learning after every round. One "
            "thread. Import and "
            "first round: seconds in a fresh process, NumPy loaded and compiled code of earlier processes on disk, until the "
            "library is there and until "
            f"it has decided and learned once. Peak: of a fresh process that plays {about.plan.late:,} rounds; Python with NumPy "
            "alone takes about "
            f"{_bare(summary)}.",
            *speeds(summary),
        ),
        Section("Every row's configuration", ENCODINGS, *configurations(summary)),
    ]


CELLS = (
    "Average loss ± half of the 95% interval over seeds. **Bold**: lower than HSB's default on the same rounds, by a paired 95% interval; "
    "by chance alone one row in forty would be. A dash: there was no time for it. Default columns are at the middle "
    "length; best of grid says the "
    "encoding, and what differs from the default."
)


def everything(summary: Summary, about: About) -> str:
    """All of it as Markdown, for out/."""
    parts = ["# hsb beside its peers: everything", _head(about), CELLS]
    for section in details(summary, about):
        level = "###" if section.title in PROBLEMS else "##"
        parts += [f"{level} {section.title}", section.says, table(section.head, section.rows)]
    return "\n\n".join([*parts, "\n".join(_settings(summary))]) + "\n"


def data(head: str, sections: list[Section], settings: list[str]) -> str:
    """All of it as JSON: a row a line, so that a change can be read."""
    lines = ["{", f'"about": {_text(head)},', f'"cells": {_text(CELLS)},', '"tables": [']
    for k, section in enumerate(sections):
        rows = ",\n".join(_text(row) for row in section.rows)
        lines.append(
            f'{{"title": {_text(section.title)}, "says": {_text(section.says)},\n"head": {_text(section.head)},\n"rows": [\n{rows}\n]}}'
        )
        lines[-1] += "," if k + 1 < len(sections) else ""
    configured = ",\n".join(_text(line) for line in settings)
    return "\n".join([*lines, "],", f'"settings": [\n{configured}\n]', "}"]) + "\n"


def published(summary: Summary, about: About) -> str:
    """The data file of docs/."""
    return data(_head(about), details(summary, about), [line.strip() for line in _settings(summary)])


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


DATA = "data/peers.json"
PICTURE = "peers.svg"
SHOWN = 4  # names in a sentence


def short(summary: Summary) -> list[str]:
    """Who wins what, in sentences: the ones that README repeats."""
    found = []
    for problem in summary.problems:
        lengths = [rounds for rounds in summary.lengths if summary.ours(problem, rounds)]
        own = [(n, loss) for n in lengths if (loss := summary.ours(problem, n))]
        ours = [f"{loss.compared.mean:.4f} over {n:,}" for n, loss in own]
        reacts = any(loss.regret is not None for _, loss in own)
        what = (
            "(it reacts to each policy, so regret is compared, a round) HSB at its default has"
            if reacts
            else "HSB at its default loses"
        )
        best = [
            f"{row.full_name} ({chosen(row, problem) if which == BEST else which}) {loss.compared.mean:.4f} over {n:,}"
            for n in lengths[1:] or lengths
            if (least := summary.least(problem, n))
            for row, which, loss in [least]
        ]
        lower = [f"over {n:,} {_listed(rows)}" for n in lengths if (rows := summary.better(problem, n))]
        line = f"**{problem}**: {what} {', '.join(ours)} rounds. Best rival: {'; '.join(best) or 'none'}. "
        found.append(line + (f"**Lower than HSB: {'; '.join(lower)}.**" if lower else "No row is lower beyond chance."))
    mine = next((row for row in summary.rows if row.key == OURS), None)
    if mine is not None:
        one, many = mine.us("raw"), mine.batch_us("raw")
        found += [_faster(summary, "one round at a time from Python", one, Row.us)] if one else []
        found += [_faster(summary, "many rounds at once", many, Row.batch_us)] if many else []
    return found


def _listed(rows: list[tuple[Row, str, Loss]]) -> str:
    names = [f"{row.full_name} {loss.compared.mean:.4f}" for row, _, loss in rows[:SHOWN]]
    return ", ".join(names) + (f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else "")


def _faster(summary: Summary, what: str, ours: float, speed: Callable[[Row], float | None]) -> str:
    timed = sorted(
        ((us, row.full_name) for row in summary.rows if row.name != "hsb" and (us := speed(row))), key=lambda one: one[0]
    )
    names = [f"{name} {us_text(us)} µs" for us, name in timed if us < ours]
    return f"**Speed**, {what}: HSB at its default {us_text(ours)} µs. " + (
        f"**Faster: {'; '.join(names)}.**" if names else "Nobody is faster."
    )


# -- inside --------------------------------------------------------------------------------------------------------------


def _head(about: About) -> str:
    games = ", ".join(f"{rounds:,} rounds with {seeds} seeds" for rounds, seeds in about.plan.lengths.items())
    return (
        f"Generated by `make peers`{' in its quick size' if about.quick else ''} on {about.date}: {about.machine}, Python {about.python}, "
        f"{about.minutes:.0f} minutes. Games: {games}. Settings are chosen on a seed of their own, over {_shortest(about.plan)}. "
        "Every library sees the same rounds and has the same time for them; what did not fit is left out and shown as a dash. "
        "All problems but "
        "LandSat are synthetic. Not to be edited by hand."
    )


def _shortest(plan: Plan) -> str:
    first, *others = (f"{rounds:,}" for rounds in plan.choices)
    return f"{first} rounds" + (f" or, where time allows, {' or '.join(others)}" if others else "")


def _legend(summary: Summary, about: About) -> str:
    return (
        f"Average loss over {middle_length(summary):,} rounds, each algorithm with the best of its grid and encodings, chosen for each problem "
        "on another seed; HSB's default, which is never tuned, comes first. **Bold**: lower than HSB's default on the same "
        "rounds (against the "
        "adversary, a lower regret), by a paired 95% interval. µs: a decision and its update, one at a time, as chosen for VI-A; at "
        "once: in the library's own bulk mode, if any. Refuses: of NaN contexts, NaN losses and unknown arms, how many it "
        "refuses unharmed. Many rounds: how many of ten million it played in the time it had."
    )


def _trouble_legend(about: About) -> str:
    return (
        "Each at its default, bins where it takes features, after 120 rounds. *Learns on*: afterwards it still finds an arm "
        "that never loses. "
        "Propensity: two equal players learn the same decisions, one told that those that lost had had probability 0.02; do they differ? "
        f"Feedback late: average loss over {about.plan.late:,} rounds of VI-A, with feedback at once → "
        f"{about.plan.late // 10:,} rounds late. "
        f"Many rounds: {about.plan.long:,} of an easy problem, the library's fastest way."
    )


def _bare(summary: Summary) -> str:
    found = [row.size["before"] for row in summary.rows if "before" in row.size]
    return f"{min(found) / 2**20:.0f} MB" if found else "some 30 MB"


def _settings(summary: Summary) -> Iterable[str]:
    seen = set()
    for row in summary.rows:
        if row.name not in seen:
            seen.add(row.name)
            says = f" {row.library.says}" if row.library.says else ""
            yield f"\n**{row.library.name} {row.version}** (`{row.library.package}`; {row.library.source}).{says}\n"
        grid = "; ".join(settings_text(one) for one in row.algorithm.grid) or "none"
        default = settings_text(row.algorithm.default) or "no settings"
        batch = f" Updates in batches of up to {row.algorithm.batch}." if row.algorithm.batch > 1 else ""
        says = f" {row.algorithm.says[0].upper()}{row.algorithm.says[1:]}" if row.algorithm.says else ""
        yield f"- {row.algorithm.name}. Default: {default}. Also tried: {grid}. Encodings: {', '.join(row.algorithm.encodings)}.{batch}{says}"
