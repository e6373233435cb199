"""Lines of text files, plain or gzip."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FileError
from .log import Problem
from .rows import Rows
from .yahoo import opened

LONGEST = 1 << 24  # bytes of a line

Report = Callable[[Problem], None]


class Line(NamedTuple):
    """One line, its newline included."""

    number: int
    text: str
    is_utf8: bool


def lines(path: Path, report: Report) -> Iterator[Line]:
    """The lines of a file from the first on. One that is too long is reported; a compressed file that is cut off raises FileError."""
    number = 0
    with opened(path) as stream, io.BufferedReader(stream) as buffered:  # type: ignore[type-var]
        while True:
            try:
                raw = buffered.readline(LONGEST)
                number += 1
                if len(raw) == LONGEST and not raw.endswith(b"\n"):
                    while raw and not raw.endswith(b"\n"):
                        raw = buffered.readline(LONGEST)
                    report(Problem(str(path), number, f"the line is longer than {LONGEST} bytes"))
                    continue
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise FileError(
                    f"{path} is damaged or cut off: its compressed data cannot be read beyond line {number} "
                    f"({error}). Fetch the file again, or decompress what is there."
                ) from None
            if not raw:
                return
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            try:
                yield Line(number, raw.decode(), True)
            except UnicodeDecodeError:
                yield Line(number, raw.decode(errors="replace"), False)


def line_rows(paths: Sequence[Path], size: int, report: Report, read: Callable[[str], str | tuple[Any, ...]]) -> Iterator[Rows]:
    """The files one after the other, at most `size` rows at a time. `read` makes a line's entries of `Rows`, or says what is wrong."""
    for path in paths:
        held: list[tuple[Any, ...]] = []
        for line in lines(path, report):
            found = read(line.text) if line.is_utf8 else "the line is not UTF-8"
            if isinstance(found, str):
                report(Problem(str(path), line.number, found))
                continue
            held.append((line.number, *found))
            if len(held) == size:
                yield _piece(path, held)
                held = []
        if held:
            yield _piece(path, held)


def _piece(path: Path, held: list[tuple[Any, ...]]) -> Rows:
    line, points, *others = map(list, zip(*held, strict=True))
    return Rows(str(path), line, [list(column) for column in zip(*points, strict=True)], *others)
