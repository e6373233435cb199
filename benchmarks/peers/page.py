"""docs/peers.md: what a reader wants of all that was measured; and everything, as Markdown for out/ and as a data file for docs/."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from .base import Library
from .conduct import Plan
from .problems import PROBLEMS
from .summary import BEST, OURS, Loss, Row, Summary

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
    middle = _middle(summary)
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


def glance(head: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Of the table of all algorithms: a row a library, its least loss on each problem; the adversary's losses cannot be compared."""
    columns = [k for k, name in enumerate(head) if name in PROBLEMS and name != "adversary"]
    best: dict[str, list[str]] = {}
    for row in rows:
        name = "**hsb, default**" if row[0] == "hsb: HSB, default" else row[0].partition(": ")[0]
        if name == "hsb":  # its other settings are rivals, not the row to look at
            continue
        cells = best.setdefault(name, ["-"] * len(columns))
        for k, column in enumerate(columns):
            cells[k] = min(cells[k], row[column], key=_number)
    return ["library", *(head[k] for k in columns)], [[name, *cells] for name, cells in best.items()]


def _number(cell: str) -> float:
    try:
        return float(cell.strip("*"))
    except ValueError:  # a dash, or fails
        return float("inf")


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
        *(Section(name, *_problem(summary, name)) for name in summary.problems),
        Section("What goes wrong", _trouble_legend(about), *troubles(summary, about.plan.long)),
        Section(
            "Speed, import, memory",
            "One at a time: `decide` and `learn` from Python, the features put into the library's own form before. At once: a thousand "
            "decisions in one call, then a thousand lessons in one call; for hsb a whole table, learning after every round. One "
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


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown."""
    clean = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *clean])


def markdown(loss: Loss | str | None, *, long: bool = False) -> str:
    """A loss in a cell."""
    if loss is None:
        return "-"
    if isinstance(loss, str):
        return f"fails: {loss}" if long else "fails"
    text = str(loss) if long else f"{loss.interval.mean:.3f}"
    return f"**{text}**" if loss.against == -1 else text


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
            f"{row.full_name} ({_chosen(row, problem) if which == BEST else which}) {loss.compared.mean:.4f} over {n:,}"
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


def overview(summary: Summary, cell: Callable[[Loss | str | None], str]) -> tuple[list[str], list[list[str]]]:
    """One row an algorithm at its best of the grid, and HSB's default first."""
    rounds = _middle(summary)
    head = ["algorithm", "µs", "at once", *summary.problems, "refuses", "many rounds"]
    ours = next((row for row in summary.rows if row.key == OURS), None)
    rows = []
    if ours is not None:
        default = [cell(summary.loss(ours, name, "default, raw", rounds)) for name in summary.problems]
        rows.append(["hsb: HSB, default", _us(ours.us("raw")), _us(ours.batch_us("raw")), *default, *_robust(ours)])
    for row in summary.rows:
        losses = [cell(summary.loss(row, name, BEST, rounds)) for name in summary.problems]
        rows.append([row.full_name, _us(row.us()), _us(row.batch_us()), *losses, *_robust(row)])
    return head, rows


def _robust(row: Row) -> list[str]:
    """How many of three kinds of bad input it refuses unharmed; how many rounds it was seen to play."""
    kinds = [row.trouble[kind] for kind in ("NaN context", "NaN loss", "unknown arm") if kind in row.trouble]
    kinds = [kind for kind in kinds if kind != "there are no contexts"]
    good = sum(kind.startswith("refused") and kind.endswith(")") for kind in kinds)
    played = "-"
    if "rounds" in row.long:
        played = f"{row.long['rounds'] / 1e6:.2g} M" if not row.long.get("error") else f"fails at {row.long['rounds']:,}"
    return [f"{good} of {len(kinds)}" if kinds else "-", played]


def troubles(summary: Summary, rounds: int) -> tuple[list[str], list[list[str]]]:
    """What each does with NaN, an unknown arm, late feedback, ten million rounds."""
    head = ["algorithm", "NaN context", "NaN loss", "unknown arm", "propensity", "feedback late", "many rounds"]
    rows = []
    for row in summary.rows:
        found = row.trouble
        if "error" in found:
            rows.append([row.full_name, f"not seen: {found['error']}", "", "", "", "", _long(row.long, rounds)])
            continue
        late = found.get("late")
        lateness = f"{late[0]:.3f} → {late[1]:.3f}" if isinstance(late, list) and len(late) == 2 else str(late or "-")
        kinds = [_cut(str(found.get(kind, "-"))) for kind in ("NaN context", "NaN loss", "unknown arm", "propensity")]
        rows.append([row.full_name, *kinds, lateness, _long(row.long, rounds)])
    return head, rows


def _cut(text: str) -> str:
    """A long error in a table."""
    return re.sub(r"\(([^()]{60})[^()]*\)", r"(\1…)", text)


def speeds(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Times by encoding, against HSB in the same run."""
    ours = next((row for row in summary.rows if row.key == OURS), None)
    unit = ours.us("raw") if ours else None
    head = ["algorithm", "raw µs", "cubic µs", "bins µs", "chosen for VI-A µs", "times HSB's", "at once µs"]
    head += ["import s", "first round s", "peak MB"]
    rows = []
    for row in summary.rows:
        none = row.us("none")
        each = [_us(none), "", ""] if none else [_us(row.us(encoding)) for encoding in ("raw", "cubic", "bins")]
        mine = row.us()
        ratio = f"{mine / unit:.1f}" if mine and unit else "-"
        peak = row.size.get("peak")
        last = [f"{row.size[what]:.2f}" if what in row.size else "-" for what in ("import", "first")]
        last.append(f"{peak / 2**20:.0f}" if peak else "-")
        rows.append([row.full_name, *each, _us(mine), ratio, _us(row.batch_us()), *last])
    return head, rows


def configurations(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Default, grid, what was chosen for each problem."""
    head = ["algorithm", *summary.problems]
    return head, [[row.full_name, *(_chosen(row, name) for name in summary.problems)] for row in summary.rows]


def _faster(summary: Summary, what: str, ours: float, speed: Callable[[Row], float | None]) -> str:
    timed = sorted(
        ((us, row.full_name) for row in summary.rows if row.name != "hsb" and (us := speed(row))), key=lambda one: one[0]
    )
    names = [f"{name} {_us(us)} µs" for us, name in timed if us < ours]
    return f"**Speed**, {what}: HSB at its default {_us(ours)} µs. " + (
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
        f"Average loss over {_middle(summary):,} rounds, each algorithm with the best of its grid and encodings, chosen for each problem "
        "on another seed; HSB's default, which is never tuned, comes first. **Bold**: lower than HSB's default on the same "
        "rounds (against the "
        "adversary, a lower regret), by a paired 95% interval. µs: a decision and its lesson, one at a time, as chosen for VI-A; at "
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


def _problem(summary: Summary, name: str) -> tuple[str, list[str], list[list[str]]]:
    encodings = ("raw", "cubic", "bins")
    middle = _middle(summary)
    adversary = name == "adversary"
    head = ["algorithm", *(f"default, {encoding}" for encoding in encodings), "best of grid"]
    head += (
        [f"{rounds:,}" for rounds in summary.lengths]
        + (["regret"] if adversary else [])
        + [f"default, {summary.lengths[-1]:,}"]
    )
    rows = []
    for row in summary.rows:
        which = row.algorithm.encodings
        cells = [markdown(summary.loss(row, name, f"default, {e}", middle), long=True) if e in which else "" for e in encodings]
        if which == ("none",):
            cells[0] = markdown(summary.loss(row, name, "default, none", middle), long=True)
        cells.append(_chosen(row, name))
        tuned = [summary.loss(row, name, BEST, rounds) for rounds in summary.lengths]
        cells += [markdown(loss, long=True) for loss in tuned]
        if adversary:
            cells.append(
                ", ".join(
                    "-" if not isinstance(loss, Loss) or loss.regret is None else f"{loss.regret.mean:.3f}" for loss in tuned
                )
            )
        rows.append([row.full_name, *cells, _default_long(summary, row, name)])
    said = PROBLEMS[name][0][0].upper() + PROBLEMS[name][0][1:]
    if adversary:
        said += (
            ". Whoever is predictable is punished, and uniform play does not lose much more than the best; regret, a round and at "
            "each length, "
            "is against the best mapping of 32 cells on the losses that were set for this player: it is what a guarantee speaks of"
        )
    return f"{said}.", head, rows


def _default_long(summary: Summary, row: Row, name: str) -> str:
    """The default with its best encoding, at the greatest length."""
    longest = summary.lengths[-1]
    for encoding in row.algorithm.encodings:
        loss = summary.loss(row, name, f"default, {encoding}", longest)
        if isinstance(loss, Loss):
            return f"{encoding}: {markdown(loss, long=True)}"
    return "-"


def _middle(summary: Summary) -> int:
    return summary.lengths[min(1, len(summary.lengths) - 1)]


def _us(us: float | None) -> str:
    return "-" if us is None else f"{us:.2f}" if us < 1 else f"{us:.1f}" if us < 100 else f"{us:,.0f}"


def _chosen(row: Row, problem: str) -> str:
    """The encoding, and what differs from the default."""
    configuration = row.configuration(problem)
    if configuration is None:
        return "-"
    default = row.algorithm.default
    changed = {name: value for name, value in configuration["settings"].items() if default.get(name) != value}
    return f"{configuration['encoding']}, {_settings_text(changed) or 'default'}"


def _settings_text(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in settings.items())


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def _long(found: dict[str, Any], asked: int) -> str:
    if "rounds" not in found:
        return str(found.get("error", "-"))
    if found.get("error"):
        return f"fails after {found['rounds']:,}: {found['error']}"
    text = f"{found['rounds']:,} in {found['seconds']:.0f} s ({found['mode']})"
    if found["rounds"] < asked and found["seconds"]:
        text += f", so {_time(found['seconds'] / found['rounds'] * asked)} for all"
    if found.get("slower") and found["slower"] > 1.3:
        text += f", the second half {found['slower']:.1f} times slower"
    if found.get("bytes_a_round", 0) > 1:
        text += f", +{found['bytes_a_round']:.0f} bytes a round"
    return text


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
        grid = "; ".join(_settings_text(one) for one in row.algorithm.grid) or "none"
        default = _settings_text(row.algorithm.default) or "no settings"
        batch = f" Lessons in batches of up to {row.algorithm.batch}." if row.algorithm.batch > 1 else ""
        says = f" {row.algorithm.says[0].upper()}{row.algorithm.says[1:]}" if row.algorithm.says else ""
        yield f"- {row.algorithm.name}. Default: {default}. Also tried: {grid}. Encodings: {', '.join(row.algorithm.encodings)}.{batch}{says}"
