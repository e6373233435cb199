"""Output of the commands: progress while they work, then claims and the path of the report."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..evaluate.parallel import Progress as ProgressCallback
from ..experiments.base import Claim, Options
from ..experiments.page import number, size_note
from ..experiments.verdicts import ORIGINS, WORDS, changed, count, decisions, failures

STYLES = {True: "green", False: "red", None: "yellow"}


def _progress(*columns: ProgressColumn) -> Progress:
    return Progress(SpinnerColumn(finished_text="·"), TextColumn("{task.description}"), *columns, console=Console(stderr=True))


@contextmanager
def bar(title: str, *, quiet: bool = False, unit: str = "rounds/s") -> Iterator[ProgressCallback]:
    """Show a progress bar on stderr; yield a function to call with (rounds done, rounds in all).

    Parts kept from an earlier run do not count for the speed. `quiet` shows nothing; an empty `unit` shows no speed.
    """
    columns = (BarColumn(), TextColumn("{task.percentage:>3.0f}% {task.fields[speed]}"), TimeElapsedColumn())
    progress = _progress(*columns, TextColumn("left"), TimeRemainingColumn())

    def update(done: int, total: int) -> None:
        if quiet:
            return
        if not progress.tasks:
            first = f"{title} (compiling on the first run)" if done < total else title
            progress.add_task(first, total=max(total, 1), completed=done, kept=done, speed="")
            progress.start()  # only now, so that an error before the first round shows no bar
            return
        task = progress.tasks[0]
        speed = (done - task.fields["kept"]) / task.elapsed if task.elapsed else 0.0
        progress.update(
            task.id, completed=done, description=title, speed=f"{speed:,.0f} {unit}" if unit and speed > 0.0 else ""
        )

    try:
        yield update
    finally:
        if progress.tasks:
            progress.stop()


@contextmanager
def rows(title: str, *, quiet: bool) -> Iterator[Callable[[int, int | None], None]]:
    """Show a line of progress on stderr; yield a function to call with (rows done, rows in all or None). `quiet` shows nothing."""
    began, progress = time.monotonic(), _progress(TextColumn("{task.fields[speed]}"))

    def update(done: int, total: int | None) -> None:
        if quiet:
            return
        if not progress.tasks:
            progress.add_task(title, total=total, speed="")
            progress.start()
        seconds, of = time.monotonic() - began, f" of {total:,}" if total else ""
        speed = f"{done / seconds:,.0f} rows/s" if seconds > 0.0 else ""
        progress.update(progress.task_ids[0], completed=done, total=total, speed=f"{done:,}{of} rows  {speed}")

    try:
        yield update
    except BaseException:
        progress.disable = True  # print only the error
        progress.live.transient = True
        raise
    finally:
        if progress.tasks:
            progress.stop()


def claims(checked: Sequence[Claim], console: Console, options: Options) -> None:
    """Print a table of claims for each experiment with their numbers, then how many hold, why others do not, and what decides ties."""
    if not checked:
        return
    for experiment in dict.fromkeys(claim.experiment for claim in checked):
        table = Table(title=experiment, title_justify="left", title_style="bold", expand=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("claim, and the numbers behind it", ratio=1, overflow="fold")
        table.add_column("difference, 95% interval", overflow="fold", width=20)
        for claim in (claim for claim in checked if claim.experiment == experiment):
            verdict = Text(WORDS[claim.holds], style=STYLES[claim.holds])
            if claim.jointly is not claim.holds:
                verdict += Text(f"\ncorrected: {WORDS[claim.jointly]}", style="dim")
            shown = claim.numbers if claim.origin != "reading" else {}  # their numbers are in the report
            numbers = "; ".join(f"{name}: {number(value)}" for name, value in shown.items())
            text = Text(claim.claim) + Text(f" ({ORIGINS[claim.origin]})" + (f"\n{numbers}" if numbers else ""), style="dim")
            interval = f"{number(claim.difference)}\n{number(claim.low)} to {number(claim.high)}"
            table.add_row(verdict, text, interval)
        console.print(table)
    console.print(count(checked))
    console.print(changed(checked), style="dim")
    if any(size_note(options)):
        console.print(" ".join(size_note(options)), style="yellow")
    for line in failures(checked):
        console.print(line, markup=False, highlight=False)
    for line in decisions([claim for claim in checked if claim.origin != "reading"]):
        console.print(line, markup=False, highlight=False, style="dim")


def report_path(report: Path, seconds: float, console: Console) -> None:
    """Print the path of the report on one line, even if long, so that it can be copied."""
    console.print(f"{seconds:.1f} s. Report, with figures, claims.json and results.jsonl in the same folder:")
    console.print(str(report), soft_wrap=True, markup=False, highlight=False)
