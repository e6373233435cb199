"""Reading rows of comma-separated values, which may span several lines. A quote that is never closed spoils only its own line."""

import csv
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from ..limits import Limits
from ..log import Problem
from ..rows import Report
from .text import Line, lines

MOST = 1000  # lines of a row


def csv_rows(path: Path, report: Report, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that have as many fields as the first, each with the number of its first line.

    If several lines are not a valid row together, the first is reported and the others are read again as separate rows.
    """
    source, again = lines(path, report, limits), deque[Line]()
    width = 0
    while True:
        taken: list[Line] = []
        row = _row(source, again, taken)
        if not taken:
            return
        first = taken[0]
        if isinstance(row, str):
            why = f"not comma-separated values ({row})"
        elif not all(line.is_utf8 for line in taken):
            why = "the row is not UTF-8"
        elif not row:
            continue
        elif width and len(row) != width:
            why = f"the row does not have {width} fields"
        else:
            width = len(row)
            yield first.number, row
            continue
        again.extendleft(reversed(taken[1:]))
        report(Problem(str(path), first.number, why))


def _row(source: Iterator[Line], again: deque[Line], taken: list[Line]) -> list[str] | str:
    """Return the next row or what is wrong with it. Lines come from `again`, then from the source; they are added to `taken`."""

    def texts() -> Iterator[str]:
        while len(taken) < MOST:
            line = again.popleft() if again else next(source, None)
            if line is None:
                return
            taken.append(line)
            yield line.text

    try:
        return next(csv.reader(texts(), strict=True), [])
    except csv.Error as error:
        return str(error)
