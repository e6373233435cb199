"""Reading logs from tables: CSV files, Parquet files, Arrow tables, pandas and polars data frames."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FileError, InputError, quoted
from ...types import Ints
from ..columns import ColumnRoles, require
from ..limits import Limits
from ..log import Problem
from ..rows import Report, RowFiles, Rows, RowSource
from ..values import Coded, Column
from .csv_rows import csv_rows
from .text import pieces


class CsvFiles(RowFiles):
    """CSV files with a header, UTF-8, plain or gzip, all with the same columns. Arms are text."""

    def __init__(self, paths: Sequence[Path], columns: ColumnRoles) -> None:
        self.columns = columns.within((str(path), header(path)) for path in paths)
        super().__init__(paths, self.columns.meaning._replace(is_text=True, is_untyped=True))

    def file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        """Yield the rows of one file. A row whose number of fields differs from the header's goes to `report`."""
        fields = csv_rows(path, report, self.meaning.limits)
        there, wanted = next(fields)[1], self.columns.names
        require(wanted, there, str(path))
        indices = [there.index(name) for name in wanted]
        chosen = ((number, [row[j] for j in indices]) for number, row in fields)
        for piece in pieces(chosen, size):
            line, rows = zip(*piece, strict=True)
            yield self.columns.rows(str(path), line, dict(zip(wanted, map(list, zip(*rows, strict=True)), strict=True)))


def header(path: Path) -> list[str]:
    """Return the names of a CSV file's columns."""

    def refuse(problem: Problem) -> None:
        raise FileError(f"{problem}. The first line must name the columns.")

    for _, row in csv_rows(path, refuse, Limits()):
        return row
    raise FileError(f"{path} is empty. The first line must name the columns.")


class ParquetFiles(RowFiles):
    """Parquet files that hsb did not write; needs pyarrow."""

    def __init__(self, paths: Sequence[Path], columns: ColumnRoles) -> None:
        self.columns = columns.within((str(path), parquet_names(path)) for path in paths)
        super().__init__(paths, self.columns.meaning)

    def file(self, path: Path, size: int, report: Report) -> Iterator[Rows]:
        """Yield the rows of one file. Raises `FileError` if it cannot be read to its end."""
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


def parquet_names(path: Path) -> list[str]:
    """Return the names of a Parquet file's columns."""
    with damaged(path, "its columns cannot be read"), parquet(path) as file:
        return list(file.schema_arrow.names)


def need(name: str) -> Any:
    """Import a module of a library that comes with hsb[logs] and return it. Raises `InputError` if it is not installed.

    >>> need("json").dumps(1)
    '1'
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"This needs {name.partition('.')[0]} ({error}). Install it: pip install 'hsb[logs]'.") from None


def parquet(path: Path) -> Any:
    """Open a Parquet file for reading. Raises `FileError` if it is not one."""
    files = need("pyarrow.parquet")
    with damaged(path, "it cannot be read as Parquet"):
        return files.ParquetFile(path, page_checksum_verification=True)


@contextmanager
def damaged(path: Path, what: str) -> Iterator[None]:
    """Raise `FileError` for anything that pyarrow, JSON and NumPy raise at a damaged or foreign file; `what` is what failed."""
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
        reason = str(error).partition("\n")[0][:200]
        raise FileError(f"{path} is damaged: {what} ({reason}).") from None


class Frame(RowSource):
    """A table in memory: Arrow, pandas, polars, or a mapping from names to columns."""

    def __init__(self, frame: Any, columns: ColumnRoles) -> None:
        self.kind = kind_of(frame)
        if self.kind == "pyarrow" and type(frame).__name__ == "RecordBatch":
            frame = need("pyarrow").Table.from_batches([frame])
        self.name = "table" if self.kind == "mapping" else type(frame).__name__
        columns = columns.within([(self.name, frame_names(frame))])
        self.frame, self.columns, self.meaning = frame, columns, columns.meaning
        if self.kind == "mapping" and len({len(frame[name]) for name in columns.names}) > 1:
            sizes = ", ".join(f"{quoted(name)} {len(frame[name])}" for name in columns.names)
            raise InputError(f"The columns of a table need the same length; given {sizes}.")

    def __repr__(self) -> str:
        return f"Frame({self.name})"

    def rows(self, size: int, report: Report) -> Iterator[Rows]:
        """Yield the rows; their line numbers are the table's row numbers, from 1."""
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
        parts = {name: self.frame[name][begin:end] for name in names}
        return {name: _arrow_column(part) if hasattr(part, "to_pylist") else part for name, part in parts.items()}


def frame_names(frame: Any) -> list[str]:
    """Return the names of the columns of a table in memory."""
    kind = kind_of(frame)
    if kind == "pyarrow":
        return list(frame.schema.names)
    return list(frame) if kind == "mapping" else list(frame.columns)


def _plain(series: Any) -> Column:
    """Return a NumPy array of a pandas series, or a list if NumPy has no such type."""
    values = np.asarray(series.to_numpy())
    if values.dtype.kind in "biufM":
        return values
    return [None if is_none else value for value, is_none in zip(series, series.isna(), strict=True)]


def _arrow(table: Any) -> dict[str, Column]:
    return {name: _arrow_column(column) for name, column in zip(table.schema.names, table.columns, strict=True)}


def _arrow_column(column: Any) -> Column:
    """Return a NumPy array of numbers and times, `Coded` for text and booleans, else a list."""
    if hasattr(column, "chunks"):
        column = column.combine_chunks()
    kind = str(column.type)
    if kind.startswith("timestamp"):
        return np.asarray(column)
    if kind.startswith(("int", "uint", "float", "double", "halffloat")):
        if not column.null_count:
            return np.asarray(column)
        if not kind.endswith("64") or _is_small(np.asarray(column.fill_null(0))):  # all of these are exact as doubles
            return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    if kind in ("string", "large_string", "string_view"):
        column = column.dictionary_encode()
        kind = str(column.type)
    if kind == "bool":
        return Coded(_codes(column.cast("int8")), [False, True])
    if kind.startswith("dictionary"):
        return Coded(_codes(column.indices), column.dictionary.to_pylist())
    return column.to_pylist()  # type: ignore[no-any-return]


def _is_small(whole: NDArray[Any]) -> bool:
    return not len(whole) or max(-int(whole.min()), int(whole.max())) <= 1 << 53


def _codes(numbers: Any) -> Ints:
    """Return codes from 0 on, -1 for null."""
    return np.asarray(numbers.cast("int64").fill_null(-1), dtype=np.int64)


def kind_of(frame: Any) -> str | None:
    """Return the kind of table: "pandas", "polars", "pyarrow", "mapping", or None if it is not a table. Imports nothing."""
    module, name = type(frame).__module__.partition(".")[0], type(frame).__name__
    if module == "polars" and name == "LazyFrame":
        raise InputError("A LazyFrame has no rows yet. Pass frame.collect(), or the path of its file.")
    if (module, name) in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")):
        return module
    return "mapping" if isinstance(frame, Mapping) else None
