"""Every row of the benchmarks, of this checkout and of another commit, in turns in one run.

    python benchmarks/against.py 198d2fa
    python benchmarks/against.py 198d2fa --only "decide" --turns 9
    python benchmarks/against.py --folder ../before

The other commit is checked out beside this one (`git worktree`), or is in `--folder`; it brings its own benchmarks, and the rows that both have
are compared. Each side is a process of its own that goes on from row to row; they take turns, and the least of each counts, so a busy machine
hits both. Names the rows that became slower or larger by more than 3 %. Rows that compile everything from nothing are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parents[1]
BAR = 1.03
CHILD = """
import json, sys
from bench import warm_up
from measures import FULL, QUICK, measures
runs = dict(measures(FULL if sys.argv[1] == "full" else QUICK))
warm_up()
print(json.dumps(list(runs)), flush=True)
for line in sys.stdin:
    row = runs[json.loads(line)]()
    print(json.dumps([row.measured, row.unit]), flush=True)
"""


class Compared(NamedTuple):
    """A row of both: the least of each."""

    name: str
    before: float
    now: float
    unit: str

    @property
    def ratio(self) -> float:
        """Above 1 if it became slower or larger."""
        return self.now / self.before

    @property
    def worse(self) -> bool:
        """By more than the bar?"""
        return self.ratio > BAR


class Side:
    """The benchmarks of one checkout, in a process that stays."""

    def __init__(self, folder: Path, effort: str) -> None:
        folder = folder.resolve()
        path = os.pathsep.join([str(folder / "src"), str(folder / "benchmarks")])
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, effort],
            cwd=folder / "benchmarks",
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names: list[str] = self._read()

    def run(self, name: str) -> tuple[float | None, str]:
        """Measure a row."""
        assert self.process.stdin is not None
        print(json.dumps(name), file=self.process.stdin, flush=True)
        measured, unit = self._read()
        return measured, unit

    def _read(self) -> Any:
        """The next line that is JSON; rows may print too."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                return json.loads(line)
            except ValueError:
                print(line, end="", file=sys.stderr)
        raise SystemExit("The benchmarks of one side ended; what they said is above.")

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def in_turns(name: str, runs: list[Callable[[str], tuple[float | None, str]]], turns: int) -> Compared | None:
    """Measure a row on the other side and here, in turns; None if it could not be measured.

    >>> results = iter([(2.0, "us"), (1.5, "us"), (1.0, "us"), (3.0, "us")])
    >>> in_turns("a row", [lambda name: next(results)] * 2, 2)
    Compared(name='a row', before=1.0, now=1.5, unit='us')
    """
    found: list[list[float]] = [[] for _ in runs]
    unit = ""
    for _ in range(turns):
        for measured, run in zip(found, runs, strict=True):
            value, unit = run(name)
            if not value:
                return None
            measured.append(value)
    return Compared(name, min(found[0]), min(found[1]), unit)


def table(rows: list[Compared]) -> str:
    """As Markdown.

    >>> print(table([Compared("a row", 2.0, 3.0, "us")]))
    | row | before | now | now / before |
    |---|---|---|---|
    | a row | 2 us | 3 us | **1.50** |
    """
    lines = ["| row | before | now | now / before |", "|---|---|---|---|"]
    for row in rows:
        ratio = f"**{row.ratio:.2f}**" if row.worse else f"{row.ratio:.2f}"
        lines.append(f"| {row.name} | {row.before:.4g} {row.unit} | {row.now:.4g} {row.unit} | {ratio} |")
    return "\n".join(lines)


@contextmanager
def checkout(commit: str | None, folder: Path | None) -> Iterator[Path]:
    """The other side's files; a worktree of a commit is removed at the end."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory() as parent:
        there = Path(parent) / "before"
        subprocess.run(["git", "-C", HERE, "worktree", "add", "--quiet", "--detach", there, commit or "HEAD"], check=True)
        try:
            yield there
        finally:
            subprocess.run(["git", "-C", HERE, "worktree", "remove", "--force", there], check=True)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", help="the other commit; HEAD if left out, to compare what is not committed yet")
    parser.add_argument("--folder", type=Path, help="where the other commit is checked out already")
    parser.add_argument("--only", default="", help="rows whose names contain this")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="as many rounds as `make bench`, else those of --quick")
    given = parser.parse_args()
    rows = []
    with checkout(given.commit, given.folder) as there:
        sides = [Side(folder, "full" if given.full else "quick") for folder in (there, HERE)]
        names = [n for n in sides[1].names if n in sides[0].names and given.only in n and not n.startswith("first use")]
        for name in names:
            row = in_turns(name, [side.run for side in sides], given.turns)
            if row is not None:
                rows.append(row)
                print(f"  {name}: {row.ratio:.3f}", file=sys.stderr, flush=True)
        for side in sides:
            side.close()
    print(table(rows))
    worse = [row for row in rows if row.worse]
    print(f"\n{len(worse)} of {len(rows)} rows are slower or larger by more than {BAR - 1:.0%}.")
    for row in sorted(worse, key=lambda row: -row.ratio):
        print(f"- {row.name}: {row.ratio:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
