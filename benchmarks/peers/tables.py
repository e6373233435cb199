"""The tables of docs/peers.md: what stands in each cell."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from .problems import PROBLEMS
from .summary import BEST, OURS, Loss, Row, Summary


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


def overview(summary: Summary, cell: Callable[[Loss | str | None], str]) -> tuple[list[str], list[list[str]]]:
    """One row an algorithm at its best of the grid, and HSB's default first."""
    rounds = middle_length(summary)
    head = ["algorithm", "µs", "at once", *summary.problems, "refuses", "many rounds"]
    ours = next((row for row in summary.rows if row.key == OURS), None)
    rows = []
    if ours is not None:
        default = [cell(summary.loss(ours, name, "default, raw", rounds)) for name in summary.problems]
        rows.append(["hsb: HSB, default", us_text(ours.us("raw")), us_text(ours.batch_us("raw")), *default, *_robust(ours)])
    for row in summary.rows:
        losses = [cell(summary.loss(row, name, BEST, rounds)) for name in summary.problems]
        rows.append([row.full_name, us_text(row.us()), us_text(row.batch_us()), *losses, *_robust(row)])
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
        each = [us_text(none), "", ""] if none else [us_text(row.us(encoding)) for encoding in ("raw", "cubic", "bins")]
        mine = row.us()
        ratio = f"{mine / unit:.1f}" if mine and unit else "-"
        peak = row.size.get("peak")
        last = [f"{row.size[what]:.2f}" if what in row.size else "-" for what in ("import", "first")]
        last.append(f"{peak / 2**20:.0f}" if peak else "-")
        rows.append([row.full_name, *each, us_text(mine), ratio, us_text(row.batch_us()), *last])
    return head, rows


def configurations(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Default, grid, what was chosen for each problem."""
    head = ["algorithm", *summary.problems]
    return head, [[row.full_name, *(chosen(row, name) for name in summary.problems)] for row in summary.rows]


def problem_table(summary: Summary, name: str) -> tuple[str, list[str], list[list[str]]]:
    encodings = ("raw", "cubic", "bins")
    middle = middle_length(summary)
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
        cells.append(chosen(row, name))
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


def middle_length(summary: Summary) -> int:
    return summary.lengths[min(1, len(summary.lengths) - 1)]


def us_text(us: float | None) -> str:
    return "-" if us is None else f"{us:.2f}" if us < 1 else f"{us:.1f}" if us < 100 else f"{us:,.0f}"


def chosen(row: Row, problem: str) -> str:
    """The encoding, and what differs from the default."""
    configuration = row.configuration(problem)
    if configuration is None:
        return "-"
    default = row.algorithm.default
    changed = {name: value for name, value in configuration["settings"].items() if default.get(name) != value}
    return f"{configuration['encoding']}, {settings_text(changed) or 'default'}"


def settings_text(settings: dict[str, Any]) -> str:
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
