"""How a context of named features becomes a key: what models see of it, then a word for the tree over each feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.state import room_for
from ..features import Encoder
from ..features.tables import Table
from ..structures.quantise import WORD, digit_bits
from ..types import Floats, Ints

FEWEST = 16  # rows read at once after something new: what comes behind the next news must be read again
_NOWHERE = object()


class Points:
    """Rows of a table of contexts, to be encoded when their turn comes: an encoder learns on the way."""

    def __init__(self, table: Table, rows: Ints) -> None:
        self.table, self.rows = table, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: Any) -> Any:
        """A context, or some of the rows."""
        if isinstance(which, int | np.integer):
            return self.table.context(int(self.rows[which]))
        return Points(self.table, self.rows[which])

    def raw(self, encoder: Encoder, start: int, stop: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Raw rows by what an encoder knows now, and which of them have something new."""
        rows = self.rows[start:stop]
        if len(rows) == 0 or rows[-1] - rows[0] == len(rows) - 1:
            return encoder.read_part(self.table, int(rows[0]), int(rows[-1]) + 1) if len(rows) else (np.empty((0, 0)), rows > 0)
        return encoder.read_part(self.table.take(rows), 0, len(rows))


class Encoded:
    """Keys of contexts as an encoder sees them. A key has `room` words, the bits of z, then 0, then a word for each slot."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.located: Any = _NOWHERE  # contexts may have changed since: none is known by being the same object
        self.cells: Ints = np.empty(0, dtype=np.int64)
        """Of the located context; a fresh array each time."""
        self.raw: Floats = np.empty(0)
        self.context: Any = None
        self.news = False
        self.fit()

    def fit(self) -> None:
        """Make room for what the encoder has taken in."""
        encoder = self.encoder
        self.room, self.slots = room_for(encoder.places, encoder.width), encoder.slots
        self.shifts = np.array([_shift(*shape) for shape in encoder.shapes], dtype=np.int64)
        self.key: Ints = np.zeros(self.room + 1 + self.slots, dtype=np.int64)
        self._share()

    def _share(self) -> None:
        """What models see and what trees see are parts of the key itself."""
        self._z, self._words = self.key[: self.room].view(np.float64), self.key[self.room + 1 :]

    def groups(self) -> list[int]:
        """Which feature each place but the constant belongs to, features numbered in the order of their first place."""
        numbers: dict[int, int] = {}
        return [numbers.setdefault(slot, len(numbers)) for slot in self.encoder.place_slots[1:].tolist()]

    def locate(self, context: Any) -> int:
        """Put the context's key into `key`; nothing is ever clipped."""
        raw = self.encoder.read(context)
        self.raw, self.context, self.news = raw, context, self.encoder.news
        self.cells = np.empty(self.slots, dtype=np.int64)
        self.put()
        return 0

    def put(self, cells: Ints | None = None) -> None:
        """The key of the raw row at hand; of trees it keeps `cells` if given, what a decision saw when fewer slots may have been known."""
        if cells is not None or len(self.cells) != self.slots:
            self.cells = np.empty(self.slots, dtype=np.int64)  # `cells` may be this very array, and a decision may hold it
        self.encoder.encode(self.raw, self._z, self.cells)
        if cells is not None:
            self.cells[len(cells) :] = 0
            self.cells[: len(cells)] = cells
        np.left_shift(self.cells, self.shifts, out=self._words)

    def again(self) -> None:
        """Read the located context again: the encoder has taken in what was new in it."""
        self.fit()
        self.raw, self.news = self.encoder.read(self.context), False

    def reader(self) -> Callable[[Any], object]:
        """Reads contexts one after the other as if each were learned, which it is by a twin, once something is new."""
        encoder = self.encoder

        def read(context: Any) -> None:
            nonlocal encoder
            encoder.read(context)
            if encoder.news:
                encoder = self.encoder.copy() if encoder is self.encoder else encoder
                encoder.admit(context)

        return read

    def forget(self) -> None:
        """What was located is no longer: the encoder may change, and a key made before would be of no use."""
        self.cells = np.empty(0, dtype=np.int64)

    def check(self, contexts: Any) -> tuple[Any, int]:
        """A whole table, read from beginning to end by a twin of the encoder: what it would refuse is refused before the first round."""
        if isinstance(contexts, Points):
            return contexts, 0
        table = self.encoder.table(contexts)
        twin, at, size = self.encoder.copy(), 0, FEWEST
        while at < table.rows:
            stop = min(at + size, table.rows)
            _, news = twin.read_part(table, at, stop)
            first = int(np.argmax(news)) if news.any() else -1
            if first >= 0:
                twin.admit(table.context(at + first))
            at, size = (stop, min(2 * size, 4096)) if first < 0 else (at + first + 1, FEWEST)
        return Points(table, np.arange(table.rows)), 0

    def keys(self, points: Any) -> Ints:
        """Of many rows, by what is known now: points, or raw rows themselves."""
        raw = points if isinstance(points, np.ndarray) else points.raw(self.encoder, 0, len(points))[0]
        return self.keys_of(raw)

    def keys_of(self, raw: Floats) -> Ints:
        """Of raw rows."""
        n, places = len(raw), self.encoder.places
        keys = np.zeros((n, len(self.key)), dtype=np.int64)
        z, cells = np.empty((n, places)), np.empty((n, self.slots), dtype=np.int64)
        self.encoder.encode_rows(np.ascontiguousarray(raw), z, cells)
        keys.view(np.float64)[:, :places] = z
        np.left_shift(cells, self.shifts, out=keys[:, self.room + 1 :])
        return keys

    def copy(self) -> Encoded:
        """One of its own."""
        return Encoded(self.encoder.copy())

    def __getstate__(self) -> Encoder:
        return self.encoder  # the rest are views of one array, which pickle would part

    def __setstate__(self, encoder: Encoder) -> None:
        self.__init__(encoder)  # type: ignore[misc]


def _shift(kind: str, size: int) -> int:
    """By how many bits the cell of a slot is moved to be the path of its tree."""
    bits, depth = (1, size) if kind == "binary" else (digit_bits(size), 1)
    return bits * (WORD // bits - depth)
