"""Three ways to show a context to a library that is linear in its features. Columns lie in [0, 1]; no constant is among them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np

from .base import Floats

CELLS = {1: 32, 2: 6, 6: 2}  # a feature, by the number of features: 32, 36 and 64 (all codewords of six bits)


def raw(X: Floats) -> Floats:
    """The features."""
    return X


def cubic(X: Floats) -> Floats:
    """All products of up to three features; for features that are 0 or 1, of different ones.

    >>> cubic(np.array([[0.5], [0.25]])).tolist()
    [[0.5, 0.25, 0.125], [0.25, 0.0625, 0.015625]]
    """
    repeats = not np.isin(X, (0.0, 1.0)).all()
    which = [w for degree in (1, 2, 3) for w in combinations_with_replacement(range(X.shape[1]), degree)]
    return np.stack([X[:, w].prod(axis=1) for w in which if repeats or len(set(w)) == len(w)], axis=1)


def bins(X: Floats) -> Floats:
    """One column a cell: 1 in the context's own, 0 elsewhere.

    >>> bins(np.array([[0.1], [0.99]])).argmax(axis=1).tolist()
    [3, 31]
    """
    features = X.shape[1]
    each = CELLS[features]
    cell = np.minimum((X * each).astype(np.int64), each - 1) @ each ** np.arange(features)
    return np.eye(each**features)[cell]


def none(X: Floats) -> Floats:
    """Nothing: for an algorithm without contexts."""
    return np.zeros((len(X), 0))


ENCODINGS: dict[str, Callable[[Floats], Floats]] = {"raw": raw, "cubic": cubic, "bins": bins, "none": none}


def encode(X: Floats, encoding: str, constant: bool) -> Floats:
    """Contexts as features, a column of ones last if asked for."""
    found = ENCODINGS[encoding](X)
    if constant:
        found = np.column_stack([found, np.ones(len(found))])
    return np.ascontiguousarray(found)
