"""Logs in tables: CSV files, Parquet files, Arrow tables, pandas and polars frames."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import whole
from ..errors import FileError, InputError, quoted
from .batch import Batch
from .columns import Columns, require
from .csv_rows import csv_rows
from .limits import Limits
from .log import Log, Problem, Problems
from .rows import Checked, Files, Report, Rows, Source
from .text import pieces
from .values import Column


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
        if not isinstance(source, Source):
            raise InputError(
                f"A RowLog reads from a source; given {quoted(source)}. hsb.logs.open makes one of a path or a table."
            )
        self.source, self.size = source, whole("rows", rows, 1)
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

    def cut(self) -> list[Log]:
        """A log for each file. Where events have ids, one file's reader would not see those of another: such a log is not cut."""
        source = self.source
        if not isinstance(source, CsvFiles | ParquetFiles):
            return super().cut()
        if source.columns.id is not None:
            raise InputError(
                "Event ids are compared over all files, so one process must read them. Read the log in one process, or without ids."
            )
        found: list[Log] = []
        for path in source.paths:
            part, part_source = copy(self), copy(source)
            part_source.paths = [path]
            part.source, part.arms, part.problems = part_source, list(self.arms), Problems()
            found.append(part)
        return found

    @property
    def knows_arms(self) -> bool:
        return self.source.meaning.arms is not None or (self._settled and self.source.meaning.offers == "all")

    def find_arms(self) -> list[Hashable]:
        for _ in self._read():
            pass
        self._settled = True
        return self.arms

    def take_arms(self, arms: Iterable[Hashable]) -> None:
        self.arms, self._settled = list(arms), True

    def _read(self) -> Iterator[Batch]:
        self.problems = Problems()
        held: list[Problem] = []  # of one file, as they were noticed

        def tell() -> None:
            in_order = sorted(held, key=lambda problem: problem.line)
            held.clear()
            for problem in in_order:
                self.pass_over(problem, self.source.meaning.on_error)

        def report(problem: Problem) -> None:
            if held and (held[0].file != problem.file or len(held) > max(self.size, 1000)):
                tell()
            held.append(problem)

        checked = Checked(self.source.meaning, self.arms, report)
        for rows in self.source.rows(self.size, report):
            batch = checked.batch(rows)
            tell()
            if len(batch):
                yield batch
        tell()


class CsvFiles(Files):
    """Comma-separated values with a header, UTF-8, plain or gzip, one file or several with the same columns. Arms are text."""

    def __init__(self, paths: Sequence[Path], columns: Columns) -> None:
        super().__init__(paths, columns.meaning._replace(is_text=True))
        self.columns = columns
        for path in self.paths:
            require(columns.names, header(path), str(path))

    def file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        """A row that does not have as many fields as the header is reported."""
        fields = csv_rows(path, report, self.meaning.limits)
        there, wanted = next(fields)[1], self.columns.names
        require(wanted, there, str(path))
        places = [there.index(name) for name in wanted]
        chosen = ((number, [row[j] for j in places]) for number, row in fields)
        for piece in pieces(chosen, size):
            line, rows = zip(*piece, strict=True)
            yield self.columns.rows(str(path), line, dict(zip(wanted, map(list, zip(*rows, strict=True)), strict=True)))


def header(path: Path) -> list[str]:
    """The names of a CSV file's columns."""

    def refuse(problem: Problem) -> None:
        raise FileError(f"{problem}. The first line must name the columns.")

    for _, row in csv_rows(path, refuse, Limits()):
        return row
    raise FileError(f"{path} is empty. The first line must name the columns.")


class ParquetFiles(Files):
    """Parquet files of others, which need pyarrow; read as many rows at a time as are asked for."""

    def __init__(self, paths: Sequence[Path], columns: Columns) -> None:
        super().__init__(paths, columns.meaning)
        self.columns = columns
        for path in self.paths:
            with damaged(path, "its columns cannot be read"), parquet(path) as file:
                there = file.schema_arrow.names
            require(columns.names, there, str(path))

    def file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        """A file that cannot be read to its end raises FileError."""
        with parquet(path) as file:
            done = 0
            with damaged(path, "it cannot be read"):
                parts = file.iter_batches(batch_size=size, columns=self.columns.names)
            while True:
                with damaged(path, f"it cannot be read beyond row {done}"):
                    piece = next(parts, None)
                    if piece is None:
                        return
                    table = _arrow(piece)
                yield self.columns.rows(str(path), range(done + 1, done + 1 + len(piece)), table)
                done += len(piece)


