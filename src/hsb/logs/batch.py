"""The one form in which every log is read: columns, some thousand rows at a time."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import arm_list
from ..errors import InputError, quoted
from ..features.tables import ContextTable
from ..structures.spaces import numbers
from ..types import Floats, Ints


class Pools(NamedTuple):
    """Sets of arms that were available together: pool k has the arms members[starts[k] : starts[k + 1]], by number, in increasing order.

    >>> Pools.of([[0, 2], [1]]).sizes
    array([2, 1])
    """

    starts: Ints
    """Where each pool begins in `members`, and at the end the length of `members`."""
    members: Ints
    """The numbers of the arms of all pools, one pool after the other."""

    @classmethod
    def of(cls, pools: Sequence[Sequence[int]]) -> Self:
        """Pools from lists of arm numbers, which need not be sorted."""
        starts = np.concatenate([[0], np.cumsum([len(pool) for pool in pools])]).astype(np.int64)
        return cls(starts, np.array([arm for pool in pools for arm in sorted(pool)], dtype=np.int64))

    @property
    def sizes(self) -> Ints:
        """How many arms each pool has, an array."""
        return np.diff(self.starts)

    def __getitem__(self, k: Any) -> Any:
        return self.members[self.starts[k] : self.starts[k + 1]]

    def table(self, arms: int) -> NDArray[np.bool_]:
        """Which pool has which arm: booleans, a row for each pool and a column for each of `arms` arms."""
        table = np.zeros((len(self.starts) - 1, arms), dtype=np.bool_)
        table[np.repeat(np.arange(len(table)), self.sizes), self.members] = True
        return table


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of a log: what was known, what was shown, with which probability, and what came of it.

    Rows to which the same arms were available share a pool; `available` has them row by row. `Batch.of` makes a batch from tables and checks
    them. Below, a batch has n rows and d features.

    >>> batch = Batch.of(contexts=[[0.1], [0.7]], arm=[0, 1], reward=[1, 0], propensity=[0.5, 0.5], arms=["a", "b"])
    >>> len(batch), batch.labels().tolist(), batch.available.tolist()
    (2, ['a', 'b'], [[True, True], [True, True]])
    """

    contexts: Floats
    """(n, d): the features."""
    arm: Ints
    """(n,): the arm shown, by its place in `arms`."""
    reward: Floats
    """(n,): what came of it."""
    propensity: Floats
    """(n,): the probability with which it was shown, in (0, 1]."""
    timestamp: Floats
    """(n,): seconds since 1970; NaN where the log has none."""
    pool: Ints
    """(n,): which of `pools` was available, by number."""
    pools: Pools
    """The different sets of arms that were available."""
    arms: tuple[Hashable, ...]
    """Labels of the arms seen so far. Later batches of a log have the same and perhaps more."""
    named: ContextTable | None = None
    """The contexts by name, of mixed kinds, some values perhaps missing, where the log was read so (`Log.by_name`).

    `contexts` then has numbers as they are, True and False as 1 and 0, of text its `hsb.encode.code`, and NaN where a value is missing.
    """
    estimated: bool = False
    """Are the propensities a model's (`hsb.logs.open(..., propensity="estimate")`)?"""

    def __len__(self) -> int:
        return len(self.arm)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.arm)

    def __repr__(self) -> str:
        pools = len(self.pools.sizes)
        return f"Batch(rows={len(self)}, features={self.contexts.shape[1]}, arms={len(self.arms)}, pools={pools})"

    @property
    def available(self) -> NDArray[np.bool_]:
        """(n, arms): which arms were available, booleans."""
        return self.pools.table(len(self.arms))[self.pool]

    @property
    def is_uniform(self) -> bool:
        """True where each arm shown was drawn uniformly: its propensity is 1 / (arms available) in every row."""
        return bool(np.allclose(self.propensity * self.pools.sizes[self.pool], 1.0, rtol=1e-6, atol=0.0))

    def labels(self) -> NDArray[Any]:
        """(n,): the arms shown, themselves and not by number."""
        names = np.empty(len(self.arms), dtype=object)
        names[:] = self.arms
        return names[self.arm]

    def take(self, rows: Any) -> Self:
        """A batch of some of the rows: `rows` is a slice, indices or booleans."""
        columns = ("contexts", "arm", "reward", "propensity", "timestamp", "pool")
        named = None if self.named is None else self.named.take(rows)
        return replace(self, **{name: getattr(self, name)[rows] for name in columns}, named=named)

    @classmethod
    def of(
        cls,
        *,
        contexts: ArrayLike,
        arm: ArrayLike,
        reward: ArrayLike,
        propensity: ArrayLike,
        arms: Sequence[Hashable],
        available: ArrayLike | None = None,
        timestamp: ArrayLike | None = None,
    ) -> Self:
        """A batch from tables, checked: `InputError` where something does not fit.

        `contexts` has shape (n, d), or (n,) for one feature. `arm`, `reward`, `propensity` and `timestamp` have an entry for each row; `arm` is
        the place in the list `arms`, and `timestamp` may be left out. `available` is a table of booleans (n, arms); None: all were available.
        """
        points = numbers("contexts", contexts)
        points = points.reshape(-1, 1) if points.ndim == 1 else points
        labels = arm_list(arms)
        n, m = len(points), len(labels)
        if points.ndim != 2 or not np.isfinite(points).all():
            raise InputError(f"contexts needs finite numbers of shape (n, features); given shape {points.shape}.")
        index = _index(arm)
        if index.shape != (n,) or (n and index.dtype.kind not in "iu") or (n and not (0 <= index.min() <= index.max() < m)):
            raise InputError(f"arm needs one index in 0 .. {m - 1} for each of the {n} contexts; given {quoted(arm)}.")
        rewards, probabilities = _column("reward", reward, n), _column("propensity", propensity, n)
        fits = (probabilities > 0.0) & (probabilities <= 1.0)
        if not fits.all():
            bad = int(np.argmin(fits))
            raise InputError(
                f"propensity[{bad}] is {probabilities[bad]}; it must be in (0, 1], the probability of showing the arm."
            )
        if not np.isfinite(rewards).all():
            raise InputError(f"reward[{int(np.argmin(np.isfinite(rewards)))}] is not finite. Drop the row or fill the value.")
        times = np.full(n, np.nan) if timestamp is None else _column("timestamp", timestamp, n)
        table = np.ones((n, m), dtype=np.bool_) if available is None else np.asarray(available)
        if table.shape != (n, m) or table.dtype != np.bool_:
            raise InputError(f"available needs booleans of shape ({n}, {m}); given {table.dtype} of shape {table.shape}.")
        shown = table[np.arange(n), index.astype(np.int64)]
        if not shown.all():
            raise InputError(f"Row {int(np.argmin(shown))} shows an arm that its available does not offer.")
        pool, pools = pooled(table)
        return cls(points, index.astype(np.int64), rewards, probabilities, times, pool, pools, tuple(labels))


def _index(arm: Any) -> Any:
    try:
        return np.asarray(arm)
    except (TypeError, ValueError):
        return np.zeros(0, dtype=object)


def _column(name: str, values: ArrayLike, n: int) -> Floats:
    column = numbers(name, values)
    if column.shape != (n,):
        raise InputError(f"{name} needs one number for each of the {n} contexts; given shape {column.shape}.")
    return np.ascontiguousarray(column)


def pooled(table: NDArray[np.bool_]) -> tuple[Ints, Pools]:
    """The different rows of a table of booleans, in order of appearance, and which one each row is."""
    seen: dict[bytes, int] = {}
    pool = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in table], dtype=np.int64)
    return pool, Pools.of([np.flatnonzero(np.frombuffer(key, dtype=np.bool_)).tolist() for key in seen])
