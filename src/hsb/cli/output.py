"""What the commands print: progress while they work, claims and where the report is when they are done."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..evaluate.parallel import Progress as Told
from ..experiments.base import Claim, Options
from ..experiments.page import number, size_note
from ..experiments.verdicts import ORIGINS, WORDS, changed, count, decisions, failures

STYLES = {True: "green", False: "red", None: "yellow"}


def _progress(*columns: ProgressColumn) -> Progress:
    return Progress(SpinnerColumn(finished_text="·"), TextColumn("{task.description}"), *columns, console=Console(stderr=True))


@contextmanager
def bar(title: str, *, quiet: bool = False, unit: str = "rounds/s") -> Iterator[Told]:
    """A progress bar on stderr: what to call with (rounds done, rounds in all). Parts that were kept do not count for its speed.

    Quiet: nothing is shown. Without a `unit` no speed is.
    """
    shown = (BarColumn(), TextColumn("{task.percentage:>3.0f}% {task.fields[said]}"), TimeElapsedColumn())
    progress = _progress(*shown, TextColumn("left"), TimeRemainingColumn())

    def tell(done: int, total: int) -> None:
        if quiet:
            return
        if not progress.tasks:
            first = f"{title} (compiling on the first run)" if done < total else title
            progress.add_task(first, total=max(total, 1), completed=done, kept=done, said="")
            progress.start()  # only now: what is refused before anything runs is one line and no bar
            return
        task = progress.tasks[0]
        speed = (done - task.fields["kept"]) / task.elapsed if task.elapsed else 0.0
        progress.update(task.id, completed=done, description=title, said=f"{speed:,.0f} {unit}" if unit and speed > 0.0 else "")

    try:
        yield tell
    finally:
        if progress.tasks:
            progress.stop()


@contextmanager
def rows(title: str, *, quiet: bool) -> Iterator[Callable[[int, int | None], None]]:
    """A line of progress on stderr: what to call with (rows done, rows in all or None). Quiet: nothing is shown."""
    began, progress = time.monotonic(), _progress(TextColumn("{task.fields[said]}"))

    def tell(done: int, total: int | None) -> None:
        if quiet:
            return
        if not progress.tasks:
            progress.add_task(title, total=total, said="")
            progress.start()
        seconds, of = time.monotonic() - began, f" of {total:,}" if total else ""
        speed = f"{done / seconds:,.0f} rows/s" if seconds > 0.0 else ""
        progress.update(progress.task_ids[0], completed=done, total=total, said=f"{done:,}{of} rows  {speed}")

    try:
        yield tell
    except BaseException:
        progress.disable = True  # nothing but the error
        progress.live.transient = True
        raise
    finally:
        if progress.tasks:
            progress.stop()


def claims(weighed: Sequence[Claim], console: Console, options: Options) -> None:
    """A table of claims for each experiment, with the numbers behind each; below, how many hold, which do not and why, what decides ties."""
    if not weighed:
        return
    for experiment in dict.fromkeys(claim.experiment for claim in weighed):
        table = Table(title=experiment, title_justify="left", title_style="bold", expand=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("claim, and the numbers behind it", ratio=1, overflow="fold")
        table.add_column("difference, 95% interval", overflow="fold", width=20)
        for claim in (claim for claim in weighed if claim.experiment == experiment):
            verdict = Text(WORDS[claim.holds], style=STYLES[claim.holds])
            if claim.jointly is not claim.holds:
                verdict += Text(f"\ncorrected: {WORDS[claim.jointly]}", style="dim")
            shown = claim.numbers if claim.origin != "reading" else {}  # the report has theirs
            numbers = "; ".join(f"{name}: {number(value)}" for name, value in shown.items())
            said = Text(claim.claim) + Text(f" ({ORIGINS[claim.origin]})" + (f"\n{numbers}" if numbers else ""), style="dim")
            interval = f"{number(claim.difference)}\n{number(claim.low)} to {number(claim.high)}"
            table.add_row(verdict, said, interval)
        console.print(table)
    console.print(count(weighed))
    console.print(changed(weighed), style="dim")
    if any(size_note(options)):
        console.print(" ".join(size_note(options)), style="yellow")
    for line in failures(weighed):
        console.print(line, markup=False, highlight=False)
    for line in decisions([claim for claim in weighed if claim.origin != "reading"]):
        console.print(line, markup=False, highlight=False, style="dim")


def where(report: Path, seconds: float, console: Console) -> None:
    """Where the report is: the path on a line of its own, however long, so that it can be copied."""
    console.print(f"{seconds:.1f} s. The report, with figures, claims.json and results.jsonl beside it:")
    console.print(str(report), soft_wrap=True, markup=False, highlight=False)