def need(name: str) -> Any:
    """The module of a library that comes with hsb[logs], imported now; InputError where it is not installed.

    >>> need("json").dumps(1)
    '1'
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"This needs {name.partition('.')[0]} ({error}). Install it: pip install 'hsb[logs]'.") from None


def parquet(path: Path) -> Any:
    """A Parquet file, open for reading; FileError where it is none."""
    files = need("pyarrow.parquet")
    with damaged(path, "it cannot be read as Parquet"):
        return files.ParquetFile(path, page_checksum_verification=True)


@contextmanager
def damaged(path: Path, what: str) -> Iterator[None]:
    """FileError for whatever pyarrow, JSON and NumPy raise at a file that is no file of ours, or not whole."""
    arrow = need("pyarrow")
    try:
        yield
    except FileError as error:
        if str(path) in str(error):
            raise
        raise FileError(f"{path}: {error}") from None
    except InputError:
        raise
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        ArithmeticError,
        MemoryError,
        RecursionError,
        arrow.ArrowException,
    ) as error:
        said = str(error).partition("\n")[0][:200]
        raise FileError(f"{path} is damaged: {what} ({said}).") from None


class Frame(Source):
    """A table in memory: Arrow, pandas, polars, or a mapping from names to columns."""

    def __init__(self, frame: Any, columns: Columns) -> None:
        self.kind = kind_of(frame)
        if self.kind == "pyarrow" and type(frame).__name__ == "RecordBatch":
            frame = need("pyarrow").Table.from_batches([frame])
        self.frame, self.columns, self.meaning = frame, columns, columns.meaning
        self.name = "table" if self.kind == "mapping" else type(frame).__name__
        there = list(frame) if self.kind == "mapping" else frame.column_names if self.kind == "pyarrow" else list(frame.columns)
        require(columns.names, there, self.name)
        if self.kind == "mapping" and len({len(frame[name]) for name in columns.names}) > 1:
            sizes = ", ".join(f"{quoted(name)} {len(frame[name])}" for name in columns.names)
            raise InputError(f"The columns of a table need the same length; given {sizes}.")

    def __repr__(self) -> str:
        return f"Frame({self.name})"

    def rows(self, size: int, report: Report) -> Iterator[Rows]:
        """Lines are the table's rows, from 1 on."""
        total = len(self.frame[self.columns.arm])
        for begin in range(0, total, size):
            end = min(begin + size, total)
            yield self.columns.rows(self.name, range(begin + 1, end + 1), self._piece(begin, end))

    def _piece(self, begin: int, end: int) -> dict[str, Column]:
        names = self.columns.names
        if self.kind == "pyarrow":
            return _arrow(self.frame.select(names).slice(begin, end - begin).combine_chunks())
        if self.kind == "pandas":
            part = self.frame.iloc[begin:end]
            return {name: _plain(part[name]) for name in names}
        if self.kind == "polars":
            part = self.frame.slice(begin, end - begin)
            return {name: part[name].to_numpy() if part[name].dtype.is_numeric() else part[name].to_list() for name in names}
        return {name: self.frame[name][begin:end] for name in names}


def _plain(series: Any) -> Column:
    """A NumPy column, or a list where pandas has a type of its own."""
    values = np.asarray(series.to_numpy())
    if values.dtype.kind in "biufM":
        return values
    return [None if is_none else value for value, is_none in zip(series, series.isna(), strict=True)]


def _arrow(table: Any) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        kind = str(column.type)
        is_plain = column.null_count == 0 and kind.startswith(("int", "uint", "float", "double", "halffloat"))
        columns[name] = np.asarray(column) if is_plain or kind.startswith("timestamp") else column.to_pylist()
    return columns


def kind_of(frame: Any) -> str | None:
    """Whose table it is; None for none. Nothing is imported: whoever has a frame has its library."""
    module, name = type(frame).__module__.partition(".")[0], type(frame).__name__
    if module == "polars" and name == "LazyFrame":
        raise InputError("A LazyFrame has no rows yet. Give frame.collect(), or the path of its file.")
    if (module, name) in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")):
        return module
    return "mapping" if isinstance(frame, Mapping) else None
