"""Lines of text files, plain or gzip."""

import gzip
import io
import zlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from ...errors import FileError, InputError
from ..limits import LIMITS, Limits
from ..log import Problem
from ..rows import Report, RowFiles, Rows

BOM = b"\xef\xbb\xbf"  # which some programs put before text
BLOCK = 1 << 16


class TooMuch(Exception):
    """A file is beyond a limit."""


DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, TooMuch)
T = TypeVar("T")


def opened(path: Path, limits: Limits = LIMITS) -> BinaryIO:
    """The file's bytes, decompressed where they are gzip's; one of `DAMAGE` is raised where there are too many of them."""
    stream: Any = io.FileIO(path)
    if stream.read(2) == b"\x1f\x8b":
        stream.close()
        return _Unpacked(path, limits)  # type: ignore[return-value]
    stream.seek(0)  # a pipe, which cannot, is refused and loses nothing
    return stream  # type: ignore[no-any-return]


class _Unpacked(io.RawIOBase):
    """A gzip file, of which every byte that comes out is counted."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.file, self.limits, self.given = gzip.open(path), limits, 0  # noqa: SIM115

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self.file.readinto(buffer)
        self.given += size
        packed: Any = self.file.fileobj
        if self.given > self.limits.free and self.given > self.limits.ratio * packed.tell():
            much = f"its first {self.given:,} bytes take less than a {self.limits.ratio}th of that in the file"
            raise TooMuch(f"{much}. If you trust it, decompress it first, or give limits=hsb.logs.Limits(ratio=...)")
        return size

    def close(self) -> None:
        self.file.close()
        super().close()


def cut_off(path: Path, line: int, error: Exception) -> FileError:
    """What to raise where a file cannot be read after `line` lines: `error` is one of `DAMAGE`."""
    if isinstance(error, TooMuch):
        return FileError(f"{path} is not read beyond line {line}: {error}.")
    why = f"its compressed data cannot be read beyond line {line} ({error})"
    return FileError(f"{path} is damaged or cut off: {why}. Fetch the file again, or decompress what is there.")


class Line(NamedTuple):
    """A line with its newline; where its bytes are no UTF-8, they are replaced in the text."""

    number: int
    text: str
    is_utf8: bool


class EmptyLines:
    """Counts empty lines: one after the other there may be so many, and no more."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.limits, self.last, self.count = path, limits, 0, 0

    def add(self, line: int) -> None:
        """Line `line` is empty. FileError where it is one too many."""
        self.count = self.count + 1 if line == self.last + 1 else 1
        self.last = line
        if self.count > self.limits.empty:
            begin = line - self.count + 1
            why = f"{self.count - 1:,} lines from line {begin} on are empty. Is it a log?"
            raise FileError(f"{self.path} is not read beyond line {line}: {why} If so, give limits=hsb.logs.Limits(empty=...).")


def lines(path: Path, report: Report, limits: Limits = LIMITS) -> Iterator[Line]:
    """The lines of a file from the first on. One that is too long is reported; a file that cannot be read to its end raises FileError."""
    number, blank, longest = 0, EmptyLines(path, limits), limits.line
    with opened(path, limits) as stream, io.BufferedReader(stream, BLOCK) as buffered:  # type: ignore[type-var]
        while True:
            try:
                raw = buffered.readline(longest)
                number += 1
                if len(raw) == longest and not raw.endswith(b"\n"):
                    while raw and not raw.endswith(b"\n"):
                        raw = buffered.readline(longest)
                    report(Problem(str(path), number, f"the line is longer than {longest} bytes"))
                    continue
            except DAMAGE as error:
                raise cut_off(path, number, error) from None
            if not raw:
                return
            if number == 1:
                raw = raw.removeprefix(BOM)
            if raw.isspace():
                blank.add(number)
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


class LineFiles(RowFiles):
    """Files with a row on each line."""

    def file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        for piece in pieces(self._entries(path, report), size):
            line, points, *others = map(list, zip(*piece, strict=True))
            yield Rows(str(path), line, [list(column) for column in zip(*points, strict=True)], *others)

    def _entries(self, path: Path, report: Report) -> Iterator[tuple[Any, ...]]:
        for line in lines(path, report, self.meaning.limits):
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
