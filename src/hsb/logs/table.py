"""Logs in tables: CSV files, Parquet files, Arrow tables, pandas and polars frames."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, InputError
from .batch import Batch
from .extra import need
from .log import Log, Problem, Problems
from .mapping import Mapped, missing
from .rows import Checked, Meaning, Rows
from .text import Line, Report, lines
from .values import Column


class Source(ABC):
    """Where rows come from."""

    meaning: Meaning

    @abstractmethod
    def rows(self, size: int, report: Report) -> Iterator[Rows]:
        """The rows from the first on, at most so many at a time. What is no row at all is reported."""


class RowLog(Log):
    """A log whose rows are checked one by one as they are read; those that cannot be used are in `problems`.

    Where neither the arms nor what was available is given, every arm that the log shows is taken to be available all the time: the log is
    then read once more, before the first batch, to find them.

    >>> table = {"x": [0.1, 0.2, 0.3], "shown": ["a", "b", "a"], "p": [0.5, 0.5, 0.0], "click": [1, 0, 1]}
    >>> import hsb.logs
    >>> log = hsb.logs.open(table, context=["x"], arm="shown", propensity="p", reward="click")
    >>> [batch] = log
    >>> batch.labels().tolist(), str(log.problems.first[0])
    (['a', 'b'], 'table, line 3: the propensity is not in (0, 1]')
    """

    def __init__(self, source: Source, *, rows: int = 1 << 13) -> None:
        super().__init__()
        self.source, self.size = source, rows
        self.arms = list(source.meaning.arms or ())
        self._settled = source.meaning.arms is not None or source.meaning.offers != "all"

    def __repr__(self) -> str:
        return f"RowLog({self.source!r})"

    def __iter__(self) -> Iterator[Batch]:
        if not self._settled:
            for _ in self._read():
                pass
            self._settled = True
        yield from self._read()

    def _read(self) -> Iterator[Batch]:
        self.problems = Problems()
        waiting = _Waiting(self)
        checked = Checked(self.source.meaning, self.arms, waiting.add)
        for rows in self.source.rows(self.size, waiting.add):
            batch = checked.batch(rows)
            waiting.flush()
            if len(batch):
                yield batch
        waiting.flush()


class _Waiting:
    """Problems in the order in which they are found, to be told in the order of their lines."""

    def __init__(self, log: RowLog) -> None:
        self.log = log
        self.held: list[Problem] = []
        self.files: dict[str, int] = {}

    def add(self, problem: Problem) -> None:
        self.files.setdefault(problem.file, len(self.files))
        self.held.append(problem)
        if len(self.held) > max(self.log.size, 1000):
            self.flush()

    def flush(self) -> None:
        held, self.held = sorted(self.held, key=lambda problem: (self.files[problem.file], problem.line)), []
        for problem in held:
            if self.log.source.meaning.on_error == "raise":
                raise FileError(f"{problem}. Mend the line, or skip such lines with on_error='skip'.")
            self.log.problems.add(problem)


class CsvFiles(Source):
    """Comma-separated values with a header, UTF-8, plain or gzip, one file or several with the same columns. Arms are text."""

    def __init__(
        self, paths: Sequence[Path], mapping: Mapped, *, on_error: Any = "skip", meaning: Meaning | None = None
    ) -> None:
        self.paths, self.mapping = list(paths), mapping
        self.meaning = meaning or mapping.meaning(is_text=True, on_error=on_error)
        for path in self.paths:
            missing(mapping.columns, header(path), str(path))

    def __repr__(self) -> str:
        return f"CsvFiles({[str(path) for path in self.paths]})"

    def rows(self, size: int, report: Report) -> Iterator[Rows]:
        """Read the files one after the other."""
        for path in self.paths:
            yield from self._file(path, size, report)

    def _file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        fields = _Fields(path, report)
        names = next(fields)[1]
        wanted = self.mapping.columns
        missing(wanted, names, str(path))
        places = [names.index(name) for name in wanted]
        held: list[list[str]] = []
        at: list[int] = []
        for number, row in fields:
            if len(row) != len(names):
                report(Problem(str(path), number, f"the row does not have {len(names)} fields"))
                continue
            held.append([row[j] for j in places])
            at.append(number)
            if len(held) == size:
                yield self._piece(path, wanted, held, at)
                held, at = [], []
        if held:
            yield self._piece(path, wanted, held, at)

    def _piece(self, path: Path, names: list[str], held: list[list[str]], at: list[int]) -> Rows:
        return self.mapping.rows(str(path), at, dict(zip(names, map(list, zip(*held, strict=True)), strict=True)))


class _Fields:
    """The rows of a CSV file that can be told apart, with the number of the line each begins on."""

    def __init__(self, path: Path, report: Report) -> None:
        self.path, self.report = path, report
        self.line = Line(0, "", True)
        self.is_utf8 = True
        self.reader = csv.reader(self._texts(), strict=True)

    def _texts(self) -> Iterator[str]:
        for line in lines(self.path, self.report):
            self.line = line
            self.is_utf8 = self.is_utf8 and line.is_utf8
            yield line.text

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        return self

    def __next__(self) -> tuple[int, list[str]]:
        while True:
            begin, self.is_utf8 = self.line.number + 1, True
            try:
                row = next(self.reader)
            except csv.Error as error:
                self.report(Problem(str(self.path), begin, f"not comma-separated values ({error})"))
                continue
            if not self.is_utf8:
                self.report(Problem(str(self.path), begin, "the row is not UTF-8"))
            elif row:
                return begin, row


def header(path: Path) -> list[str]:
    """The names of a CSV file's columns."""

    def refuse(problem: Problem) -> None:
        raise FileError(f"{problem}. The first line must name the columns.")

    for _, row in _Fields(path, refuse):
        return row
    raise FileError(f"{path} is empty. The first line must name the columns.")


