"""Encoding of categories as points of the unit interval: in order of appearance, or hashed."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...checks import is_number, whole
from ...errors import InputError, quoted
from ...types import Floats
from .base import Streamed

Unseen = Literal["own", "error"]
MOST = 1 << 16  # categories of a feature that Ordinal lists


def code(category: object) -> float:
    """Return the number of a category in a table of numbers: 53 bits of a hash of its text, the same in every process and log.

    Among a million categories, two share a number with probability below 0.0001.

    >>> code("red") == code("red"), code("red") == code("blue"), code(7) == code("7")
    (True, False, True)
    """
    try:
        text = str(category)
    except Exception:  # of whatever class: its own code runs here
        raise InputError(f"A category needs a value that str() can convert; given {quoted(category)}.") from None
    return float(int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 11)


class _Listing:
    """The categories of the features `columns` (None: of all), in order of appearance."""

    def __init__(self, columns: Sequence[int] | None) -> None:
        self.columns = columns
        self.categories: dict[int, list[float]] = {}

    def add(self, table: Floats) -> None:
        for j in range(table.shape[1]) if self.columns is None else self.columns:
            seen = self.categories.setdefault(j, [])
            known = set(seen)
            values, rows = np.unique(table[:, j], return_index=True)
            seen += [value for value in values[np.argsort(rows)].tolist() if value not in known]
            if len(seen) > MOST:
                raise InputError(f"Feature {j} has more than {MOST} categories. Use Hashed, or leave it out.")


class _Categories(Streamed[_Listing], listed=False):
    """The base class of both encoders: `columns` are categories; other features pass unchanged."""

    def __init__(self, columns: Sequence[int] | None = None) -> None:
        super().__init__()
        if columns is not None and not (
            isinstance(columns, Sequence)
            and not isinstance(columns, str)
            and len(columns) <= 1 << 20
            and all(isinstance(j, int) and not isinstance(j, bool) and j >= 0 for j in columns)
            and len(set(columns)) == len(columns) > 0
        ):
            raise InputError(f"columns needs different feature numbers, e.g. [0, 2], or None for all; given {quoted(columns)}.")
        self.columns = None if columns is None else tuple(columns)

    def _those(self) -> Sequence[int]:
        return range(self.features) if self.columns is None else self.columns

    def _check(self, features: int) -> None:
        """Raise `InputError` for a table without some of the columns."""
        if self.columns is not None and max(self.columns) >= features:
            raise InputError(f"columns names feature {max(self.columns)}; there are only 0 .. {features - 1}.")


class Ordinal(_Categories):
    """The K categories of a feature, in order of their appearance in the head, become (k + 1/2) / (K + 1), k = 0 .. K - 1.

    The last place, k = K, is for categories that the head did not have: `unseen="own"` puts them there and counts their rows in `clipped`;
    "error" refuses them. `columns` are the numbers of the features that are categories, None for all; the others pass unchanged. Text is given
    as its `hsb.encode.code`, which is what `hsb.logs.open(..., categories=[...])` gives. A feature may have 65,536 categories.

    >>> red, green, blue = map(code, ("red", "green", "blue"))
    >>> numbers = Ordinal().fit([[red], [green], [red]])
    >>> (numbers.transform([[red], [green], [blue]]) * 6).ravel().tolist(), numbers.clipped
    ([1.0, 3.0, 5.0], 1)
    """

    def __init__(self, columns: Sequence[int] | None = None, *, unseen: Unseen = "own") -> None:
        super().__init__(columns)
        if not isinstance(unseen, str) or unseen not in ("own", "error"):
            raise InputError(f"unseen must be 'own' (a separate number) or 'error'; given {quoted(unseen)}.")
        self.unseen = unseen
        self.categories: dict[int, list[float]] = {}  # of each such feature, in order of appearance

    def _summary(self, table: Floats) -> _Listing:
        self._check(table.shape[1])
        return _Listing(self.columns)

    def _use(self, summary: _Listing) -> None:
        self.categories = summary.categories

    def _transform(self, table: Floats) -> Floats:
        out = table.copy()
        strange = np.zeros(len(table), dtype=np.bool_)
        for j in self._those():
            seen = np.array(self.categories[j])
            order = np.argsort(seen)
            index = np.minimum(np.searchsorted(seen[order], table[:, j]), len(seen) - 1)
            known = seen[order][index] == table[:, j]
            if self.unseen == "error" and not known.all():
                t = int(np.argmin(known))
                which = f"Row {t}, feature {j} is a category that the head did not have ({table[t, j]})"
                raise InputError(f"{which}. Fit on more rows, or use unseen='own'.")
            strange |= ~known
            out[:, j] = (np.where(known, order[index], len(seen)) + 0.5) / (len(seen) + 1)
        self.clipped += int(strange.sum())
        return out

    def _plain(self) -> dict[str, Any]:
        listed = [[j, self.categories[j]] for j in sorted(self.categories)]
        columns = self.columns and list(self.columns)
        return {"columns": columns, "unseen": self.unseen, "features": self.features, "categories": listed}

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        ordinal = cls(data["columns"], unseen=data["unseen"])
        ordinal.features = whole("features", data["features"], 0)
        listed = {int(j): [float(value) for value in values] for j, values in data["categories"]}
        are_different = all(len(set(one)) == len(one) > 0 and np.isfinite(one).all() for one in listed.values())
        if set(listed) != set(ordinal._those()) or not are_different:
            raise InputError("An Ordinal needs, for each of its columns, a list of different categories.")
        ordinal.categories = listed
        return ordinal


class Hashed(_Categories):
    """Each category falls into one of `buckets`, by its hash; bucket b becomes (b + 1/2) / buckets.

    Nothing is learned but how many features there are: a category that the head did not have gets its bucket like any other. Categories may
    share a bucket, some two of n with probability about n² / (2 buckets); with another `seed` others do. `columns` as in `Ordinal`.

    >>> rows = [[code(colour)] for colour in ("red", "green", "blue")]
    >>> numbers = Hashed(1024).fit(rows).transform(rows)
    >>> len(set(numbers.ravel().tolist())), bool(((numbers > 0) & (numbers < 1)).all())
    (3, True)
    """

    def __init__(self, buckets: int = 256, columns: Sequence[int] | None = None, *, seed: int = 0) -> None:
        super().__init__(columns)
        if not is_number(buckets) or not 2 <= buckets <= 1 << 31 or buckets != int(buckets):
            raise InputError(f"buckets must be a whole number from 2 to 2^31; given {quoted(buckets)}.")
        self.buckets, self.seed = int(buckets), whole("seed", seed, 0)

    def _summary(self, table: Floats) -> _Listing:
        self._check(table.shape[1])
        return _Listing(())

    def _use(self, summary: _Listing) -> None:
        """Count the features; a hash needs nothing else from the head."""

    def _transform(self, table: Floats) -> Floats:
        out = table.copy()
        for j in self._those():
            out[:, j] = (_mixed(table[:, j], self.seed) % np.uint64(self.buckets) + 0.5) / self.buckets
        return out

    def _plain(self) -> dict[str, Any]:
        columns = self.columns and list(self.columns)
        return {"buckets": self.buckets, "columns": columns, "seed": self.seed, "features": self.features}

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        hashed = cls(data["buckets"], data["columns"], seed=data["seed"])
        hashed.features = whole("features", data["features"], 0)
        return hashed


def _mixed(values: ArrayLike, seed: int) -> NDArray[np.uint64]:
    """The bits of numbers, well mixed (the finaliser of SplitMix64, Steele, Lea and Flood 2014)."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64) + np.uint64(seed * 0x9E3779B97F4A7C15 & (1 << 64) - 1)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
