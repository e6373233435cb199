"""A running digest of the rows read from a log, which does not depend on the size of batches."""

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
FEATURES = "arm_features"


class LogDigest:
    """A digest of the rows read so far: contexts, labels of arms, rewards, propensities, available arms and their features.

    If `context` is a function that is not an hsb encoder, its result for the first row is included.
    """

    def __init__(self, context: Callable[[Floats], Any] | None = None) -> None:
        self._columns = {name: blake2b(digest_size=16) for name in (*COLUMNS, FEATURES)}
        self._labels = np.zeros(0, dtype=np.uint64)
        self._context = None if isinstance(context, Encoder) else context
        self._first = ""

    def add(self, batch: Batch) -> None:
        """Add rows to the digest."""
        if not len(batch):
            return
        if self._context is not None and not self._first:
            self._first = _row_digest(self._context, batch.contexts[:1].copy())
        new = [_word(arm) for arm in batch.arms[len(self._labels) :]]
        self._labels = np.append(self._labels, np.array(new, dtype=np.uint64))
        pools = np.array([_number(self._labels[batch.pools[k]]) for k in range(len(batch.pools.sizes))], dtype=np.uint64)
        columns = (batch.contexts, self._labels[batch.arm], batch.reward, batch.propensity, pools[batch.pool])
        for name, column in zip(COLUMNS, columns, strict=True):
            self._columns[name].update(np.ascontiguousarray(column).data)
        if batch.arm_features is not None:
            self._columns[FEATURES].update("".join(map(repr, batch.arm_features)).encode(errors="surrogatepass"))

    def digest(self) -> str:
        """Return the digest, equal for equal rows."""
        return _sum([self._first, *(total.hexdigest() for total in self._columns.values())])


def context_digest(context: Any) -> str | None:
    """Return what identifies an encoding before the first row: for an hsb encoder a digest of all its values, for another function its name."""
    if context is None:
        return None
    if isinstance(context, Encoder):
        return _sum(context.to_dict())
    return f"{getattr(context, '__module__', '')}.{getattr(context, '__qualname__', type(context).__qualname__)}"


def policy_digest(policy: Policy) -> str:
    """Return a digest of a policy's settings, of all that it has learned, and of its random generator."""
    return _sum([policy.digest(), policy_file.plain(policy.rng.bit_generator.state)])


def _row_digest(context: Callable[[Floats], Any], row: Floats) -> str:
    """Return a digest of a function's result for a row, if that is numbers or plain data; else "?"."""
    encoded = context(row)
    try:
        return _sum(np.asarray(encoded, dtype=np.float64).tolist())
    except (TypeError, ValueError):
        pass
    try:
        return _sum(encoded)
    except (TypeError, ValueError):
        return "?"


def _word(label: Hashable) -> int:
    return _number(f"{type(label).__name__} {label!r}".encode())


def _number(data: Any) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _sum(plain: Any) -> str:
    return blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=16).hexdigest()
