"""Tables of contexts: converted to columns once, then read into raw rows part by part."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np

from ..errors import InputError, quoted
from .column_values import Values, values_of
from .contexts import ALONE, NAMED, ROW

NEEDED = "A table of contexts is a list of contexts, an array, a dict of columns or a data frame"


class ContextTable:
    """Contexts, one for each row. `form`: the form of each context. Columns are keyed by name, or by number in rows without names."""

    def __init__(self, form: str, columns: Mapping[Any, Values], rows: int) -> None:
        self.form, self.columns, self.rows = form, dict(columns), rows

    def context(self, t: int) -> Any:
        """Return the context of row t, as `FeatureReader.read` takes it."""
        values = [column.at(t) for column in self.columns.values()]
        return dict(zip(self.columns, values, strict=True)) if self.form == NAMED else values if self.form == ROW else values[0]

    def take(self, rows: Any) -> "ContextTable":
        """Return some of the rows: a slice, indices or booleans."""
        return ContextTable(
            self.form, {name: values.take(rows) for name, values in self.columns.items()}, _count(self.rows, rows)
        )

    def select(self, names: Iterable[Any]) -> "ContextTable":
        """Return some of the columns, in the order of `names`."""
        return ContextTable(self.form, {name: self.columns[name] for name in names}, self.rows)

    def __len__(self) -> int:
        return self.rows


class Listed(ContextTable):
    """Contexts that are stored unchanged and read one by one."""

    def __init__(self, contexts: Sequence[Any]) -> None:
        super().__init__(NAMED, {}, len(contexts))
        self.contexts = contexts

    def context(self, t: int) -> Any:
        return self.contexts[t]

    def take(self, rows: Any) -> "Listed":
        return Listed([self.contexts[t] for t in np.arange(self.rows)[rows].tolist()])


def _count(n: int, rows: Any) -> int:
    return len(np.arange(n)[rows])


def table_of(contexts: Any) -> ContextTable:
    """Convert any table, by columns if it has them.

    >>> table_of({"age": [31, 33], "country": ["FR", None]}).context(1)
    {'age': 33, 'country': None}
    >>> table_of([{"age": 31}, {}]).rows, table_of([0.5, 0.25]).context(1)
    (2, 0.25)
    """
    if isinstance(contexts, ContextTable):
        return contexts
    if isinstance(contexts, np.ndarray):
        return _array(contexts)
    if isinstance(contexts, Mapping):
        return _mapping(contexts)
    if hasattr(contexts, "column_names") and hasattr(contexts, "column"):  # pyarrow
        return _by_name({name: _arrow(contexts.column(j)) for j, name in enumerate(contexts.column_names)}, contexts.num_rows)
    if hasattr(contexts, "collect"):  # a lazy frame of polars
        raise InputError(f"{NEEDED}; given a {type(contexts).__name__}. Call its collect() first.")
    if hasattr(contexts, "columns") and hasattr(contexts, "__getitem__"):  # frames of pandas and polars
        return _frame(contexts)
    if hasattr(contexts, "to_frame") and not hasattr(contexts, "columns"):  # a series
        fix = "If it is a column, call its to_frame(); put a single context into a list."
        raise InputError(f"{NEEDED}; given a {type(contexts).__name__}. {fix}")
    if hasattr(contexts, "__arrow_c_stream__"):
        try:
            table = import_module("pyarrow").table(contexts)
        except (TypeError, ValueError) as error:
            raise InputError(f"{NEEDED}; given a {type(contexts).__name__}, which is not a table: {error!s:.200}.") from None
        return table_of(table)
    if isinstance(contexts, str | bytes) or not isinstance(contexts, Iterable):
        raise InputError(f"{NEEDED}; given {contexts!r:.200}.")
    return _list(contexts if isinstance(contexts, list) else list(contexts))


def _list(contexts: list[Any]) -> ContextTable:
    types = set(map(type, contexts))
    if types and types <= {int, float}:
        return ContextTable(ALONE, {0: values_of(contexts)}, len(contexts))
    if types and types <= {list, tuple}:
        lengths, inside = set(map(len, contexts)), set(map(type, chain.from_iterable(contexts)))
        if len(lengths) == 1 and inside <= {int, float, str, bool, type(None)} and inside:
            return ContextTable(
                ROW, {j: values_of(list(column)) for j, column in enumerate(zip(*contexts, strict=True))}, len(contexts)
            )
    if types == {np.ndarray} and len({(row.shape, row.dtype) for row in contexts}) == 1 and contexts[0].ndim == 1:
        return _array(np.stack(contexts))
    return Listed(contexts)


def _array(contexts: Any) -> ContextTable:
    if contexts.dtype.names:
        return _by_name({name: values_of(contexts[name]) for name in contexts.dtype.names}, len(contexts.reshape(-1)))
    if contexts.ndim == 1 and contexts.dtype.kind in "iuf":
        return ContextTable(ALONE, {0: values_of(contexts)}, len(contexts))
    if contexts.ndim == 1:
        return _list(contexts.tolist())
    if contexts.ndim != 2:
        raise InputError(f"{NEEDED}; given an array of shape {contexts.shape}.")
    return ContextTable(ROW, {j: values_of(contexts[:, j]) for j in range(contexts.shape[1])}, len(contexts))


def _mapping(contexts: Mapping[Any, Any]) -> ContextTable:
    columns = {}
    for name, column in contexts.items():
        if isinstance(column, str | bytes) or not hasattr(column, "__len__") or isinstance(column, Mapping | set | frozenset):
            raise InputError(
                f"{NEEDED}; given a dict whose {name!r:.100} is not a column: {column!r:.100}. Put a single context into a list."
            )
        columns[name] = _series(column)
    return _by_name(columns, len(next(iter(columns.values()))) if columns else 0)


def _frame(contexts: Any) -> ContextTable:
    names = list(contexts.columns)
    if len(set(names)) != len(names):
        raise InputError(f"Columns need different names; given {names!r:.200}.")
    return _by_name({name: _series(contexts[name]) for name in names}, len(contexts))


def _series(column: Any) -> Values:
    """Convert a column of a data frame, an array or a list. Times with a zone count as local time, and are read one by one."""
    if isinstance(column, np.ndarray | list | tuple):
        return values_of(column)
    if hasattr(column, "to_pylist"):
        return _arrow(column)
    kind = str(getattr(column, "dtype", ""))
    if hasattr(column, "to_list") and (
        "time_zone='" in kind or kind.startswith(("List", "Array", "Struct", "Decimal", "Time"))
    ):
        return values_of(column.to_list())
    return values_of(column.to_numpy() if hasattr(column, "to_numpy") else list(column))


def _arrow(column: Any) -> Values:
    kind = str(column.type)
    plain = kind.startswith(("int", "uint", "float", "double", "half")) or (kind.startswith("timestamp") and "tz=" not in kind)
    if not plain or column.null_count:
        return values_of(column.to_pylist())
    return values_of(np.asarray(column))


def _by_name(columns: dict[Any, Values], rows: int) -> ContextTable:
    for name, values in columns.items():
        if not isinstance(name, str):
            raise InputError(f"Names of features are text; given {name!r:.100}. For rows without names give an array.")
        if len(values) != rows:
            raise InputError(f"Columns need one length; {quoted(name)} has {len(values)} rows, others {rows}.")
    return ContextTable(NAMED, {str.__str__(name): values for name, values in columns.items()}, rows)
