"""hsb and the libraries people use, on the same rounds: who is faster, who loses less, who breaks.

    make peers                                       everything, under 30 minutes on two cores; goes on if it was stopped
    python -m peers --quick                          under 3 minutes, far rougher
    python -m peers --only river,coba                some libraries; hsb is always there

Libraries that are missing are installed: beside hsb, or in environments of their own under --out where they clash.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from machine import cpu
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Terminal

from hsb.files.policy_file import write_atomically

from .base import Library
from .conduct import FULL, QUICK, Conductor, Entry, Plan, clock, measures, race
from .environments import ENVIRONMENTS, Environment, environment
from .libraries import library, names
from .page import DATA, PICTURE, About, everything, page, published, short
from .picture import draw
from .problems import PROBLEMS
from .summary import Loss, Row, Summary
from .tables import glance, markdown, overview, table

ROOT = Path(__file__).resolve().parents[2]
FEW = 2  # algorithms of a library in the quick run
BEGIN, END = "<!-- peers: written by make peers -->", "<!-- peers: end -->"


def main() -> None:
    """Run, print, write."""
    options = _options()
    begun = time.monotonic()
    plan = (QUICK if options.quick else FULL)._replace(**({"minutes": options.minutes} if options.minutes else {}))
    out = options.out.resolve()
    wanted = [name for name in names() if name == "hsb" or not options.only or name in options.only.split(",")]
    environments, absent = _environments(wanted, out / "environments", install=not options.installed)
    minutes = Minutes(out / "results")
    try:
        summary = _measured(plan, out, environments, options)
    finally:
        minutes.add((time.monotonic() - begun) / 60)
    about = About(
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        machine=f"{cpu()}, {os.cpu_count()} cores",
        python=platform.python_version(),
        minutes=minutes.total,
        plan=plan,
        quick=options.quick,
        absent=absent,
    )
    _print(summary, about)
    _write(summary, about, out, publish=options.publish)


class Minutes:
    """How long it took to get all results of a folder, over the runs that added to them."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "minutes"
        self._before = self._results()
        self.total = float(self._file.read_text()) if self._file.exists() else 0.0

    def add(self, minutes: float) -> None:
        """A run has ended, or was stopped."""
        if self._results() > self._before:
            self.total += minutes
            write_atomically(self._file, f"{self.total:.2f}".encode())

    def _results(self) -> int:
        return len(list(self._folder.glob("*.json")))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="1,000 rounds, two seeds, two algorithms a library: under 3 minutes"
    )
    parser.add_argument("--installed", action="store_true", help="install nothing: whatever libraries are there")
    parser.add_argument("--only", default="", help="libraries, by the names of their files, with commas")
    parser.add_argument(
        "--out", type=Path, default=ENVIRONMENTS.parent, help="results, environments, pages (default: out/peers)"
    )
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes at a time (default: 2)")
    parser.add_argument(
        "--minutes", type=float, default=0.0, help=f"time for the games (default: {FULL.minutes:g}; quick: {QUICK.minutes:g})"
    )
    parser.add_argument(
        "--publish", action="store_true", help="also write docs/peers.md, its data and picture, and README's table"
    )
    options = parser.parse_args()
    unknown = set(filter(None, options.only.split(","))) - set(names())
    if unknown:
        parser.error(f"--only: there is no {', '.join(sorted(unknown))}. There are {', '.join(names())}.")
    if options.jobs < 1 or options.minutes < 0:
        parser.error("--jobs needs a whole number of at least 1, --minutes a number above 0.")
    return options


def _environments(
    wanted: list[str], folder: Path, *, install: bool
) -> tuple[dict[str, Environment], dict[str, tuple[Library, str]]]:
    found, absent = {}, {}
    for name in wanted:
        one = library(name)
        env = environment(one, folder, install=install)
        if env.why_not:
            absent[name] = (one, env.why_not)
            print(f"{one.name}: left out: {env.why_not}", file=sys.stderr)
        else:
            found[name] = env
    return found, absent


def _measured(plan: Plan, out: Path, environments: dict[str, Environment], options: argparse.Namespace) -> Summary:
    entries = [
        Entry(name, library(name), algorithm, env)
        for name, env in environments.items()
        for number, algorithm in enumerate(library(name).algorithms)
        if (plan.whole or name == "hsb" or number < FEW) and (not algorithm.needs or find_spec(algorithm.needs))
    ]
    worlds = out / "worlds"
    columns = (TextColumn("{task.description:>8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks = {kind: bar.add_task(kind, total=None) for kind in ("losses", "speed", "trouble", "size", "long")}

        def told(kind: str, done: int, total: int) -> None:
            bar.update(tasks[kind], completed=done, total=total)

        conductor = Conductor(plan, out, options.jobs, told)
        losses = conductor.run(race(entries, plan, worlds), "losses")
        speed = conductor.run(clock(entries, plan, losses, worlds), "speed", alone=plan.whole)
        rest = {kind: conductor.run(measures(entries, plan, worlds, kind), kind) for kind in ("trouble", "size", "long")}
    rows = [
        Row(
            *entry[:3],
            entry.environment.version,
            losses=losses.get(entry.key, {}),
            speed=speed.get(entry.key, {}),
            **{kind: found.get(entry.key, {}).get(kind, {}) for kind, found in rest.items()},
        )
        for entry in entries
    ]
    return Summary(rows, list(PROBLEMS), list(plan.lengths))


def _print(summary: Summary, about: About) -> None:
    def cell(loss: Loss | str | None) -> str:
        if loss is None or isinstance(loss, str):
            return "-" if loss is None else "fails"
        return f"[bold green]{loss.interval.mean:.3f}[/]" if loss.against == -1 else f"{loss.interval.mean:.3f}"

    head, rows = overview(summary, cell)
    rounds = summary.lengths[min(1, len(summary.lengths) - 1)]
    shown = Terminal(
        title=f"Average loss over {rounds:,} rounds, best of each grid; bold: lower than HSB's default beyond chance"
    )
    for number, name in enumerate(head):
        shown.add_column(name, justify="left" if number == 0 else "right", no_wrap=number == 0)
    for row in rows:
        shown.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() else 170)
    console.print(shown)
    for line in short(summary):
        console.print(line.replace("**", ""), highlight=False)
    for one, why in about.absent.values():
        console.print(f"Not run: {one.name}: {why}", highlight=False, markup=False)


def _write(summary: Summary, about: About, out: Path, *, publish: bool) -> None:
    rounds = summary.lengths[min(1, len(summary.lengths) - 1)]
    folders = [out, ROOT / "docs"] if publish else [out]
    for folder in folders:
        (folder / "peers.md").write_text(page(summary, about))
        (folder / DATA).parent.mkdir(exist_ok=True)
        (folder / DATA).write_text(published(summary, about))
        draw(summary, folder / PICTURE, rounds)
    (out / "everything.md").write_text(everything(summary, about))
    draw(summary, out / "peers.png", rounds)
    readme = ROOT / "README.md"
    if publish and BEGIN in readme.read_text():
        before, _, rest = readme.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        readme.write_text(f"{before}{BEGIN}\n{table(*glance(*overview(summary, markdown)))}\n{END}{after}")
    print(f"Written: {', '.join(str(folder / 'peers.md') for folder in folders)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped. What was finished is kept: the same command goes on from here.")
