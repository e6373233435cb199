"""The base of encoders: fitted on the head of a log, then a fixed map from raw features to contexts, stored as plain data."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InputError, quoted
from ...structures.spaces import numbers
from ...types import Floats

Head = ArrayLike | Iterable[Any]


class Encoder(ABC):
    """The base class of encoders: fitted on a head, the first rows of the data, they turn rows of features (n, d) into contexts.

    A head is a table (n, d), or an iterable of tables or batches of a log that can be iterated more than once, e.g. `log.head(10_000)`. A
    fitted encoder is also a function: `hsb.replay`, `hsb.learn_from` and `hsb.evaluate` take it as `context=`. `to_dict` and
    `hsb.encode.from_dict` store and restore it.

    >>> import hsb.features.encoders
    >>> encoder = hsb.encode.MinMax().fit([[10.0], [20.0]])
    >>> encoder([[12.5]]), encoder.features
    (array([[0.25]]), 1)
    """

    kinds: ClassVar[dict[str, type["Encoder"]]] = {}  # filled as classes are defined; `from_dict` looks here

    def __init_subclass__(cls, *, listed: bool = True) -> None:
        super().__init_subclass__()
        if listed:
            Encoder.kinds[cls.__name__] = cls

    def __init__(self) -> None:
        self.features = 0  # of its input; 0 until fitted
        self.clipped = 0  # rows outside the range of the head, which were clipped

    @abstractmethod
    def fit(self, head: Head) -> Self:
        """Fit the encoder to the head, in bounded memory, and return it. An earlier fit is forgotten.

        Raises `InputError`, and changes nothing, if the head cannot be used or has fewer than two rows.
        """

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        """The columns of the head and their kinds, if the encoder takes columns by name; else None."""
        return None

    def transform(self, rows: ArrayLike) -> Floats:
        """Return the contexts, an array (n, d'), of rows of features (n, d). Only `clipped`, the count of clipped rows, may change.

        Raises `InputError` before `fit`, or for another number of features.
        """
        if not self.features:
            raise InputError(f"This {type(self).__name__} has not been fitted. Call fit(head) first.")
        table = as_table(rows)
        if table.shape[1] != self.features:
            raise InputError(f"This {type(self).__name__} was fitted on {self.features} features; given {table.shape[1]}.")
        return self._transform(table)

    __call__ = transform  # so that an encoder can be given as `context=` of `hsb.replay`

    def parts(self, head: Any) -> Iterable[Any]:
        """Return the tables of a head as `transform` takes them."""
        return tables(head)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain data, for JSON: the class, the settings and the fit."""
        return {"encoder": type(self).__name__, **self._plain()}

    @abstractmethod
    def _transform(self, table: Floats) -> Floats:
        """Transform a checked table."""

    @abstractmethod
    def _plain(self) -> dict[str, Any]:
        """Return the data for `to_dict`."""

    @classmethod
    @abstractmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        """Restore an encoder from the data of `_plain`."""


class Summary(Protocol):
    """The statistics that an encoder collects from the tables of a head, in bounded memory."""

    def add(self, table: Floats) -> None:
        """Add a table."""


Gathered = TypeVar("Gathered", bound=Summary)


class Streamed(Encoder, Generic[Gathered], listed=False):
    """An encoder that reads its head once, table by table, into a summary. It changes only after the whole head."""

    def fit(self, head: Head) -> Self:
        features, rows, summary = 0, 0, None
        for table in tables(head):
            if summary is None:
                features, summary = table.shape[1], self._summary(table)
            elif table.shape[1] != features:
                raise InputError(f"All rows need the same features; given {features}, then {table.shape[1]}.")
            summary.add(table)
            rows += len(table)
        if summary is None or rows < 2:
            raise InputError(f"{type(self).__name__} needs at least 2 rows to be fitted on; given {rows}.")
        self._use(summary)
        self.features, self.clipped = features, 0
        return self

    @abstractmethod
    def _summary(self, table: Floats) -> Gathered:
        """Return an empty summary for a head whose first table is `table`. Raises `InputError` if the encoder cannot use such tables."""

    @abstractmethod
    def _use(self, summary: Gathered) -> None:
        """Set the parameters of `_transform` from the summary of a head. Raises `InputError`, and changes nothing, if that is impossible."""


def from_dict(data: dict[str, Any]) -> Encoder:
    """Return the encoder that `to_dict` wrote. Raises `InputError` for any other `data`.

    >>> from hsb.features.encoders import MinMax
    >>> scale = MinMax().fit([[1.0], [3.0]])
    >>> from_dict(scale.to_dict()).transform([[2.0]])
    array([[0.5]])
    """
    kind = data.get("encoder") if isinstance(data, dict) else None
    if kind not in Encoder.kinds:
        raise InputError(f"An encoder is one of {', '.join(sorted(Encoder.kinds))}; given {quoted(kind)}.")
    return Encoder.kinds[kind]._from_plain({name: value for name, value in data.items() if name != "encoder"})


def as_table(rows: ArrayLike) -> Floats:
    """Return rows of features as a table (n, d), with d = 1 for plain numbers. Raises `InputError` unless all are finite."""
    table = numbers("Features", rows)
    table = table.reshape(-1, 1) if table.ndim == 1 else table
    if table.ndim != 2:
        raise InputError(f"Features need shape (rows, features); given {table.shape}.")
    if not np.isfinite(table).all():
        t, j = np.argwhere(~np.isfinite(table))[0]
        raise InputError(f"Features must be finite; row {t}, feature {j} is {table[t, j]}. Drop the row or fill the value.")
    return table


def tables(head: Head) -> Iterator[Floats]:
    """Yield the tables of a head that have rows."""
    is_table = isinstance(head, np.ndarray)
    if isinstance(head, list | tuple) and len(head):
        is_table = not hasattr(head[0], "contexts") and not (isinstance(head[0], np.ndarray) and head[0].ndim == 2)
    if isinstance(head, str | bytes) or not (is_table or isinstance(head, Iterable)):
        raise InputError(f"An encoder is fitted on a table, a log's head or several batches; given {quoted(head)}.")
    parts: Iterable[Any] = [head] if is_table else head  # type: ignore[assignment]
    for part in parts:
        table = as_table(getattr(part, "contexts", part))
        if len(table):
            yield table
