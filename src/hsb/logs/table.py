"""Logs in tables: CSV files, Parquet files, Arrow tables, pandas and polars frames."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import whole
from ..errors import FileError, InputError, quoted
from ..features.values import CATEGORY
from ..types import Ints
from .batch import Batch
from .columns import Columns, require
from .csv_rows import csv_rows
from .limits import Limits
from .log import NOTHING, Log, Problem, Problems
from .logger_fit import LoggerFit
from .logger_model import LoggerModel, Sample
from .named import LOOKED, Kinds
from .rows import Checked, Files, Report, Rows, Source
from .text import pieces
from .values import Coded, Column


class RowLog(Log):
    """A log whose rows are checked one by one as they are read; those that cannot be used are in `problems`.

    Where neither the arms nor what was available is given, every arm that the log shows is taken to be available all the time: the log is
    then read once more, before the first batch, to find them. So it is where propensities are estimated; `logger` says how well.

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
        self.seen = list(source.meaning.arms or ())
        known, chances = source.meaning.arms is not None or source.meaning.offers != "all", source.meaning.chances
        self._needs_reading = not known or chances == "estimate"
        self._settled: dict[
            tuple[bool, bool], LoggerModel | None
        ] = {}  # by how it is read: by name, and rows that must be complete
        self.uniform = True if chances == "uniform" else None

    def __repr__(self) -> str:
        return f"RowLog({self.source!r})"

    def __iter__(self) -> Iterator[Batch]:
        return self.read()

    def _settle(self, kinds: Kinds | None, complete: bool) -> LoggerModel | None:
        """Read it once where that is needed before the first batch: for its arms, for a model of its propensities."""
        way = kinds is not None, complete
        if not self._needs_reading or way in self._settled:
            return self._settled.get(way)
        meaning = self.source.meaning
        sample = Sample() if meaning.chances == "estimate" else None
        for batch in self._read(kinds, complete):
            if sample is not None:
                sample.add(batch)
        model = None
        if sample is not None and sample.rows:
            texts = set(meaning.categories) | {
                name for name, kind in (kinds.known.items() if kinds else ()) if kind == CATEGORY
            }
            categories = [name in texts for name in meaning.context]
            model = LoggerModel(sample, len(self.seen), categories, all_offered=meaning.offers == "all")
        self._settled[way] = model
        return model

    @property
    def logger(self) -> LoggerFit | None:  # type: ignore[override]
        """Of `propensity="estimate"`, how well the model fits, as the log was read last; it is read for it, if it was not yet."""
        if self.source.meaning.chances != "estimate":
            return None
        if not self._settled:
            self._settle(self.kinds() if self.source.meaning.by_name else None, not self.source.meaning.by_name)
        models = [model for model in self._settled.values() if model is not None]
        return models[-1].fit if models else None

    def looked(self) -> Log:
        return self.by_name()

    def by_name(self, known: Mapping[str, str | None] = NOTHING, *, complete: bool = False) -> Log:
        Kinds(known, (), untyped=False)  # refused where it is nothing of the kind
        return _ByName(self, known, complete) if self.source.meaning.by_name else self

    def read(self, kinds: Kinds | None = None, *, complete: bool = True) -> Iterator[Batch]:
        """The batches; with `kinds` of features by name, and if they need not be complete, with rows where some are missing."""
        model, row = self._settle(kinds, complete), 0
        for batch in self._read(kinds, complete):
            yield batch if model is None else replace(batch, propensity=model.propensities(batch, row))
            row += len(batch)

    def kinds(self, known: Mapping[str, str | None] = NOTHING) -> Kinds:
        """What its features are, by what is known of them and by its first rows; of one that is missing there, by the next that have it."""
        meaning = self.source.meaning
        kinds = Kinds({name: known.get(name) for name in meaning.context}, meaning.categories, untyped=meaning.is_untyped)
        for rows in self.source.rows(LOOKED, lambda problem: None):
            kinds.look(dict(zip(meaning.context, rows.context, strict=True)))
            if len(kinds.known) == len(meaning.context):
                break
        return kinds

    def _read(self, kinds: Kinds | None, complete: bool) -> Iterator[Batch]:
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

        checked = Checked(self.source.meaning, self.seen, report, kinds, complete=complete)
        for rows in self.source.rows(self.size, report):
            batch = checked.batch(rows)
            tell()
            if len(batch):
                yield batch
        tell()


