"""What tells a log from another: a running digest of all that was read of it, however it was cut into batches."""

import json
from collections.abc import Callable, Hashable
from hashlib import blake2b
from typing import Any

import numpy as np

from ..features.encoders import Encoder
from ..files import policy_file
from ..logs import Batch
from ..policy import Policy
from ..types import Floats

COLUMNS = ("contexts", "arm", "reward", "propensity", "pool")


class Seen:
    """The rows read so far: contexts, arms by their labels, rewards, propensities, offers; and of a function what it makes of the first row."""

    def __init__(self, context: Callable[[Floats], Any] | None = None) -> None:
        self._columns = {name: blake2b(digest_size=16) for name in COLUMNS}
        self._labels = np.zeros(0, dtype=np.uint64)
        self._context = None if isinstance(context, Encoder) else context
        self._first = ""

    def add(self, batch: Batch) -> None:
        """Read some more rows."""
        if not len(batch):
            return
        if self._context is not None and not self._first:
            self._first = _made(self._context, batch.contexts[:1].copy())
        new = [_word(arm) for arm in batch.arms[len(self._labels) :]]
        self._labels = np.append(self._labels, np.array(new, dtype=np.uint64))
        pools = np.array([_number(self._labels[batch.pools[k]]) for k in range(len(batch.pools.sizes))], dtype=np.uint64)
        columns = (batch.contexts, self._labels[batch.arm], batch.reward, batch.propensity, pools[batch.pool])
        for name, column in zip(COLUMNS, columns, strict=True):
            self._columns[name].update(np.ascontiguousarray(column).data)

    def digest(self) -> str:
        """Equal for equal rows."""
        return _sum([self._first, *(total.hexdigest() for total in self._columns.values())])


def context_digest(context: Any) -> str | None:
    """What is known of an encoding before the first row: of an hsb encoder everything; of another function its name."""
    if context is None:
        return None
    if isinstance(context, Encoder):
        return _sum(context.to_dict())
    return f"{getattr(context, '__module__', '')}.{getattr(context, '__qualname__', type(context).__qualname__)}"


def policy_digest(policy: Policy) -> str:
    """All that a policy is and has learned; equal for equal ones."""
    total = blake2b(_sum(policy_file.described(policy)).encode(), digest_size=16)
    for name, array in sorted(policy.to_arrays().items()):
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(np.ascontiguousarray(array).data)
    return total.hexdigest()


def _made(context: Callable[[Floats], Any], row: Floats) -> str:
    """What a function makes of a row, where that can be compared: numbers, or plain data."""
    made = context(row)
    try:
        return _sum(np.asarray(made, dtype=np.float64).tolist())
    except (TypeError, ValueError):
        pass
    try:
        return _sum(made)
    except (TypeError, ValueError):
        return "?"


def _word(label: Hashable) -> int:
    return _number(f"{type(label).__name__} {label!r}".encode())


def _number(data: Any) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _sum(plain: Any) -> str:
    return blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=16).hexdigest()
