"""Lines of text files, plain or gzip."""

import gzip
import io
import zlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from ..errors import FileError, InputError
from .log import Problem
from .rows import Files, Report, Rows

LONGEST = 1 << 24  # bytes of a line
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)
T = TypeVar("T")


def opened(path: Path) -> BinaryIO:
    """The file's bytes, decompressed where they are gzip's."""
    stream: Any = io.FileIO(path)
    if stream.read(2) == b"\x1f\x8b":
        stream.close()
        return gzip.open(path)  # type: ignore[return-value]
    stream.seek(0)  # a pipe, which cannot, is refused and loses nothing
    return stream  # type: ignore[no-any-return]


def cut_off(path: Path, line: int, error: Exception) -> FileError:
    """What to raise where compressed data cannot be read after `line` lines: `error` is one of `DAMAGE`."""
    why = f"its compressed data cannot be read beyond line {line} ({error})"
    return FileError(f"{path} is damaged or cut off: {why}. Fetch the file again, or decompress what is there.")


class Line(NamedTuple):
    """A line with its newline; where its bytes are no UTF-8, they are replaced in the text."""

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
            except DAMAGE as error:
                raise cut_off(path, number, error) from None
            if not raw:
                return
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            try:
                yield Line(number, raw.decode(), True)
            except UnicodeDecodeError:
                yield Line(number, raw.decode(errors="replace"), False)


def pieces(items: Iterator[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`, the last perhaps shorter.

    >>> list(pieces(iter("abcde"), 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    while piece := list(islice(items, size)):
        yield piece


class LineFiles(Files):
    """Files with a row on each line."""

    def file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        for piece in pieces(self._entries(path, report), size):
            line, points, *others = map(list, zip(*piece, strict=True))
            yield Rows(str(path), line, [list(column) for column in zip(*points, strict=True)], *others)

    def _entries(self, path: Path, report: Report) -> Iterator[tuple[Any, ...]]:
        for line in lines(path, report):
            row = self.read(line.text) if line.is_utf8 else "the line is not UTF-8"
            if isinstance(row, str):
                report(Problem(str(path), line.number, row))
            else:
                yield line.number, *row

    @abstractmethod
    def read(self, text: str) -> str | tuple[Any, ...]:
        """The row on a line, as the fields of `Rows` from `context` on; or what is wrong with it."""


def feature_names(names: Sequence[str] | None, features: int) -> list[str]:
    """What a file calls the features: their `names`, else f0, f1, ...

    >>> feature_names(None, 3)
    ['f0', 'f1', 'f2']
    """
    called = [f"f{j}" for j in range(features)] if names is None else list(names)
    if not len(set(called)) == len(called) == features:
        raise InputError(f"names needs {features} different names of features; given {called}.")
    return called