class _ByName(Log):
    """A `RowLog` read with its contexts by name. Arms and problems are those of the log."""

    def __init__(self, log: RowLog, known: Mapping[str, str | None], complete: bool) -> None:
        self.log, self.known, self.complete = log, dict(known), complete
        self.uniform = log.uniform
        self._kinds: Kinds | None = None

    @property
    def seen(self) -> list[Hashable]:  # type: ignore[override]
        """The arms of the log."""
        return self.log.seen

    @property
    def logger(self) -> LoggerFit | None:  # type: ignore[override]
        """That of the log."""
        return self.log.logger

    @property
    def problems(self) -> Problems:  # type: ignore[override]
        """Those of the log."""
        return self.log.problems

    def __iter__(self) -> Iterator[Batch]:
        self._kinds = self._kinds or self.log.kinds(self.known)
        return self.log.read(self._kinds, complete=self.complete)


class CsvFiles(Files):
    """Comma-separated values with a header, UTF-8, plain or gzip, one file or several with the same columns. Arms are text."""

    def __init__(self, paths: Sequence[Path], columns: Columns) -> None:
        self.columns = columns.within((str(path), header(path)) for path in paths)
        super().__init__(paths, self.columns.meaning._replace(is_text=True, is_untyped=True))

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
        self.columns = columns.within((str(path), parquet_names(path)) for path in paths)
        super().__init__(paths, self.columns.meaning)

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


def parquet_names(path: Path) -> list[str]:
    """The names of a Parquet file's columns."""
    with damaged(path, "its columns cannot be read"), parquet(path) as file:
        return list(file.schema_arrow.names)


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
        self.name = "table" if self.kind == "mapping" else type(frame).__name__
        columns = columns.within([(self.name, frame_names(frame))])
        self.frame, self.columns, self.meaning = frame, columns, columns.meaning
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
        parts = {name: self.frame[name][begin:end] for name in names}
        return {name: _arrow_column(part) if hasattr(part, "to_pylist") else part for name, part in parts.items()}


def frame_names(frame: Any) -> list[str]:
    """The names of the columns of a table in memory."""
    kind = kind_of(frame)
    if kind == "pyarrow":
        return list(frame.schema.names)
    return list(frame) if kind == "mapping" else list(frame.columns)


def _plain(series: Any) -> Column:
    """A NumPy column, or a list where pandas has a type of its own."""
    values = np.asarray(series.to_numpy())
    if values.dtype.kind in "biufM":
        return values
    return [None if is_none else value for value, is_none in zip(series, series.isna(), strict=True)]


def _arrow(table: Any) -> dict[str, Column]:
    return {name: _arrow_column(column) for name, column in zip(table.schema.names, table.columns, strict=True)}


def _arrow_column(column: Any) -> Column:
    """A NumPy column of numbers and times, numbered values of text and booleans, else a list."""
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
    """Numbers from 0 on, -1 where there is none."""
    return np.asarray(numbers.cast("int64").fill_null(-1), dtype=np.int64)


def kind_of(frame: Any) -> str | None:
    """Whose table it is; None for none. Nothing is imported: whoever has a frame has its library."""
    module, name = type(frame).__module__.partition(".")[0], type(frame).__name__
    if module == "polars" and name == "LazyFrame":
        raise InputError("A LazyFrame has no rows yet. Give frame.collect(), or the path of its file.")
    if (module, name) in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")):
        return module
    return "mapping" if isinstance(frame, Mapping) else None
