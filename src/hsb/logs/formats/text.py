"""Reading lines of text files, plain or gzip."""

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


def open_bytes(path: Path, limits: Limits = LIMITS) -> BinaryIO:
    """Open a file of bytes, decompressed if it is gzip. Reading raises one of `DAMAGE` if a gzip file exceeds `limits`."""
    stream: Any = io.FileIO(path)
    if stream.read(2) == b"\x1f\x8b":
        stream.close()
        return _Unpacked(path, limits)  # type: ignore[return-value]
    stream.seek(0)  # a pipe cannot seek: this raises before any byte is lost
    return stream  # type: ignore[no-any-return]


class _Unpacked(io.RawIOBase):
    """A gzip file that counts the bytes it decompresses, and stops beyond the limits."""

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
    """Return the error to raise if a file cannot be read after `line` lines; `error` is one of `DAMAGE`."""
    if isinstance(error, TooMuch):
        return FileError(f"{path} is not read beyond line {line}: {error}.")
    why = f"its compressed data cannot be read beyond line {line} ({error})"
    return FileError(f"{path} is damaged or cut off: {why}. Fetch the file again, or decompress what is there.")


class Line(NamedTuple):
    """A line with its newline. In the text, bytes that are not UTF-8 are replaced."""

    number: int
    text: str
    is_utf8: bool


class EmptyLines:
    """Counts consecutive empty lines, up to the limit."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.limits, self.last, self.count = path, limits, 0, 0

    def add(self, line: int) -> None:
        """Count the empty line with number `line`. Raises `FileError` if it exceeds the limit."""
        self.count = self.count + 1 if line == self.last + 1 else 1
        self.last = line
        if self.count > self.limits.empty:
            begin = line - self.count + 1
            why = f"{self.count - 1:,} lines from line {begin} on are empty. Is it a log?"
            raise FileError(f"{self.path} is not read beyond line {line}: {why} If so, give limits=hsb.logs.Limits(empty=...).")


def lines(path: Path, report: Report, limits: Limits = LIMITS) -> Iterator[Line]:
    """Yield the lines of a file. A line that is too long goes to `report`. Raises `FileError` if the file cannot be read to its end."""
    number, blank, longest = 0, EmptyLines(path, limits), limits.line
    with open_bytes(path, limits) as stream, io.BufferedReader(stream, BLOCK) as buffered:  # type: ignore[type-var]
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
    """Yield the items in lists of `size`; the last may be shorter.

    >>> list(pieces(iter("abcde"), 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    while piece := list(islice(items, size)):
        yield piece


class LineFiles(RowFiles):
    """Files with one row on each line."""

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
        """Return the row on a line, as the fields of `Rows` from `context` on; or what is wrong with it."""


def feature_names(names: Sequence[str] | None, features: int) -> list[str]:
    """Check `names` and return the names of features in a file; without `names`, f0, f1, ...

    >>> feature_names(None, 3)
    ['f0', 'f1', 'f2']
    """
    columns = [f"f{j}" for j in range(features)] if names is None else list(names)
    if not len(set(columns)) == len(columns) == features:
        raise InputError(f"names needs {features} different names of features; given {columns}.")
    return columns
