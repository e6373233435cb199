"""Batches: every log is read as columns, some thousand rows at a time."""

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
    """The start of each pool in `members`; the last entry is the length of `members`."""
    members: Ints
    """The numbers of the arms of all pools, one pool after the other."""

    @classmethod
    def of(cls, pools: Sequence[Sequence[int]]) -> Self:
        """Make pools from lists of arm numbers, in any order."""
        starts = np.concatenate([[0], np.cumsum([len(pool) for pool in pools])]).astype(np.int64)
        return cls(starts, np.array([arm for pool in pools for arm in sorted(pool)], dtype=np.int64))

    @property
    def sizes(self) -> Ints:
        """The number of arms in each pool, an array."""
        return np.diff(self.starts)

    def __getitem__(self, k: Any) -> Any:
        return self.members[self.starts[k] : self.starts[k + 1]]

    def table(self, arms: int) -> NDArray[np.bool_]:
        """Return which pool has which arm: booleans, a row for each pool and a column for each of `arms` arms."""
        table = np.zeros((len(self.starts) - 1, arms), dtype=np.bool_)
        table[np.repeat(np.arange(len(table)), self.sizes), self.members] = True
        return table


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of a log: contexts, the arms shown, their propensities and the rewards.

    Rows with the same available arms share a pool; `available` lists the arms row by row. `Batch.of` checks tables and makes a batch of them.
    Below, a batch has n rows and d features.

    >>> batch = Batch.of(contexts=[[0.1], [0.7]], arm=[0, 1], reward=[1, 0], propensity=[0.5, 0.5], arms=["a", "b"])
    >>> len(batch), batch.labels().tolist(), batch.available.tolist()
    (2, ['a', 'b'], [[True, True], [True, True]])
    """

    contexts: Floats
    """(n, d): the features."""
    arm: Ints
    """(n,): the arm shown, as an index into `arms`."""
    reward: Floats
    """(n,): the reward."""
    propensity: Floats
    """(n,): the probability with which the arm was shown, in (0, 1]."""
    timestamp: Floats
    """(n,): seconds since 1970; NaN if the log has no time."""
    pool: Ints
    """(n,): the pool that was available, as an index into `pools`."""
    pools: Pools
    """The different sets of arms that were available."""
    arms: tuple[Hashable, ...]
    """Labels of the arms seen so far. Later batches of a log may append arms."""
    named: ContextTable | None = None
    """The contexts by name, of mixed kinds and with missing values, if the log was read by name (`Log.by_name`); else None.

    `contexts` then holds the same values as numbers: True and False are 1 and 0, text is its `hsb.encode.code`, a missing value is NaN.
    """
    estimated: bool = False
    """Were the propensities estimated by a model (`hsb.logs.open(..., propensity="estimate")`)?"""
    arm_features: NDArray[Any] | None = None
    """(n,): the available arms of each row, a dict from each to its features, a dict or None; None if the log has none.

    It is filled if the log was read for a policy whose arms come with the request (`Log.by_name`).
    """

    def __len__(self) -> int:
        return len(self.arm)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.arm)

    def __repr__(self) -> str:
        pools = len(self.pools.sizes)
        return f"Batch(rows={len(self)}, features={self.contexts.shape[1]}, arms={len(self.arms)}, pools={pools})"

    @property
    def available(self) -> NDArray[np.bool_]:
        """(n, arms): booleans, which arms were available."""
        return self.pools.table(len(self.arms))[self.pool]

    @property
    def is_uniform(self) -> bool:
        """Was every arm drawn uniformly? True if the propensity is 1 / (number of arms available) in every row."""
        return bool(np.allclose(self.propensity * self.pools.sizes[self.pool], 1.0, rtol=1e-6, atol=0.0))

    def labels(self) -> NDArray[Any]:
        """Return the labels of the arms shown, shape (n,)."""
        names = np.empty(len(self.arms), dtype=object)
        names[:] = self.arms
        return names[self.arm]

    def take(self, rows: Any) -> Self:
        """Return a batch of some rows: `rows` is a slice, indices or booleans."""
        columns = ("contexts", "arm", "reward", "propensity", "timestamp", "pool")
        named = None if self.named is None else self.named.take(rows)
        features = None if self.arm_features is None else self.arm_features[rows]
        return replace(self, **{name: getattr(self, name)[rows] for name in columns}, named=named, arm_features=features)

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
        """Check tables and make a batch of them. Raises `InputError` if they do not fit together.

        `contexts` has shape (n, d), or (n,) for one feature. `arm`, `reward`, `propensity` and the optional `timestamp` have one entry a row;
        `arm` is an index into the list `arms`. `available` is a table of booleans (n, arms); None: all arms were available.
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
            raise InputError(f"Row {int(np.argmin(shown))} shows an arm that is not available in that row.")
        pool, pools = number_pools(table)
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


def number_pools(table: NDArray[np.bool_]) -> tuple[Ints, Pools]:
    """Return the pool number of each row of a table of booleans, and the pools: its distinct rows, in order of appearance."""
    seen: dict[bytes, int] = {}
    pool = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in table], dtype=np.int64)
    return pool, Pools.of([np.flatnonzero(np.frombuffer(key, dtype=np.bool_)).tolist() for key in seen])