class ParquetFiles(Source):
    """Parquet files, read some rows at a time."""

    def __init__(self, paths: Sequence[Path], mapping: Mapped, *, on_error: Any = "skip") -> None:
        self.paths, self.mapping = list(paths), mapping
        self.meaning = mapping.meaning(is_text=False, on_error=on_error)
        for path in self.paths:
            with parquet(path) as file:
                missing(mapping.columns, file.schema_arrow.names, str(path))

    def __repr__(self) -> str:
        return f"ParquetFiles({[str(path) for path in self.paths]})"

    def rows(self, size: int, report: Report) -> Iterator[Rows]:
        """Read the files one after the other."""
        for path in self.paths:
            with parquet(path) as file:
                done = 0
                try:
                    for piece in file.iter_batches(batch_size=size, columns=self.mapping.columns):
                        yield self.mapping.rows(str(path), range(done + 1, done + 1 + len(piece)), _arrow(piece))
                        done += len(piece)
                except OSError as error:
                    raise FileError(f"{path} is damaged: it cannot be read beyond row {done} ({error}).") from None


def parquet(path: Path) -> Any:
    """A Parquet file, opened."""
    arrow, files = need("pyarrow"), need("pyarrow.parquet")
    try:
        return files.ParquetFile(path)
    except (arrow.ArrowInvalid, OSError) as error:
        raise FileError(f"{path} cannot be read as Parquet ({error}).") from None


class Frame(Source):
    """A table in memory: Arrow, pandas, polars, or a mapping from names to columns."""

    def __init__(self, frame: Any, mapping: Mapped, *, on_error: Any = "skip") -> None:
        self.kind = kind_of(frame)
        if self.kind == "pyarrow" and type(frame).__name__ == "RecordBatch":
            frame = need("pyarrow").Table.from_batches([frame])
        self.frame, self.mapping = frame, mapping
        self.meaning = mapping.meaning(is_text=False, on_error=on_error)
        there = list(frame) if self.kind == "mapping" else frame.column_names if self.kind == "pyarrow" else list(frame.columns)
        missing(mapping.columns, there, self._name)
        if self.kind == "mapping" and len({len(frame[name]) for name in mapping.columns}) > 1:
            sizes = ", ".join(f"{name!r} {len(frame[name])}" for name in mapping.columns)
            raise InputError(f"The columns of a table need the same length; given {sizes}.")

    @property
    def _name(self) -> str:
        return "table" if self.kind == "mapping" else type(self.frame).__name__

    def __repr__(self) -> str:
        return f"Frame({self._name})"

    def rows(self, size: int, report: Report) -> Iterator[Rows]:
        """A piece at a time."""
        total = len(self.frame[self.mapping.arm])
        for begin in range(0, total, size):
            end = min(begin + size, total)
            yield self.mapping.rows(self._name, range(begin + 1, end + 1), self._piece(begin, end))

    def _piece(self, begin: int, end: int) -> dict[str, Column]:
        names = self.mapping.columns
        if self.kind == "pyarrow":
            return _arrow(self.frame.select(names).slice(begin, end - begin).combine_chunks())
        if self.kind == "pandas":
            part = self.frame.iloc[begin:end]
            return {name: _plain(part[name].to_numpy(), part[name]) for name in names}
        if self.kind == "polars":
            part = self.frame.slice(begin, end - begin)
            return {name: part[name].to_numpy() if part[name].dtype.is_numeric() else part[name].to_list() for name in names}
        return {name: self.frame[name][begin:end] for name in names}


def _plain(values: Any, series: Any) -> Column:
    """A NumPy column, or a list where pandas has a type of its own."""
    if values.dtype.kind in "biufM":
        return np.asarray(values)
    return [None if is_none else value for value, is_none in zip(series, series.isna(), strict=True)]


def _arrow(table: Any) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        kind = str(column.type)
        is_plain = column.null_count == 0 and kind.startswith(("int", "uint", "float", "double", "halffloat"))
        found[name] = np.asarray(column) if is_plain or kind.startswith("timestamp") else column.to_pylist()
    return found


def kind_of(frame: Any) -> str | None:
    """Whose table it is; None for none. Nothing is imported: whoever has a frame has its library."""
    module, name = type(frame).__module__.partition(".")[0], type(frame).__name__
    if module == "polars" and name == "LazyFrame":
        raise InputError("A LazyFrame has no rows yet. Give frame.collect(), or the path of its file.")
    if (module, name) in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")):
        return module
    return "mapping" if isinstance(frame, Mapping) else None
