"""Coding matrices: a row of +1 and -1 for each class, a column for each yes-or-no question."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....checks import generator, whole
from ....errors import BudgetError, InputError
from ....types import Floats

Signs = NDArray[np.int8]

MOST_EXHAUSTIVE = 14  # classes; 8191 columns
RESTARTS, TRIES = 200, 500


def one_versus_all(classes: int) -> Signs:
    """Return the code whose column k separates class k from the others: an array of +1 and -1, shape (classes, classes).

    Two codewords differ in two bits.

    >>> one_versus_all(3).tolist()
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    """
    return (2 * np.eye(whole("classes", classes, 1), dtype=np.int8) - 1).astype(np.int8)


def exhaustive(classes: int) -> Signs:
    """Return the code with every division of C = `classes` classes into two: an array of +1 and -1 with C rows and 2^(C-1) - 1 columns.

    Every two codewords differ in 2^(C-2) bits. More than 14 classes raise `BudgetError`.

    >>> exhaustive(3).tolist()
    [[1, 1, 1], [-1, -1, 1], [-1, 1, -1]]
    """
    classes = whole("classes", classes, 2)
    if classes > MOST_EXHAUSTIVE:
        size = f"2^{classes - 1} - 1 columns, a perceptron each; the limit is {MOST_EXHAUSTIVE} classes"
        fix = f"Use random_code({classes}, bits=...) or one_versus_all({classes})."
        raise BudgetError(f"The exhaustive code of {classes} classes has {size}. {fix}")
    columns = np.arange(2 ** (classes - 1) - 1)
    rows = [np.ones(len(columns), dtype=np.int64)]
    rows += [2 * (columns >> (classes - 1 - row) & 1) - 1 for row in range(1, classes)]
    return np.array(rows, dtype=np.int8)


def random_code(classes: int, *, bits: int, distance: int = 1, seed: int | np.random.Generator | None = None) -> Signs:
    """Return a random code: an array of +1 and -1, shape (classes, bits), every two rows at least `distance` bits apart.

    No column is the same for all classes. `seed` is an int or a `numpy.random.Generator`; None takes fresh random numbers. Raises
    `InputError` if no such code exists by Plotkin's bound, or if 200 draws had none.

    >>> matrix = random_code(6, bits=10, distance=4, seed=0)
    >>> matrix.shape, minimum_distance(matrix) >= 4
    ((6, 10), True)
    """
    classes, bits, distance = whole("classes", classes, 2), whole("bits", bits, 1), whole("distance", distance, 1)
    pairs, apart = (
        math.comb(classes, 2),
        (classes // 2) * ((classes + 1) // 2),
    )  # all pairs; the most pairs that a column separates
    most = min(bits * apart // pairs, bits)
    if distance > most or classes > 2**bits:
        possible = f"{most} is possible" + (f", and {2**bits} codewords" if classes > 2**bits else "")
        wanted = f"No {classes} codewords of {bits} bits are all {distance} apart"
        raise InputError(f"{wanted}; at most {possible}. Use more bits or a smaller distance.")
    rng = generator(seed)
    for _ in range(RESTARTS):
        rows: list[Signs] = []
        for _ in range(TRIES):
            row = (2 * rng.integers(0, 2, bits) - 1).astype(np.int8)
            if all(np.count_nonzero(row != other) >= distance for other in rows):
                rows.append(row)
            if len(rows) == classes:
                break
        matrix = np.array(rows)
        if len(rows) == classes and (matrix.min(axis=0) < matrix.max(axis=0)).all():
            return matrix
    wanted = f"{classes} codewords of {bits} bits, all {distance} apart"
    raise InputError(f"{RESTARTS} draws had no {wanted}. Use more bits or a smaller distance.")


def minimum_distance(matrix: ArrayLike) -> int:
    """Return the fewest bits in which two codewords, rows of `matrix`, differ. Fewer wrong bits than half of that can be corrected.

    >>> minimum_distance(one_versus_all(6)), minimum_distance(exhaustive(6))
    (2, 16)
    """
    rows = checked_signs("matrix", matrix)
    if len(rows) < 2:
        raise InputError(f"A distance needs two codewords; given {len(rows)}. Pass a matrix with at least two rows.")
    return min(int(np.count_nonzero(a != b)) for i, a in enumerate(rows) for b in rows[:i])


def contexts(codes: ArrayLike) -> Floats:
    """Return codewords, rows of +1 and -1, as contexts of a policy: points of the unit cube, with a feature 1 or 0 for each bit.

    >>> contexts([[1, -1], [-1, -1]])
    array([[1., 0.],
           [0., 0.]])
    """
    return (checked_signs("codes", codes) + 1) / 2.0


def checked_signs(name: str, values: ArrayLike, columns: int | None = None) -> Signs:
    """Return `values` as a table of +1 and -1 with `columns` columns; None: at least one. Raises `InputError`."""
    try:
        table = np.asarray(values)
    except ValueError:
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != (columns or table.shape[1]) or not table.shape[1]:
        raise InputError(f"{name} must be a table with {columns or 'some'} columns; given shape {table.shape}.")
    if table.dtype.kind not in "iuf" or not (np.abs(table) == 1).all():
        raise InputError(f"{name} must hold +1 and -1 only; given {table.dtype}, e.g. {table.ravel()[:4].tolist()}.")
    return np.ascontiguousarray(table, dtype=np.int8)
